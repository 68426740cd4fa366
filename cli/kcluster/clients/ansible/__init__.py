"""The door to Ansible: what an inventory says, and playbooks that change hosts."""

from kcluster.clients.ansible.asking import decrypt, list_command, list_inventory, program
from kcluster.clients.ansible.events import Event, Outcome, Status
from kcluster.clients.ansible.playing import play

__all__ = ["Event", "Outcome", "Status", "decrypt", "list_command", "list_inventory", "play", "program"]
