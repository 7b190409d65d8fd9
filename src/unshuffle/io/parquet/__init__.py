"""Parquet files: one or several as one table, read whole or in passes."""

from .files import find_files
from .passes import Chunk, ParquetPasses, open_passes
from .table import ParquetFiles

__all__ = ["Chunk", "ParquetFiles", "ParquetPasses", "find_files", "open_passes"]
