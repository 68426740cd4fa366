"""Jobs about trucks: the demo producer, the latest positions, alerts, and the data of the dashboard."""
