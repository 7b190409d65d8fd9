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
    # What a file becomes follows its size: one of up to `small_file` bytes may take `small_memory`
    # bytes as a table and hold `small_text` bytes of text under its gzip; every further byte adds
    # so many. Tables of numbers shrink three to ten times, and numbers of one digit in Parquet
    # forty times; zeros shrink a thousand times, so that a small file could fill any memory.
    small_file: int = 10_000_000
    small_memory: int = 110_000_000
    small_text: int = 200_000_000
    memory_per_byte: int = 64
    text_per_byte: int = 200
    # Bytes that zstd looks back for repetitions; levels up to 19 look back over 8 MB.
    zstd_window: int = 64 << 20
    # Files in the archive of a workbook, and tags of its XML: a cell has four, each takes a
    # microsecond. One more tag for every byte above `small_file`; real cells take ten bytes.
    workbook_parts: int = 10_000
    workbook_tags: int = 10_000_000
    # Bytes that are copied from standard input; a disk may be a part of memory.
    standard_input: int = 1 << 30
    # Names of columns in one message.
    names_shown: int = 12
    # Share of the machine's memory that one table may take; the fit needs the rest.
    memory_share: float = 0.5
    # Bytes, where the system does not report its memory.
    memory_unknown: int = 8 << 30

    # Cells of a text file that are split and converted together, and blocks of it from which they
    # may come; more only cost memory. Fewer rows than this would make an array of every cell.
    cells_at_once: int = 20_000
    rows_at_once: int = 16
    blocks_at_once: int = 8
    # Bytes of a text file from which loading pyarrow takes less time than it saves.
    fast_from: int = 4 << 20
    fast_block: int = 4 << 20
    # Columns from which pyarrow takes more memory than it saves time.
    fast_columns: int = 5000
    text_block: int = 1 << 20

    # Numbers of a Parquet file in one batch: 8 MB.
    numbers_at_once: int = 1 << 20
    # The part of a Parquet file that describes it: bytes of one text, entries of its lists. One of
    # more than `parquet_plain` bytes is counted before it is parsed, because a column of three
    # bytes becomes objects of two kilobytes. So many columns and groups of rows are allowed, and
    # further ones for every byte above `parquet_small`; those of real files take ninety bytes.
    parquet_header: int = 64 << 20
    parquet_entries: int = 1_000_000
    parquet_plain: int = 100_000
    parquet_columns: int = 60_000
    parquet_small: int = 6_000_000
    parquet_column: int = 60
    # Bytes of text in one batch, however few of the file they come from.
    parquet_text: int = 4 << 20
    # Bytes for each row in a fit in passes: label, group, place, and what orders them.
    bytes_in_passes: int = 40
    # Bytes of the keywords of an FCS file; a keyword of two letters becomes objects of 200 bytes.
    fcs_text: int = 2 << 20

    # Where the file system has no locks, parts of files older than this are left by a killed
    # process; no writing takes so long.
    stale_seconds: float = 3600.0

    # Bytes of a model.json: parsed, JSON takes up to thirty times as much. Then what a .npy header
    # and a zip entry take beside the numbers, and arrays of one npz file.
    model_json: int = 4 << 20
    # Bytes of a checkpoint: a thousand iterations of a hundred thousand coefficients.
    checkpoint: int = 1 << 30
    model_entry: int = 4096
    npz_entries: int = 64


READ = ReadSettings()
