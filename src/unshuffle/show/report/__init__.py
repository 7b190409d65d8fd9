"""One page about a fit: a single file that needs no network."""

from .builder import REPORT, build_report, write_report
from .facts import DataFacts

__all__ = ["REPORT", "DataFacts", "build_report", "write_report"]
