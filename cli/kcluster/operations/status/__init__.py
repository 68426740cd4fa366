"""`status`: the nodes of a cluster, their processes or units, and their roles."""

from kcluster.operations.status.local_status import clusters, status
from kcluster.operations.status.remote_status import over, remote

__all__ = ["clusters", "over", "remote", "status"]
