"""Carrying out a plan: lock, order, gates before and after each stop, and the diagnosis of a failed start."""
