"""Configuration as data: defaults with reasons, properties with their origin, and the flat variables of one node."""
