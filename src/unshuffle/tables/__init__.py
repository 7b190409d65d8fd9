"""Files to columns, strictly: a table that was read wrongly is a wrong pairing."""

from .design import Column, design_matrix, learn_columns
from .source import Source, open_table
from .table import Table

__all__ = ["Column", "Source", "Table", "design_matrix", "learn_columns", "open_table"]
