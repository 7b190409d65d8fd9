"""Files to columns, strictly: a table that was read wrongly is a wrong pairing."""

from .design import Column, design_matrix, learn_columns
from .roles import Roles, Rows, read_rows, read_two
from .source import Source, open_table
from .table import Table

__all__ = [
    "Column",
    "Roles",
    "Rows",
    "Source",
    "Table",
    "design_matrix",
    "learn_columns",
    "open_table",
    "read_rows",
    "read_two",
]
