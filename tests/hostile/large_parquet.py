"""Parquet files below 10 MB that would take far more memory."""

import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hostile.cases import FIT, Shelf, varint

PASSES = ("--pairing", "lost", "--checkpoint")


def make(shelf: Shelf) -> None:
    for kind in (texts, numbers, descriptions, pages):
        kind(shelf)


def written(columns, **options) -> bytes:
    file = io.BytesIO()
    table = pa.table(columns)
    pq.write_table(table, file, row_group_size=len(table), write_statistics=False, **options)
    return file.getvalue()


def texts(shelf: Shelf) -> None:
    """A text that stands in every row takes the file few bytes, and memory many."""
    n = 1500
    rest = {"a": np.arange(n) % 7.0, "y": np.arange(n) * 1.0}
    checkpoint = str(shelf.folder / "c.npz")

    def put(name, letters, *words, n_texts=n, **options):
        column = [letters] * n_texts if isinstance(letters, str) else letters
        shelf.fit(name, written({"zone": column} | rest, **options), *words)
        path = str(shelf.folder / name)
        in_passes = ("fit", path, *FIT, *PASSES, checkpoint)
        shelf.call(f"{name} in passes", in_passes, name, *words)

    whole = {"dictionary_pagesize_limit": 10_000_000}
    put("long_text.parquet", "a" * 200_000, "'zone'", "200,000 bytes", **whole)
    put("long_page.parquet", "a" * 200_000, "'zone'", "pages", "55.0 MB", use_dictionary=False,
        compression="zstd")  # fmt: skip
    kinds = {"zone": "DELTA_BYTE_ARRAY", "a": "PLAIN", "y": "PLAIN"}
    put("prefixes.parquet", "a" * 200_000, "'zone'", "200,000 bytes", use_dictionary=False,
        column_encoding=kinds)  # fmt: skip
    faces = ["\U0001f600" + "a" * 60_000 + str(k) for k in range(n)]
    put("faces.parquet", faces, "'zone'", use_dictionary=False, compression="zstd")
    for name in ("long_text.parquet", "prefixes.parquet"):
        repair = ("repair", str(shelf.folder / name), "-y", "y", "-x", "a", "--accept-rejected")
        out = ("--out", str(shelf.folder / "b.parquet"))
        shelf.call(f"repair {name}", (*repair, *out), "'zone'", "110.0 MB", "without compression")


def numbers(shelf: Shelf) -> None:
    """Numbers that repeat take the file nothing."""
    n = 6_000_000
    columns = {"a": np.arange(n) % 2.0, "y": np.arange(n) % 3.0}
    few = written(columns, compression="zstd")
    shelf.fit("repeated.parquet", few, "192.0 MB", "110.0 MB", "passes", options=("-y", "y"))
    path = str(shelf.folder / "repeated.parquet")
    for command in ("suspects", "audit"):
        shelf.call(f"{command} repeated", (command, path, "-y", "y"), "110.0 MB", "compression")
    shelf.call("blocks repeated", ("blocks", path, "-y", "y", "--by", "a"), "no column is left")
    passes = ("fit", path, "-y", "y", *PASSES, str(shelf.folder / "c.npz"))
    shelf.call("repeated in passes", passes, "240.0 MB", "without compression")
    both = ("fit", path, path, "-y", "y")
    shelf.call("repeated twice", both, "384.0 MB", "110.0 MB")
    kinds = pa.array(np.arange(400_000) % 90).cast(pa.string())
    label = np.arange(400_000) % 7.0
    shelf.fit("kinds.parquet", written({"k": kinds, "y": label}), "'k' has 90 categories",
              options=("-y", "y"))  # fmt: skip
    names = pa.array(np.arange(900_000)).cast(pa.string())
    zones = written({"zone": names, "a": np.arange(900_000) % 2.0, "y": np.arange(900_000) % 3.0},
                    compression="zstd")  # fmt: skip
    shelf.fit("zones.parquet", zones, "'zone'", "with its names")


def packed(content: bytes) -> bytes:
    return b"PAR1" + content + struct.pack("<I", len(content)) + b"PAR1"


def listed(n: int) -> bytes:
    """The head of a list of structs."""
    return bytes([n << 4 | 12]) if n < 15 else b"\xfc" + varint(n)


def column(name: bytes = b"a") -> bytes:
    return b"\x15\x0a\x25\x00\x18" + varint(len(name)) + name + b"\x00"


def schema(columns: list[bytes]) -> bytes:
    root = b"\x48\x06schema\x15" + varint(2 * len(columns)) + b"\x00"
    return b"\x15\x02\x19" + listed(len(columns) + 1) + root + b"".join(columns) + b"\x16\x02"


def descriptions(shelf: Shelf) -> None:
    """The part of a file that describes it: three bytes become kilobytes."""

    def put(name, content, *words):
        shelf.fit(name, packed(content), *words, options=("-y", "y"))

    chunk, too_many = b"\x26\x00\x00", "columns, groups of rows and remarks"
    group = b"\x19" + listed(3000) + chunk * 3000 + b"\x16\x00\x16\x02\x00"
    put(
        "chunks.parquet",
        schema([column()]) + b"\x19" + listed(900) + group * 900 + b"\x00",
        too_many,
    )
    group = b"\x19" + listed(900_000) + chunk * 900_000 + b"\x16\x00\x16\x02\x00"
    put("chunks_of_one.parquet", schema([column()]) + b"\x19\x1c" + group + b"\x00", too_many)
    group = b"\x19\x0c\x16\x00\x16\x02\x00"
    n = 900_000
    put(
        "row_groups.parquet",
        schema([column()]) + b"\x19" + listed(n) + group * n + b"\x00",
        too_many,
    )
    names = [column(b"%x" % k) for k in range(700_000)]
    put("columns.parquet", schema(names) + b"\x19\x0c\x00", too_many)
    put("columns_allowed.parquet", schema(names[:59_000]) + b"\x19\x0c\x00", "59,000 columns")
    remarks = b"\x19" + listed(n) + b"\x18\x01a\x00" * n
    put("remarks.parquet", schema([column()]) + b"\x19\x0c" + remarks + b"\x00", too_many)
    words = b"\x26\x00\x1c\x39" + b"\xf8" + varint(n) + b"\x00" * n + b"\x00\x00"
    group = b"\x19\x1c" + words + b"\x16\x00\x16\x02\x00"
    put("words.parquet", schema([column()]) + b"\x19\x9c" + group * 9 + b"\x00", too_many)
    nested = b"\x35\x00\x18\x01a\x15\x02\x00" * 40_000
    deep = b"\x15\x02\x19" + listed(40_002) + b"\x48\x06schema\x15\x02\x00" + nested + column()
    put("deep.parquet", deep + b"\x16\x02\x19\x0c\x00", "nested")
    put("deep_structs.parquet", b"\x1c" * 300_000, "nested")
    put("endless_list.parquet", b"\x15\x02\x19\xfc" + varint(2**62) + bytes(200_000), "Parquet")
    put("cut_list.parquet", schema(names[:30_000])[:-9], "Parquet")


def pages(shelf: Shelf) -> None:
    """Pages whose headers lie."""
    plain = {"zone": ["z"] * 40, "a": np.arange(40.0), "y": np.arange(40.0) ** 2}
    whole = written(plain)
    at = whole.index(b"\x15\x04\x15")  # type and size of the first page, a dictionary

    def put(name, header, *words):
        changed = whole[:at] + header + whole[at + len(header) :]
        shelf.fit(name, changed, *words)

    put("negative_page.parquet", b"\x15\x04\x15\x09\x15", "Parquet")
    put("no_page.parquet", b"\x00", "Parquet", "size")
    put("page_of_maps.parquet", b"\x1b\x04", "Parquet")
    put("endless_number.parquet", b"\x15\x04\x15" + b"\xff" * 12, "Parquet", "64 bits")
    zeros = written({"a": np.zeros(7_000_000), "y": np.zeros(7_000_000)}, use_dictionary=False,
                    compression="zstd", data_page_size=1 << 30)  # fmt: skip
    shelf.fit("zeros.parquet", zeros, "224.0 MB", "110.0 MB", options=("-y", "y"))
