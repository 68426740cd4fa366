"""The door to hosts: one kept SSH connection each, all of them at once, found the way ssh(1) finds them.

with Connections(logins) as hosts:
    answers = hosts.run("python3 -", stdin=SCRIPT, become=True)     every host; an Answer or why there is none
    answer = hosts.ask("h1", "systemctl restart kafka", become=True)    one host
    for line in hosts.lines("h1", "journalctl -fu kafka", become=True): ...
    with hosts.start("h1", "cat", become=True) as running: ...          a program to talk with
"""

from kcluster.clients.ssh.connections import Connections
from kcluster.clients.ssh.login import Answer, Login
from kcluster.clients.ssh.running import Piece, Running
from kcluster.clients.ssh.trust import UnknownKeyError, ways_out

__all__ = ["Answer", "Connections", "Login", "Piece", "Running", "UnknownKeyError", "ways_out"]
