"""Where work runs: threads on this machine."""
