"""Alignment, the E-step: given fitted values and noise, which label belongs to which row?"""
