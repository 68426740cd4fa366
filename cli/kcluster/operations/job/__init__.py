"""`job`: the verbs of PySpark jobs, a module each; shared parts are in `kcluster.jobs`."""
