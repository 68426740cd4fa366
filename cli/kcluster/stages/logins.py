"""What brokers must know of each other's logins: each accepts every other one, as it runs and as it shall run. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from kcluster.config.jaas import Jaas
from kcluster.model.cluster import Cluster
from kcluster.model.running import Running
from kcluster.plan.steps import Refusal
from kcluster.stages.listeners import Started, live_brokers, wanted_brokers

_USER = "user_"


@dataclass(frozen=True)
class _Login:
    """The options of a broker's login module on one listener: who it is, and with PLAIN whom it accepts."""

    options: Mapping[str, str]

    @classmethod
    def of(cls, started: Started, listener: str, mechanism: str) -> _Login:
        key = f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config"
        line = Jaas.of(started.settings.get(key, started.settings.get("sasl.jaas.config", "")))
        return cls(line.options if line else {})

    @property
    def name(self) -> str:
        return self.options.get("username", "")

    def accepts(self, other: _Login) -> bool:
        """Whether the other may log in; so it seems where users are not listed here, but kept elsewhere."""
        listed = any(key.startswith(_USER) for key in self.options)
        return not listed or self.options.get(_USER + other.name) == other.options.get("password")


def refusals(running: Running, stage: Cluster) -> Iterator[Refusal]:
    """Why brokers would lose each other while some run as before and some as in this stage."""
    before, after = live_brokers(running, stage), wanted_brokers(stage)
    mixture = [*before.values(), *after.values()] if before else []
    kinds = {_kind(each): each for each in reversed(mixture)}.values()
    for one, other in product(kinds, kinds):
        speech = one.speech
        where = f"{other.broker.name} on {other.broker.host.name}"
        if speech not in other.offers:
            yield Refusal(
                f"while brokers restart one at a time, {one.broker.name} would talk over {speech}, which {where} does "
                "not offer, and no stages lead there: the brokers shall not all talk alike",
                "give all brokers the same inter-broker listener, or open every listener on all brokers first",
            )
            return
        login, known = (_Login.of(each, speech.listener, speech.mechanism) for each in (one, other))
        if speech.mechanism == "PLAIN" and not known.accepts(login):
            yield Refusal(
                f"while brokers restart one at a time, {one.broker.name} would log in as {login.name or 'nobody'} over "
                f"{speech}, and {where} does not accept that password of it",
                "change it in three runs, each for all brokers: list the new login beside the old one "
                '(user_NAME="..." in sasl.jaas.config); then change username and password; then remove the old one',
            )
            return


def _kind(started: Started) -> Hashable:
    """What brokers have in common that talk and accept alike: of hundreds there are a few."""
    security = frozenset((key, value) for key, value in started.settings.items() if "sasl." in key)
    return started.speech, started.offers, security
