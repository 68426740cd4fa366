"""Hosts over SSH: one kept connection for each, all at the same time, with the configuration of ssh(1).

with Connections(logins) as hosts:
    answers = hosts.run("python3 -", stdin=SCRIPT, become=True)     every host; an Answer or why there is none
    answer = hosts.ask("h1", "systemctl restart kafka", become=True)    one host
    for line in hosts.lines("h1", "journalctl -fu kafka", become=True): ...
    with hosts.start("h1", "cat", become=True) as running: ...          a program to talk with
"""

from kcluster.clients.ssh.connections import Connections
from kcluster.clients.ssh.host_keys import UnknownKeyError, ways_out
from kcluster.clients.ssh.login import CommandResult, Login
from kcluster.clients.ssh.remote_command import OutputChunk, RemoteCommand

__all__ = ["CommandResult", "Connections", "Login", "OutputChunk", "RemoteCommand", "UnknownKeyError", "ways_out"]
