"""Topics: list, describe, create, alter, delete, plan and apply."""
