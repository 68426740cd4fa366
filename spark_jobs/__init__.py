"""PySpark jobs that take data out of Kafka; a package of its own that knows nothing of kcluster."""
