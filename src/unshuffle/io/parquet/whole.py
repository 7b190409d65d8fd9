"""A Parquet file with every column as it stands, to be written again."""

from pathlib import Path
from typing import Any

from ..settings import READ, ReadSettings
from .files import damage, open_file, table_budget
from .sizes import check_pages


def read_whole(path: Path, settings: ReadSettings = READ) -> Any:
    """All columns of a file, of any type; what they take is measured in small batches first."""
    import pyarrow.types as kinds

    file, budget = open_file(path, settings), table_budget([path], settings)
    names = list(file.schema_arrow.names)
    with damage(path):
        longest = check_pages(file, path, names, budget)
        rows_at_once = max(settings.parquet_text // max(longest, 1), 1)
        rows_at_once = min(rows_at_once, max(settings.numbers_at_once // len(names), 1))
        for batch in file.iter_batches(rows_at_once):
            for name, column in zip(names, batch.columns, strict=True):
                # Codes share one dictionary, which is a page and was counted with the pages.
                values = column.indices if kinds.is_dictionary(column.type) else column
                budget.take(values.nbytes, column=name)
        return file.read()
