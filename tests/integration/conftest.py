"""Real clusters, as tests of several folders share them."""

from tests.clusters import Live, started

__all__ = ["Live", "started"]
