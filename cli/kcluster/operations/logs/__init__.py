"""`logs`: the last lines of nodes' logs, here or on hosts, and those that are still to come."""

from kcluster.operations.logs.local_logs import logs
from kcluster.operations.logs.remote_logs import remote

__all__ = ["logs", "remote"]
