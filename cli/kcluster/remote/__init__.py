"""Scripts that run on the hosts, not here: the standard library of Python 3.8 only, one file each."""
