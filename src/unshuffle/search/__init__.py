"""Initial values: many starts, ranked and tested."""
