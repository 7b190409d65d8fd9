"""Files to columns, strictly: a table that was read wrongly is a wrong pairing."""

from .design import DesignColumn, design_matrix, learn_columns
from .roles import FitTable, Roles, read_rows, read_two
from .source import TableSource, open_table
from .table import ColumnTable

__all__ = [
    "ColumnTable",
    "DesignColumn",
    "FitTable",
    "Roles",
    "TableSource",
    "design_matrix",
    "learn_columns",
    "open_table",
    "read_rows",
    "read_two",
]
