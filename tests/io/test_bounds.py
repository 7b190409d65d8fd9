"""Limits follow the size of a file, and change nothing about files within them."""

import gzip
import io
import os

import flowio
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hostile.large_tables import flow
from unshuffle import TableError
from unshuffle.io.arrays import Entry, read_arrays
from unshuffle.io.opening import open_regular, read_at_most
from unshuffle.io.parquet.files import open_file, read_batches, table_budget
from unshuffle.io.parquet.sizes import check_description, check_pages
from unshuffle.io.parquet.whole import read_whole
from unshuffle.io.settings import READ, ReadSettings
from unshuffle.io.tables import open_table
from unshuffle.io.tables.limits import Budget, amount, make_budget

N = 3000
NAMES = [f"{'é水'[k % 2]} {k % 400}" for k in range(N)]


def sparse(path, size):
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_a_larger_file_may_take_more(tmp_path):
    unbounded = ReadSettings(memory_share=1e6)
    sizes = [10**3, 10**7, 2 * 10**7, 10**9, 10**10]
    paths = [sparse(tmp_path / str(size), size) for size in sizes]
    allowed = [make_budget([path], settings=unbounded).allowed for path in paths]
    assert allowed[0] == allowed[1] == READ.small_memory
    assert allowed[2] == READ.small_memory + READ.memory_per_byte * 10**7
    assert allowed[4] > 6 * 10**11
    together = make_budget(paths[:3], settings=unbounded)
    assert together.allowed > allowed[2]
    # Text of one digit in each cell is the densest that is not compressed.
    assert all(a > 8 * size for a, size in zip(allowed, sizes, strict=True))


def test_a_budget_names_what_is_allowed_and_the_way_around(tmp_path):
    budget = Budget(tmp_path / "t.csv", 2_500_000, 1000, "buy memory")
    budget.take(1000)
    with pytest.raises(TableError, match=r"at least 1\.0 kB .* of 2\.5 MB .* 1\.0 kB; buy memory"):
        budget.take(1)
    assert [amount(n) for n in (0, 999, 1e5, 2e9)] == ["0 bytes", "999 bytes", "100.0 kB", "2.0 GB"]


@pytest.mark.long
def test_the_densest_table_of_digits_is_read(tmp_path):
    """Ten megabytes without compression are always read, however short the cells are."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 2_490_000)
    assert open_table(path).read(["a", "y"]).n_rows == 2_490_000
    strict = open_table(path, ReadSettings(fast_from=10**9)).read(["a", "y"])
    assert strict.columns["y"].sum() == 2 * 2_490_000


def test_gzip_that_shrinks_like_a_table_is_read(tmp_path):
    rng = np.random.default_rng(0)
    text = "a,y\n" + "".join(f"{a:.3f},{y:.3f}\n" for a, y in rng.normal(size=(20_000, 2)))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert open_table(path).read(["a", "y"]).n_rows == 20_000
    tight = ReadSettings(small_text=len(text) - 1, text_block=1000)
    with pytest.raises(TableError, match="gunzip"):
        open_table(path, tight).read(["a", "y"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"zone": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"zone": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"dictionary_pagesize_limit": 100},
        {"data_page_version": "2.0", "compression": "zstd", "data_page_size": 500},
    ],
    ids=["dictionary", "plain", "prefixes", "lengths", "dictionary that ends", "small pages"],
)
def test_text_is_the_same_however_a_file_stores_it(tmp_path, options):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"zone": NAMES, "y": np.arange(N)}), path, row_group_size=700, **options
    )
    for settings in (READ, ReadSettings(numbers_at_once=64), ReadSettings(parquet_text=1000)):
        table = open_table(path, settings).read(["zone", "y"])
        assert table.columns["zone"].tolist() == NAMES
        assert table.columns["y"].tolist() == list(range(N))
    assert read_whole(path).column("zone").to_pylist() == NAMES


def test_types_of_text_are_read_alike(tmp_path):
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int16(), pa.string())):
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table({"zone": pa.array(NAMES).cast(kind)}), path)
        assert open_table(path).read(["zone"]).columns["zone"].tolist() == NAMES
        assert read_whole(path).schema.field("zone").type == kind


def test_pages_are_found_where_pyarrow_finds_them(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"a.b": np.arange(N), "zone": NAMES}
    pq.write_table(pa.table(columns), path, compression="none", data_page_size=1000)
    file, budget = open_file(path), table_budget([path])
    chunk = file.metadata.row_group(0).column(0)
    assert check_pages(file, path, ["a.b", "zone"], budget) > 0
    for column in columns:
        most = Budget(path, 0, 2 * chunk.total_uncompressed_size * 2)
        check_pages(file, path, [column], most)
        with pytest.raises(TableError, match="pages take"):
            check_pages(file, path, [column], Budget(path, 0, 1000))


def test_many_groups_of_rows_are_allowed(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({f"c{j}": [1.0] for j in range(10)})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(600):
            writer.write_table(table)
    assert path.stat().st_size > 5 * READ.parquet_plain  # so that it is counted
    check_description(path)
    assert sum(batch.rows.num_rows for batch in read_batches([path], ["c3"])) == 600
    few = ReadSettings(parquet_columns=5000)
    with pytest.raises(TableError, match="more than 5,000 columns"):
        check_description(path, few)


@pytest.mark.parametrize(
    ("widths", "ranges"),
    [([8, 16, 32], [100, 1024, 262144]), ([16, 16], [1000, 65536]), ([8, 8], [256, 7]),
     ([32, 8], [2**32, 256])],
)  # fmt: skip
def test_whole_numbers_of_events_are_those_of_flowio(tmp_path, widths, ranges):
    path = tmp_path / "t.fcs"
    rng = np.random.default_rng(0)
    data = rng.bytes(500 * sum(widths) // 8)
    path.write_bytes(flow(widths, 500, data=data, ranges=ranges))
    expected = flowio.FlowData(path).as_array()
    names = [f"c{j}" for j in range(len(widths))]
    found = open_table(path).read(names)
    for j, name in enumerate(names):
        assert np.array_equal(found.columns[name], expected[:, j])


def test_arrays_are_read_as_numpy_reads_them(tmp_path):
    arrays = {
        "a": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "b": np.array("text"),
        "c": np.array(3), "d": np.empty((0, 4)), "e": np.arange(5, dtype=">i2"),
    }  # fmt: skip
    np.savez(tmp_path / "t.npz", **arrays)
    expected = {name: Entry(array.dtype.str, array.shape) for name, array in arrays.items()}
    found = read_arrays(tmp_path / "t.npz", expected)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable


def test_only_regular_files_are_opened(tmp_path):
    (tmp_path / "t").write_bytes(b"12345")
    with open_regular(tmp_path / "t") as file:
        assert file.read() == b"12345"
    assert read_at_most(tmp_path / "t", 3) == b"1234"
    assert read_at_most(tmp_path / "t", 9) == b"12345"
    (tmp_path / "link").symlink_to(tmp_path / "t")
    assert read_at_most(tmp_path / "link", 9) == b"12345"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="regular file"):
            open_regular(path)
    with pytest.raises(IsADirectoryError, match="folder"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "absent")


def test_compressed_arrays_are_refused(tmp_path):
    file = io.BytesIO()
    np.savez_compressed(file, a=np.zeros(10**6))
    (tmp_path / "t.npz").write_bytes(file.getvalue())
    with pytest.raises(ValueError, match=r"'a\.npy' is compressed"):
        read_arrays(tmp_path / "t.npz", {}, others=True)
