"""The command line: one file per sub-command."""

from .app import main

__all__ = ["main"]
