"""Inference: how far coefficients can be trusted, and whether a fit can be trusted at all."""
