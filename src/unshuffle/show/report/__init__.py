"""One page about a fit: a single file that needs no network."""

from .builder import build_report, write_report
from .facts import DataFacts

__all__ = ["DataFacts", "build_report", "write_report"]
