"""PySpark jobs of this machine: job directories, job files, and the checks before Spark starts."""
