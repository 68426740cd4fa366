"""Looking: what runs on hosts and what the cluster says of itself. Nothing here changes anything."""
