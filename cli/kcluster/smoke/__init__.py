"""The smoke test: write and read records on every path, and compare what was read with what was acknowledged."""
