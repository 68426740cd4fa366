"""The door to Spark: the jars it needs for Kafka, the PySpark of this machine, and the line that runs a job."""
