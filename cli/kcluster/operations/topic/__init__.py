"""Topics: looking at them, changing one, and bringing the declared ones into being."""
