"""Every number of the readers and writers, with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadSettings:
    """Limits on what a file may declare or hold, and how much is handled at a time.

    No limit changes what is read: a file within all limits gives the same columns under any
    settings.
    """

    # Characters. Twenty thousand columns of numbers fit into a line of this length.
    longest_line: int = 4 << 20
    # Characters of one cell. A longer one is an open quote, or the file is not a table.
    longest_field: int = 1 << 17
    most_columns: int = 50_000
    # More levels than this are identifiers, not categories.
    most_levels: int = 100
    # Tables of numbers shrink three to ten times in gzip, zeros a thousand times; the ratio
    # counts from this many bytes on, because small files may repeat one line.
    most_expansion: int = 200
    expansion_from: int = 64 << 20
    # Names of columns in one message.
    names_shown: int = 12
    # Share of the machine's memory that one table may take; the fit needs the rest.
    memory_share: float = 0.5
    # Bytes, where the system does not report its memory.
    memory_unknown: int = 8 << 30

    # Cells of a text file that are split and converted together; more only cost memory.
    cells_at_once: int = 20_000
    # Bytes of a text file from which loading pyarrow takes less time than it saves.
    fast_from: int = 4 << 20
    fast_block: int = 4 << 20
    text_block: int = 1 << 20

    # Numbers of a Parquet file in one batch: 8 MB.
    numbers_at_once: int = 1 << 20
    # Bytes of one text, and entries of one list, in the part of a Parquet file that describes it.
    parquet_header: int = 64 << 20
    parquet_entries: int = 1_000_000
    # Bytes of the keywords of an FCS file.
    fcs_text: int = 16 << 20

    # Temporary folders older than this are left by a killed process; no writing takes so long.
    stale_seconds: float = 3600.0

    # Bytes of a model.json: parsed, JSON takes up to thirty times as much. Then what a .npy header
    # and a zip entry take beside the numbers, and arrays of one npz file.
    model_json: int = 4 << 20
    model_entry: int = 4096
    npz_entries: int = 64


READ = ReadSettings()
