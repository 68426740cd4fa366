"""The door to Ansible: what an inventory says, and playbooks that change hosts."""

from kcluster.clients.ansible.events import Event, PlaybookOutcome, TaskStatus
from kcluster.clients.ansible.inventory_export import decrypt, export_inventory, list_command, program
from kcluster.clients.ansible.playbook_runner import run_playbook

__all__ = [
    "Event",
    "PlaybookOutcome",
    "TaskStatus",
    "decrypt",
    "export_inventory",
    "list_command",
    "program",
    "run_playbook",
]
