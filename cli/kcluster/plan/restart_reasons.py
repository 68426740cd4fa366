"""What a running process was started with, and what of the difference needs a restart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from posixpath import basename

from kcluster import render
from kcluster.config import property_tables
from kcluster.config.escaping import HIDDEN, masked, secret
from kcluster.config.owned_properties import variable_for
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Server
from kcluster.model.quorum import Quorum
from kcluster.model.spark_cluster import SparkDaemon
from kcluster.plan import file_diff
from kcluster.plan.pairs import Pair
from kcluster.plan.steps import Dynamic, arrow
from kcluster.render import Role

_LIVE = ("cluster-wide", "per-broker")
_WITH_FILES = ("ssl.", "sasl.", "listener", "metric.", "principal.", "password.", "broker.id", "inter.broker.")
"""How properties begin that Kafka would take while it runs, if files, classes or secrets beside them changed too."""

_CLEANER = "log.cleaner."
"""Kafka makes the cleaner's buffers (128 MiB) anew before it lets go of the old ones: a broker may die of it."""

_THREADS = ("background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir")
_TOGETHER = "min.insync.replicas"
_TOGETHER_SINCE = (4, 1)
"""With eligible leader replicas (KRaft, 4.1) brokers refuse to have it each for itself."""
_NEEDS_ALL = "all brokers of the cluster take it at once, in a run without --limit and with one value for all of them"

_AT_RELOAD = (
    "Description",
    "Documentation",
    "After",
    "Wants",
    "WantedBy",
    "RequiresMountsFor",
    "StartLimitIntervalSec",
    "StartLimitBurst",
    "Restart",
    "RestartSec",
    "TimeoutStopSec",
    "SuccessExitStatus",
)
"""What of a unit counts as soon as systemd reads it again, without a restart."""

_READ_AT_START = (Role.CONFIG, Role.ENVIRONMENT, Role.LOGGING, Role.UNIT)
_LONGEST = 60


def reasons(pair: Pair) -> tuple[str, ...]:
    """Why the process must be restarted; none when it runs as it should, or can be told while it runs."""
    return _between(pair, pair.files, pair.part.release.directory)


def pending(pair: Pair) -> tuple[str, ...]:
    """Why the process must be restarted to run with what lies on its host already; the same rule as of a plan."""
    lying = pair.seen.files
    files = [
        render.RenderedFile(planned.path, lying[planned.path].text, planned.mode, secret=False, role=planned.role)
        for planned in render.planned(pair.part, pair.node)
        if planned.path in lying
    ]
    return _between(pair, files, pair.host.current or pair.release)


def _between(pair: Pair, files: Iterable[render.RenderedFile], wanted: str) -> tuple[str, ...]:
    """Why a process that shall have these files and this release must be restarted for them."""
    release = [arrow("release", pair.release, wanted)] if pair.release != wanted else []
    read = [file for file in files if file.role in _READ_AT_START]
    return (*release, *(reason for file in read for reason in _of_file(pair, file)))


def settings(pairs: Sequence[Pair], restarted: Collection[Pair]) -> tuple[tuple[Dynamic, ...], tuple[str, ...]]:
    """What the running brokers are told over the wire, and what is not told now in words; a restart brings the rest."""
    brokers = [pair for pair in pairs if isinstance(pair.node, Broker)]
    each = [(pair, list(_of_broker(pair, restarting=pair in restarted))) for pair in brokers if pair.running]
    told = [settings for pair, settings in each if pair.seen.overrides is not None]
    unasked = [setting for pair, settings in each if pair.seen.overrides is None for setting in settings]
    found, left = _together(brokers, told)
    waiting = (f"{_on(setting)} waits until the broker can be asked, or is restarted" for setting in unasked)
    return found, (*left, *waiting)


def _together(brokers: Sequence[Pair], told: Sequence[list[Dynamic]]) -> tuple[tuple[Dynamic, ...], tuple[str, ...]]:
    """The settings of each broker, and what they must have in common as one; else, where Kafka insists, left alone."""
    found = tuple(setting for settings in told for setting in settings)
    shared = [setting for setting in found if setting.key == _TOGETHER]
    apart = tuple(setting for setting in found if setting.key != _TOGETHER)
    if shared and _all_agree(brokers):
        one = Dynamic("", _TOGETHER, shared[0].before, shared[0].after)
        same = len(shared) == len(told) and len({setting.after for setting in shared}) == 1
        return ((*apart, one) if same else found), ()
    if shared and _held_together(brokers[0]):
        return apart, tuple(f"{_on(setting)} is left: {_NEEDS_ALL}" for setting in shared)
    return found, ()


def _all_agree(brokers: Sequence[Pair]) -> bool:
    """Whether every broker of the cluster was looked at, and shall have the same as the others."""
    cluster = brokers[0].part
    assert isinstance(cluster, Cluster)
    return len(brokers) == len(cluster.brokers) and len({_configs(pair)[1].get(_TOGETHER) for pair in brokers}) == 1


def _held_together(pair: Pair) -> bool:
    """Whether Kafka may refuse a value of one broker alone."""
    cluster = pair.part
    assert isinstance(cluster, Cluster)
    return isinstance(cluster.metadata, Quorum) and cluster.release.numbers >= _TOGETHER_SINCE


def _on(setting: Dynamic) -> str:
    return f"{arrow(setting.key, setting.before, setting.after)} on {setting.node}"


def _before(pair: Pair, path: str) -> str | None:
    """What the process was started with; without a copy of it, the file as it is."""
    there = pair.seen.files.get(path)
    return pair.seen.started_with.get(path, there.text if there else None)


def _of_file(pair: Pair, file: render.RenderedFile) -> Iterator[str]:
    before = _before(pair, file.path)
    if before is None:
        yield f"it was started without {file.path}"
    elif file.role is Role.LOGGING:
        if file_diff.lines(before) != file_diff.lines(file.text):
            yield f"{basename(file.path)} changes"
    elif file.role is Role.UNIT:
        yield from _of_unit(before, file.text)
    else:
        yield from _of_settings(pair, file, file_diff.settings(file.role, before))


def _of_unit(before: str, after: str) -> Iterator[str]:
    changed = set(file_diff.lines(before)) ^ set(file_diff.lines(after))
    words = sorted({line.partition("=")[0] for line in changed} - set(_AT_RELOAD))
    if words:
        yield f"the unit changes: {', '.join(words)}"


def _of_settings(pair: Pair, file: render.RenderedFile, before: Mapping[str, str]) -> Iterator[str]:
    after = file_diff.settings(file.role, file.text)
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new and not (file.role is Role.CONFIG and _told(pair, key, old, new)):
            yield _words(file.role, key, old or _default(pair, file.role, key), new)


def _told(pair: Pair, key: str, old: str | None, new: str | None) -> bool:
    """Whether the broker knows the new value already, or takes it while it runs."""
    override = _overrides(pair).get(key)
    return new is not None and (override == new or takes(pair, key, old if override is None else override, new))


def takes(pair: Pair, key: str, old: str | None, new: str) -> bool:
    """Whether a running broker takes this change."""
    if not isinstance(pair.node, Broker):
        return False
    known = property_tables.table(pair.part.release.version).get(key)
    if known is None or known.update_mode not in _LIVE:
        return False
    if known.type in ("class", "password") or variable_for(key) or key.startswith((*_WITH_FILES, _CLEANER)):
        return False
    return key not in _THREADS or _within_double(old or known.default or "", new)


def _within_double(old: str, new: str) -> bool:
    """Kafka lets a pool of threads grow at most to its double at once, and shrink at most to its half."""
    return old.isdecimal() and new.isdecimal() and int(old) <= 2 * int(new) and int(new) <= 2 * int(old)


def _words(role: Role, key: str, old: str | None, new: str | None) -> str:
    if role is Role.ENVIRONMENT:
        shown_old, shown_new = (None if value is None else masked(key, value) for value in (old, new))
    else:
        shown_old, shown_new = (HIDDEN if value and secret(key, value) else value for value in (old, new))
    if shown_old == shown_new:
        return f"{key} (a secret changes)"
    if shown_new is None:
        return f"{key} no longer set"
    return arrow(key, _short(shown_old or ""), _short(shown_new))


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def _of_broker(pair: Pair, *, restarting: bool) -> Iterator[Dynamic]:
    before, after, lying = _configs(pair)
    for key in sorted(before.keys() | after.keys() | lying.keys()):
        new, override = after.get(key), _overrides(pair).get(key)
        if override is not None and override != new:
            # It would outrank the file even after a restart.
            wanted = new if new is not None and takes(pair, key, override, new) else None
            yield Dynamic(pair.node.name, key, override, wanted)
        elif override is None and not restarting and before.get(key) != new and _told(pair, key, before.get(key), new):
            yield Dynamic(pair.node.name, key, before.get(key) or _default(pair, Role.CONFIG, key), new)


def strangers(pair: Pair) -> Iterator[str]:
    """What a broker was told over the wire though the inventory never said it: a sentence each, and left alone."""
    known = set().union(*_configs(pair)) if pair.seen.overrides else set()
    for key, value in sorted(_overrides(pair).items()):
        if key not in known:
            yield f"{pair.node.name} was told {key}={value} while it runs; the inventory does not say it"


def _overrides(pair: Pair) -> Mapping[str, str]:
    """What the broker was told over the wire, as far as it is known."""
    return pair.seen.overrides or {}


def _configs(pair: Pair) -> tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]:
    """The configuration the process was started with, the one it shall have, and the one that lies there now."""
    config = next(file for file in pair.files if file.role is Role.CONFIG)
    there = pair.seen.files.get(config.path)
    texts_of = (_before(pair, config.path) or "", config.text, there.text if there else "")
    started, wanted, lying = (file_diff.settings(Role.CONFIG, text) for text in texts_of)
    return started, wanted, lying


def _default(pair: Pair, role: Role, key: str) -> str:
    """What counts where a configuration does not say; empty where nobody knows."""
    if role is not Role.CONFIG or isinstance(pair.node, Server | SparkDaemon):
        return ""
    known = property_tables.table(pair.part.release.version).get(key)
    return (known and known.default) or ""
