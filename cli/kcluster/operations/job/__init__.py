"""`job`: the PySpark jobs; each verb is a module, and what they share stands beside them."""
