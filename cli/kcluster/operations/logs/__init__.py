"""`logs`: the last lines of nodes' logs, here or on hosts, and those that are still to come."""

from kcluster.operations.logs.here import logs
from kcluster.operations.logs.remote import remote

__all__ = ["logs", "remote"]
