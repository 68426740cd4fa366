"""The preflight checks: what is asked of every host, and how the answers are judged."""
