"""What every job needs while it runs: Spark session, checkpoint, locks, progress and error causes."""
