"""The rows of a fit: in memory, in files, or on the workers of a cluster."""
