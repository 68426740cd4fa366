"""`status`: the nodes of a cluster, asked over the wire, and their processes or units."""

from kcluster.operations.status.here import clusters, status
from kcluster.operations.status.remote import remote

__all__ = ["clusters", "remote", "status"]
