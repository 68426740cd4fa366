"""What every job needs while it runs: session, checkpoint, lock, progress."""
