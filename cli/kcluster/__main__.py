"""`python -m kcluster`, the same as the `kcluster` command."""

from kcluster.app import entry

if __name__ == "__main__":
    entry()
