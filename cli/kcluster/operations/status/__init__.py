"""`status`: the nodes of a cluster, asked over the wire, and their processes or units."""

from kcluster.operations.status.local_status import clusters, status
from kcluster.operations.status.remote_status import over, remote

__all__ = ["clusters", "over", "remote", "status"]
