"""Where the rows of an ingest go: one shape for Parquet, Delta and Iceberg."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.ingest.sinks.base import Sink
    from spark_jobs.runtime.folder import Folder
    from spark_jobs.settings import ingest


def make_sink(spark: SparkSession, settings: ingest.SinkSettings, folder: Folder) -> Sink:
    """The sink that a job's file asks for."""
    made: Sink = getattr(_module(settings), f"{settings.format.title()}Table")(spark, settings, folder)
    return made


def spark_settings(settings: ingest.SinkSettings) -> dict[str, str]:
    """The settings of Spark without which it does not know the format."""
    return dict(_module(settings).spark_settings(settings))


def _module(settings: ingest.SinkSettings):  # type: ignore[no-untyped-def]  # a module has no type that says what is in it
    return import_module(f"spark_jobs.ingest.sinks.{settings.format}")
