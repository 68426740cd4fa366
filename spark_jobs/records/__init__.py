"""How a Kafka record becomes columns and a reason to refuse it: shared by every job that parses records."""
