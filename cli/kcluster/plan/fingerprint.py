"""What tells one wanted cluster from another: a plan holds for the one it was made for, and for no other."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from kcluster.model.client import Client
from kcluster.model.cluster import Cluster

AGREED = "KCLUSTER_AGREED"
"""The environment variable that gives Ansible the fingerprint of the cluster whose plan was agreed to."""


def fingerprint(cluster: Cluster) -> str:
    """The same for clusters whose hosts would get the same; how clients connect does not count."""
    return hashlib.sha256(repr(replace(cluster, client=Client())).encode()).hexdigest()
