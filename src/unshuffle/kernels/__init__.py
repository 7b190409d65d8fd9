"""Compiled loops: arrays in, arrays out; no Python objects, no validation."""
