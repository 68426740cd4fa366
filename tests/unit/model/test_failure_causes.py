from __future__ import annotations

import pytest

from kcluster.model.failure_causes import cause_of


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("Caused by: java.net.BindException: Address already in use", "a port it needs is in use"),
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("java.lang.OutOfMemoryError: Java heap space", "there is not enough memory"),
        ("Error: Could not reserve enough space for 2g object heap", "there is not enough memory"),
        ("java.lang.UnsupportedClassVersionError: kafka/Kafka has been compiled by ...", "Java is too old"),
        ("kafka.common.InconsistentClusterIdException: The Cluster ID x doesn't match stored", "another cluster"),
        ("org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /d", "another process uses"),
        ("KeeperException$NodeExistsException: KeeperErrorCode = NodeExists", "it is still registered in ZooKeeper"),
        ("org.apache.kafka.common.config.ConfigException: Invalid value x for configuration y", "a setting is refused"),
        ("Unrecognized VM option 'Nonsense'", "the JVM refuses an option"),
        ("java.net.BindException: Address already in use: Service 'sparkWorker' failed after 0 retries", "a port"),
        ("no ZooKeeper server serves: 10.0.0.1/2181", "it could not reach ZooKeeper"),
        (
            "org.apache.kafka.common.KafkaException: Found directory /var/lib/kafka/lost+found, 'lost+found' is not in "
            "the form of topic-partition or topic-partition.uniqueId-delete (if marked for deletion).",
            "/var/lib/kafka/lost+found is no partition",
        ),
        ("ERROR All masters are unresponsive! Giving up. (org.apache.spark.deploy.worker.Worker)", "no Spark master"),
    ],
)
def test_a_known_cause_is_found_in_the_log(line, cause):
    found = cause_of(["[2026-01-01 00:00:00,000] INFO starting", line, "[2026-01-01 00:00:01,000] INFO shut down"])
    assert found
    assert cause in found[0].text
    assert found[0].local_fix
    assert found[0].host_fix
    assert "kcluster up" not in found[0].host_fix
    assert found[1] == line


def test_a_log_without_a_known_cause_gives_none():
    assert cause_of(["[2026-01-01 00:00:00,000] INFO all is well"]) is None
