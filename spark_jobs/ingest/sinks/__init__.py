"""The sinks of an ingest: one interface for Parquet, Delta and Iceberg."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.ingest.sinks.base import Sink
    from spark_jobs.runtime.folder import Folder
    from spark_jobs.settings import ingest


def make_sink(spark: SparkSession, settings: ingest.SinkSettings, folder: Folder) -> Sink:
    """The sink for the format in the job's file."""
    made: Sink = getattr(_module(settings), f"{settings.format.title()}Table")(spark, settings, folder)
    return made


def spark_settings(settings: ingest.SinkSettings) -> dict[str, str]:
    """The Spark properties that the format needs."""
    return dict(_module(settings).spark_settings(settings))


def _module(settings: ingest.SinkSettings):  # type: ignore[no-untyped-def]  # modules have no common type
    return import_module(f"spark_jobs.ingest.sinks.{settings.format}")
