"""The smoke test: write and read records on every path, and judge what was acknowledged against what was read."""
