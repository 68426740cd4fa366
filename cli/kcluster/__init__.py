"""kcluster: from an Ansible inventory to a proven Apache Kafka cluster."""

__version__ = "0.1.0"
