"""Templates to text: every file of a node as it lands on its host."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from kcluster import paths
from kcluster.config import escaping, file_paths, node_variables, properties
from kcluster.model.cluster import Cluster, Part
from kcluster.model.ensemble import Server
from kcluster.model.node import Node
from kcluster.model.spark_cluster import SparkDaemon

if TYPE_CHECKING:
    import jinja2


class Role(StrEnum):
    """What a file is for."""

    CONFIG = "config"
    MYID = "myid"
    LOGGING = "logging"
    ENVIRONMENT = "environment"
    UNIT = "unit"
    SCRIPT = "script"


class Template(StrEnum):
    """Every template, under its path in templates/."""

    START_NODE = "common/start-node.sh.j2"
    SERVER_PROPERTIES = "kafka/server.properties.j2"
    KAFKA_LOG4J = "kafka/log4j.properties.j2"
    KAFKA_LOG4J2 = "kafka/log4j2.yaml.j2"
    KAFKA_ENVIRONMENT = "kafka/kafka.env.j2"
    KAFKA_UNIT = "kafka/kafka.service.j2"
    ZOOKEEPER_PROPERTIES = "zookeeper/zookeeper.properties.j2"
    MYID = "zookeeper/myid.j2"
    ZOOKEEPER_LOG4J = "zookeeper/log4j.properties.j2"
    ZOOKEEPER_ENVIRONMENT = "zookeeper/zookeeper.env.j2"
    ZOOKEEPER_UNIT = "zookeeper/zookeeper.service.j2"
    SPARK_PROPERTIES = "spark/spark.properties.j2"
    SPARK_LOG4J2 = "spark/log4j2.properties.j2"
    SPARK_ENVIRONMENT = "spark/spark.env.j2"
    SPARK_UNIT = "spark/spark.service.j2"


@dataclass(frozen=True)
class RenderedFile:
    """One file as it lands on a host."""

    path: str
    text: str
    mode: str
    secret: bool
    """Whether it contains a secret; the text shows it with `reveal` only."""
    role: Role


@dataclass(frozen=True)
class RenderPlan:
    """One file before it is rendered: its place, its template, its mode."""

    role: Role
    path: str
    template: Template
    mode: str


def files(part: Part, node: Node, *, reveal: bool = False) -> tuple[RenderedFile, ...]:
    """Every file of one node; secrets are `********` unless revealed."""
    values = node_variables.for_node(part, node, reveal=reveal)
    hidden = _secrets(part, node)
    return tuple(
        RenderedFile(plan.path, compiled(plan.template).render(values), plan.mode, plan.role in hidden, plan.role)
        for plan in planned(part, node)
    )


def planned(part: Part, node: Node) -> tuple[RenderPlan, ...]:
    """Which files a node has, and the template of each."""
    if isinstance(node, SparkDaemon):
        return _of_daemon(node)
    assert isinstance(part, Cluster)
    log4j2 = part.release.log4j2
    where = file_paths.paths(node, log4j2=log4j2)
    if isinstance(node, Server):
        return (
            RenderPlan(Role.CONFIG, where.config, Template.ZOOKEEPER_PROPERTIES, "0640"),
            RenderPlan(Role.MYID, f"{node.data_dir}/myid", Template.MYID, "0644"),
            RenderPlan(Role.LOGGING, where.logging, Template.ZOOKEEPER_LOG4J, "0644"),
            RenderPlan(Role.ENVIRONMENT, where.environment, Template.ZOOKEEPER_ENVIRONMENT, "0640"),
            RenderPlan(Role.UNIT, where.unit, Template.ZOOKEEPER_UNIT, "0644"),
            RenderPlan(Role.SCRIPT, where.script, Template.START_NODE, "0755"),
        )
    return (
        RenderPlan(Role.CONFIG, where.config, Template.SERVER_PROPERTIES, "0640"),
        RenderPlan(Role.LOGGING, where.logging, Template.KAFKA_LOG4J2 if log4j2 else Template.KAFKA_LOG4J, "0644"),
        RenderPlan(Role.ENVIRONMENT, where.environment, Template.KAFKA_ENVIRONMENT, "0640"),
        RenderPlan(Role.UNIT, where.unit, Template.KAFKA_UNIT, "0644"),
        RenderPlan(Role.SCRIPT, where.script, Template.START_NODE, "0755"),
    )


def _of_daemon(node: SparkDaemon) -> tuple[RenderPlan, ...]:
    where = file_paths.paths(node, log4j2=True)
    return (
        RenderPlan(Role.CONFIG, where.config, Template.SPARK_PROPERTIES, "0640"),
        RenderPlan(Role.LOGGING, where.logging, Template.SPARK_LOG4J2, "0644"),
        RenderPlan(Role.ENVIRONMENT, where.environment, Template.SPARK_ENVIRONMENT, "0640"),
        RenderPlan(Role.UNIT, where.unit, Template.SPARK_UNIT, "0644"),
    )


@cache
def compiled(template: Template) -> jinja2.Template:
    """A template, compiled once, with the settings that give the same bytes as Ansible."""
    return _environment().get_template(template.value)


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # lazily: 30 ms that only rendering pays

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(paths.project() / "templates"),
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # these are configuration files, not web pages
    )


def _secrets(part: Part, node: Node) -> frozenset[Role]:
    """The files of a node that hold a secret."""
    config = any(escaping.secret(setting.key, setting.value) for setting in properties.settings(part, node))
    environment = any(escaping.masked(name, value) != value for name, value in node.environment.items())
    return frozenset(role for role, has in ((Role.CONFIG, config), (Role.ENVIRONMENT, environment)) if has)
