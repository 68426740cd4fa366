"""What a running process was started with, and what of the difference needs a restart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from posixpath import basename

from kcluster import render
from kcluster.config import property_tables
from kcluster.config.escaping import HIDDEN, masked, secret
from kcluster.config.owned_properties import variable_for
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.quorum import Quorum
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.plan import file_diff
from kcluster.plan.pairs import Pair
from kcluster.plan.steps import Dynamic, arrow
from kcluster.render import Role

_LIVE = ("cluster-wide", "per-broker")
_NEEDS_RESTART = ("ssl.", "sasl.", "listener", "metric.", "principal.", "password.", "broker.id", "inter.broker.")
"""Prefixes of properties that Kafka could change dynamically, if files, classes or secrets did not change with them."""

_CLEANER = "log.cleaner."
"""Kafka allocates new cleaner buffers (128 MiB) before it frees the old ones: a broker may run out of memory."""

_THREADS = ("background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir")
_CLUSTER_WIDE = "min.insync.replicas"
_CLUSTER_WIDE_SINCE = (4, 1)
"""With eligible leader replicas (KRaft, 4.1) brokers refuse a value of their own."""
_NEEDS_ALL = "it can only be set for the whole cluster; run without --limit, with one value for all brokers"

_RELOADED = (
    "Description",
    "Documentation",
    "After",
    "Wants",
    "WantedBy",
    "RequiresMountsFor",
    "StartLimitIntervalSec",
    "StartLimitBurst",
    "Restart",
    "RestartSec",
    "TimeoutStopSec",
    "SuccessExitStatus",
)
"""Settings of a unit that are in effect after a daemon-reload, without a restart."""

_READ_AT_START = (Role.CONFIG, Role.ENVIRONMENT, Role.LOGGING, Role.UNIT)
_LONGEST = 60


def reasons(pair: Pair) -> tuple[str, ...]:
    """Why the process must be restarted; empty when it is up to date, or dynamic config is enough."""
    return _differences(pair, pair.files, pair.part.release.directory)


def pending_restart(pair: Pair) -> tuple[str, ...]:
    """Why the process must be restarted for the files that are on its host already; the same rule as of a plan."""
    files_there = pair.observed.files
    files = [
        render.RenderedFile(planned.path, files_there[planned.path].text, planned.mode, secret=False, role=planned.role)
        for planned in render.planned(pair.part, pair.node)
        if planned.path in files_there
    ]
    return _differences(pair, files, pair.host.current or pair.release)


def _differences(pair: Pair, files: Iterable[render.RenderedFile], release_directory: str) -> tuple[str, ...]:
    """Why a process must be restarted to have these files and this release."""
    changed = pair.release != release_directory
    release = [arrow("release", pair.release, release_directory)] if changed else []
    read = [file for file in files if file.role in _READ_AT_START]
    return (*release, *(reason for file in read for reason in _of_file(pair, file)))


def settings(pairs: Sequence[Pair], restarted: Collection[Pair]) -> tuple[tuple[Dynamic, ...], tuple[str, ...]]:
    """What the running brokers are told over the wire, and what is not told now in words; a restart brings the rest."""
    brokers = [pair for pair in pairs if isinstance(pair.node, Broker)]
    each = [(pair, list(_of_broker(pair, restarting=pair in restarted))) for pair in brokers if pair.running]
    told = [settings for pair, settings in each if pair.observed.overrides is not None]
    unasked = [setting for pair, settings in each if pair.observed.overrides is None for setting in settings]
    found, left = _together(brokers, told)
    waiting = (f"{_on(setting)} waits until the broker can be asked, or is restarted" for setting in unasked)
    return found, (*left, *waiting)


def _together(brokers: Sequence[Pair], told: Sequence[list[Dynamic]]) -> tuple[tuple[Dynamic, ...], tuple[str, ...]]:
    """The settings of each broker, and what they must have in common as one; else, where Kafka insists, left alone."""
    found = tuple(setting for settings in told for setting in settings)
    shared = [setting for setting in found if setting.key == _CLUSTER_WIDE]
    apart = tuple(setting for setting in found if setting.key != _CLUSTER_WIDE)
    if shared and _all_agree(brokers):
        one = Dynamic("", _CLUSTER_WIDE, shared[0].before, shared[0].after)
        same = len(shared) == len(told) and len({setting.after for setting in shared}) == 1
        return ((*apart, one) if same else found), ()
    if shared and _held_together(brokers[0]):
        return apart, tuple(f"{_on(setting)} is not set: {_NEEDS_ALL}" for setting in shared)
    return found, ()


def _all_agree(brokers: Sequence[Pair]) -> bool:
    """Whether every broker of the cluster was looked at, and shall have the same as the others."""
    cluster = brokers[0].part
    assert isinstance(cluster, Cluster)
    return len(brokers) == len(cluster.brokers) and len({_configs(pair)[1].get(_CLUSTER_WIDE) for pair in brokers}) == 1


def _held_together(pair: Pair) -> bool:
    """Whether Kafka may refuse a value of one broker alone."""
    cluster = pair.part
    assert isinstance(cluster, Cluster)
    return isinstance(cluster.metadata, Quorum) and cluster.release.numbers >= _CLUSTER_WIDE_SINCE


def _on(setting: Dynamic) -> str:
    return f"{arrow(setting.key, setting.before, setting.after)} on {setting.node}"


def _before(pair: Pair, path: str) -> str | None:
    """What the process was started with; without a copy of it, the file as it is."""
    there = pair.observed.files.get(path)
    return pair.observed.started_with.get(path, there.text if there else None)


def _of_file(pair: Pair, file: render.RenderedFile) -> Iterator[str]:
    before = _before(pair, file.path)
    if before is None:
        yield f"started without {file.path}"
    elif file.role is Role.LOGGING:
        if file_diff.lines(before) != file_diff.lines(file.text):
            yield f"{basename(file.path)} changes"
    elif file.role is Role.UNIT:
        yield from _of_unit(before, file.text)
    else:
        yield from _of_settings(pair, file, file_diff.settings(file.role, before))


def _of_unit(before: str, after: str) -> Iterator[str]:
    changed = set(file_diff.lines(before)) ^ set(file_diff.lines(after))
    names = sorted({line.partition("=")[0] for line in changed} - set(_RELOADED))
    if names:
        yield f"the unit changes: {', '.join(names)}"


def _of_settings(pair: Pair, file: render.RenderedFile, before: Mapping[str, str]) -> Iterator[str]:
    after = file_diff.settings(file.role, file.text)
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new and not (file.role is Role.CONFIG and _dynamic(pair, key, old, new)):
            yield _change_text(file.role, key, old or _default(pair, file.role, key), new)


def _dynamic(pair: Pair, key: str, old: str | None, new: str | None) -> bool:
    """Whether the broker has the new value already, or can get it as dynamic config."""
    override = _overrides(pair).get(key)
    current = old if override is None else override
    return new is not None and (override == new or can_change_dynamically(pair, key, current, new))


def can_change_dynamically(pair: Pair, key: str, old: str | None, new: str) -> bool:
    """Whether a running broker accepts this change as dynamic config."""
    if not isinstance(pair.node, Broker):
        return False
    known = property_tables.table(pair.part.release.version).get(key)
    if known is None or known.update_mode not in _LIVE:
        return False
    if known.type in ("class", "password") or variable_for(key) or key.startswith((*_NEEDS_RESTART, _CLEANER)):
        return False
    return key not in _THREADS or _within_double(old or known.default or "", new)


def _within_double(old: str, new: str) -> bool:
    """Kafka lets a thread pool at most double or halve at once."""
    return old.isdecimal() and new.isdecimal() and int(old) <= 2 * int(new) and int(new) <= 2 * int(old)


def _change_text(role: Role, key: str, old: str | None, new: str | None) -> str:
    if role is Role.ENVIRONMENT:
        shown_old, shown_new = (None if value is None else masked(key, value) for value in (old, new))
    else:
        shown_old, shown_new = (HIDDEN if value and secret(key, value) else value for value in (old, new))
    if shown_old == shown_new:
        return f"{key} (a secret changes)"
    if shown_new is None:
        return f"{key} no longer set"
    return arrow(key, _short(shown_old or ""), _short(shown_new))


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _of_broker(pair: Pair, *, restarting: bool) -> Iterator[Dynamic]:
    before, after, on_host = _configs(pair)
    for key in sorted(before.keys() | after.keys() | on_host.keys()):
        old, new, override = before.get(key), after.get(key), _overrides(pair).get(key)
        if override is not None and override != new:
            # It would outrank the file even after a restart.
            value = new if new is not None and can_change_dynamically(pair, key, override, new) else None
            yield Dynamic(pair.node.name, key, override, value)
        elif override is None and not restarting and old != new and _dynamic(pair, key, old, new):
            yield Dynamic(pair.node.name, key, old or _default(pair, Role.CONFIG, key), new)


def foreign_settings(pair: Pair) -> Iterator[str]:
    """A sentence for each dynamic config of a broker that is not in the inventory; it is left as it is."""
    known = set().union(*_configs(pair)) if pair.observed.overrides else set()
    for key, value in sorted(_overrides(pair).items()):
        if key not in known:
            yield f"{pair.node.name} has dynamic config {key}={value} that is not in the inventory"


def _overrides(pair: Pair) -> Mapping[str, str]:
    """The dynamic config of the broker; empty where it is unknown."""
    return pair.observed.overrides or {}


def _configs(pair: Pair) -> tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]:
    """The configuration the process was started with, the rendered one, and the one on the host."""
    config = next(file for file in pair.files if file.role is Role.CONFIG)
    there = pair.observed.files.get(config.path)
    texts_of = (_before(pair, config.path) or "", config.text, there.text if there else "")
    started, rendered, on_host = (file_diff.settings(Role.CONFIG, text) for text in texts_of)
    return started, rendered, on_host


def _default(pair: Pair, role: Role, key: str) -> str:
    """The default of a property; empty where it is unknown."""
    if role is not Role.CONFIG or isinstance(pair.node, Server | SparkDaemon):
        return ""
    known = property_tables.table(pair.part.release.version).get(key)
    return (known and known.default) or ""
