"""Consumer groups: who reads what, how far behind they are, and from where they go on."""
