"""PySpark jobs of this machine: their directories, their files, and what is checked before Spark starts."""
