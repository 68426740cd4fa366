"""Known causes behind the errors of Spark and Kafka: one line, and what to do."""

from __future__ import annotations

import re


class RefusedJobError(Exception):  # not a bug: a job that must not start or continue
    """A job is refused or stopped on purpose: the message says why, `advice` what to do."""

    def __init__(self, meaning: str, advice: str) -> None:
        super().__init__(meaning)
        self.advice = advice


CAUSES = (
    (
        r"KAFKA_DATA_LOSS|OffsetOutOfRange|Cannot fetch offset|PARTITION_OFFSET_CHANGED|COULD_NOT_READ_OFFSET_RANGE",
        "records were deleted from the topic before the job read them",
        "see `kcluster job audit`; to continue without them set when_data_is_gone: continue in the job's file",
    ),
    (
        r"UnknownTopicOrPartition|UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC",
        "a topic does not exist",
        "see `kcluster topic list`, then create the topic or correct `topics` in the job's file",
    ),
    (
        r"CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming jobs detected",
        "another job uses the same checkpoint",
        "stop one of them, or give this one a checkpoint of its own",
    ),
    (
        r"(Incomplete|malformed) log|log file was malformed|MALFORMED_LOG_FILE|Failed to parse log|"
        r"CANNOT_LOAD_CHECKPOINT|[Cc]heckpoint .*corrupt",
        "the checkpoint is damaged",
        "restore it from a backup; to start over, give the job a new checkpoint and a new sink.path",
    ),
    (
        r"ChecksumException|Checksum error",
        "a file of the checkpoint or of the table is damaged",
        "restore it from a backup; to start over, give the job a new checkpoint and a new sink.path",
    ),
    (
        r"No space left on device",
        "the disk is full",
        "free space (see `df -h`), then submit the job again",
    ),
    (
        r"Mkdirs failed to create|chmod: changing permissions",
        "executors have no write permission where the driver has",
        "set the folder's group to one of both users, mode 2775: docs/jobs.md, Spark on hosts",
    ),
    (
        r"UNABLE_TO_INFER_SCHEMA",
        "the driver does not see the files that executors wrote",
        "sink.path must be one folder that every host mounts at the same path: docs/jobs.md, Spark on hosts",
    ),
    (
        r"Permission denied|AccessControlException",
        "no permission to write a file or folder",
        "the log names it: kcluster job logs NAME",
    ),
    (
        r"Java heap space|GC overhead limit|OutOfMemoryError",
        "Spark ran out of memory",
        "lower batch.max_records, or give Spark more memory: spark: {spark.driver.memory: 4g}",
    ),
    (
        r"SaslAuthenticationException|AUTHENTICATION_FAILED|_AUTHENTICATION",
        "the brokers rejected the login",
        "correct user or password (--client-config FILE, or kafka_client_properties), then submit the job again",
    ),
    (
        r"SslAuthenticationException|SSL handshake failed|Failed to load SSL keystore|_SSL\b",
        "the TLS connection to the brokers failed",
        "correct the certificates (--client-config FILE, or kafka_client_properties), then submit the job again",
    ),
    (
        r"MSG_SIZE_TOO_LARGE|RecordTooLargeException",
        "a record is larger than max.message.bytes of the topic that the job writes to",
        "kcluster topic alter TOPIC -c max.message.bytes=67108864 (dead letters or alerts), then submit the job again",
    ),
    (
        r"_FENCED\b",
        "another process writes with the transactional id of this job",
        "make sure that the job runs only once, then submit it again",
    ),
    (
        r"TopicAuthorizationException|AUTHORIZATION_FAILED",
        "the user has no permission (ACL) for this operation",
        "add an ACL for the user",
    ),
    (
        r"TimeoutException.*(node assignment|fetch topic metadata|describeTopics)|Connection to node .* established"
        r"|Local: (Broker transport failure|(Message )?[Tt]imed out|All broker connections are down)",
        "no broker answers",
        "kcluster health",
    ),
)
"""Pattern in the error's text, the cause, and what to do."""


def meaning_and_advice(problem: Exception) -> tuple[str, str]:
    """The cause of an exception in one line, and what to do; the advice is empty when the cause is not known."""
    return (str(problem), problem.advice) if isinstance(problem, RefusedJobError) else known_cause(str(problem))


def known_cause(text: str) -> tuple[str, str]:
    """The cause of an error text and what to do; for an unknown error its most useful line and no advice."""
    for pattern, meaning, advice in CAUSES:
        if match := re.search(pattern, text, re.S):
            return f"{meaning} ({_sentence(text, match.start())})", advice
    # Our own code called by Spark: the last line of its traceback, not the Java stack.
    python = re.search(r"Traceback \(most recent call last\):.*?\n(?:[\w.]+\.)?(\w+: [^\n]+)", text, re.S)
    return (python[1].removeprefix(f"{RefusedJobError.__name__}: "), "") if python else (_sentence(text, 0), "")


def _sentence(text: str, position: int) -> str:
    """The line at a position, without the Java stack and cut to 300 characters."""
    start = text.rfind("\n", 0, position) + 1
    line = next((line.strip() for line in text[start:].splitlines() if line.strip()), "no error text")
    return line if len(line) <= 300 else f"{line[:297]}..."
