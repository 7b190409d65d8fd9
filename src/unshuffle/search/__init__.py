"""Where to begin: many starts, ranked."""
