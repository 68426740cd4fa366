"""Where the rows of an ingest go: one shape for Parquet, Delta and Iceberg."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.folder import Folder
    from spark_jobs.settings import ingest
    from spark_jobs.sinks.base import Sink


def of(spark: SparkSession, settings: ingest.Sink, folder: Folder) -> Sink:
    """The sink that a job's file asks for."""
    made: Sink = _module(settings).Table(spark, settings, folder)
    return made


def needs(settings: ingest.Sink) -> dict[str, str]:
    """The settings of Spark without which it does not know the format."""
    return dict(_module(settings).needs(settings))


def _module(settings: ingest.Sink):  # type: ignore[no-untyped-def]  # a module has no type that says what is in it
    return import_module(f"spark_jobs.sinks.{settings.format}")
