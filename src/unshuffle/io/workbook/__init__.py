"""Excel workbooks (.xlsx), read as a stream, a row at a time."""

from .source import WorkbookFile

__all__ = ["WorkbookFile"]
