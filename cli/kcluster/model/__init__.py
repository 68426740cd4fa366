"""Facts: frozen dataclasses with one property per derived fact; no I/O."""
