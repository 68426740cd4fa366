"""Kafka releases: which exist, where they come from, how each is verified, the local cache."""
