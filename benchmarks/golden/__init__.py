"""Fits recorded to the last bit, so that a change of the code that should change no result can be checked."""
