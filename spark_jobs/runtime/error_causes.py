"""What Spark's errors mean: one line, and what to do."""

from __future__ import annotations

import re


class RefusedJobError(Exception):  # no error of the program: a job that would go wrong
    """Why a job does not begin or go on, in words of its own, and the way out."""

    def __init__(self, meaning: str, advice: str) -> None:
        super().__init__(meaning)
        self.advice = advice


CAUSES = (
    (
        r"KAFKA_DATA_LOSS|OffsetOutOfRange|Cannot fetch offset|PARTITION_OFFSET_CHANGED|COULD_NOT_READ_OFFSET_RANGE",
        "records that the job had not read yet are gone from the topic",
        "see `kcluster job audit`; to go on without them set when_data_is_gone: continue in the job's file",
    ),
    (
        r"UnknownTopicOrPartition|UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC",
        "a topic is not there",
        "kcluster topic list; then create it, or correct the job's file",
    ),
    (
        r"CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming jobs detected",
        "another job works with the same checkpoint",
        "stop one of them, or give this one a checkpoint of its own",
    ),
    (
        r"(Incomplete|malformed) log|log file was malformed|MALFORMED_LOG_FILE|Failed to parse log|"
        r"CANNOT_LOAD_CHECKPOINT|[Cc]heckpoint .*corrupt",
        "the checkpoint is damaged",
        "put it back from a copy; to begin anew, give the job a new checkpoint and a new sink.path",
    ),
    (
        r"ChecksumException|Checksum error",
        "a file of the checkpoint or of the table is damaged",
        "put it back from a copy; to begin anew, give the job a new checkpoint and a new sink.path",
    ),
    (
        r"No space left on device",
        "the disk is full",
        "make room (see `df -h`), then submit the job again",
    ),
    (
        r"Mkdirs failed to create|chmod: changing permissions",
        "executors may not write where the driver may",
        "let the folder hand on a group that both are in: docs/jobs.md, More than one machine",
    ),
    (
        r"UNABLE_TO_INFER_SCHEMA",
        "the driver does not see the files that executors wrote",
        "sink.path must be one folder that every host mounts at the same place: docs/jobs.md, More than one machine",
    ),
    (r"Permission denied|AccessControlException", "a file or folder may not be written", "see the log for which one"),
    (
        r"Java heap space|GC overhead limit|OutOfMemoryError",
        "Spark ran out of memory",
        "lower batch.max_records, or give it more: spark: {spark.driver.memory: 4g}",
    ),
    (
        r"SaslAuthenticationException|AUTHENTICATION_FAILED|_AUTHENTICATION",
        "the brokers refused the login",
        "correct user or password (--client-config FILE, or kafka_client_properties), then submit it again",
    ),
    (
        r"SslAuthenticationException|SSL handshake failed|Failed to load SSL keystore|_SSL\b",
        "TLS to the brokers fails",
        "correct the certificates (--client-config FILE, or kafka_client_properties), then submit it again",
    ),
    (
        r"MSG_SIZE_TOO_LARGE|RecordTooLargeException",
        "the topic that the job writes to does not take a message as large as a record that it read",
        "kcluster topic alter TOPIC -c max.message.bytes=67108864 (dead letters or alerts), then submit it again",
    ),
    (
        r"_FENCED\b",
        "another process wrote in the name of this job",
        "see that it runs once only, then submit it again",
    ),
    (r"TopicAuthorizationException|AUTHORIZATION_FAILED", "this user may not do that", "ask for an ACL for this user"),
    (
        r"TimeoutException.*(node assignment|fetch topic metadata|describeTopics)|Connection to node .* established"
        r"|Local: (Broker transport failure|(Message )?[Tt]imed out|All broker connections are down)",
        "no broker answers",
        "kcluster health",
    ),
)
"""Pattern in the error's text, what it means, and the way out."""


def meaning_and_advice(problem: Exception) -> tuple[str, str]:
    """What an exception means and what to do."""
    return (str(problem), problem.advice) if isinstance(problem, RefusedJobError) else known_cause(str(problem))


def known_cause(text: str) -> tuple[str, str]:
    """What an error means and what to do; of one that is not known, its own first telling line."""
    for pattern, meaning, advice in CAUSES:
        if found := re.search(pattern, text, re.S):
            return f"{meaning} ({_sentence(text, found.start())})", advice
    # Code of ours that Spark called: its own last line, and not where Spark stood.
    python = re.search(r"Traceback \(most recent call last\):.*?\n(?:[\w.]+\.)?(\w+: [^\n]+)", text, re.S)
    return (python[1].removeprefix(f"{RefusedJobError.__name__}: "), "") if python else (_sentence(text, 0), "")


def _sentence(text: str, place: int) -> str:
    """The line around a place, without a Java stack and short enough for a terminal."""
    start = text.rfind("\n", 0, place) + 1
    line = next((line.strip() for line in text[start:].splitlines() if line.strip()), "no reason was given")
    return line if len(line) <= 300 else f"{line[:297]}..."
