"""Doors to the outside, one thing each. No client imports another."""
