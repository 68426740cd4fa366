"""The cluster of the preflight's tests, for what repairs its findings."""

from tests.unit.facts.preflight.conftest import cluster

__all__ = ["cluster"]
