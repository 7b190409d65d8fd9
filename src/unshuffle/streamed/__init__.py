"""Fits to data that do not fit into memory: EM over parts, wherever they live."""
