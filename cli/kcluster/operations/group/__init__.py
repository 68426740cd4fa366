"""Consumer groups: members, lag and committed offsets."""
