"""The health checks of a cluster: facts gathered over the wire and from hosts, judged by small pure functions."""
