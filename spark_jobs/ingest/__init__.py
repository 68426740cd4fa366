"""The ingest job: topics to Parquet, Delta or Iceberg, each record once."""
