"""Expectation maximisation: the loop, when it stops, and how it goes faster."""
