"""Compressed tables give what the plain ones give; nothing that is cut off goes unnoticed."""

import bz2
import gzip

import numpy as np
import pytest
import zstandard

from unshuffle.exceptions import TableError
from unshuffle.io.settings import ReadSettings
from unshuffle.io.tables import open_table

PLAIN = ("a,y\n" + "".join(f"{k},{k * k}\n" for k in range(5000))).encode()
HALVES = PLAIN[:20_001], PLAIN[20_001:]
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstandard.compress}
SKIPPED = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"  # a frame of zstd that holds no data


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["t.csv.{}", "t.{}", "t.csv"])
def test_a_compressed_table_is_the_plain_one(tmp_path, kind, name):
    """Also under a name that does not say how it is compressed."""
    path = tmp_path / name.format(kind)
    path.write_bytes(PACK[kind](PLAIN))
    table = open_table(path).read(["a", "y"])
    np.testing.assert_array_equal(table.columns["y"], np.arange(5000.0) ** 2)


@pytest.mark.parametrize("kind", PACK)
def test_parts_one_after_the_other_are_one_table(tmp_path, kind):
    """As parallel compressors write them."""
    path = tmp_path / f"t.csv.{kind}"
    path.write_bytes(b"".join(map(PACK[kind], HALVES)))
    assert open_table(path).read(["a"]).n_rows == 5000


def test_frames_without_data_are_skipped(tmp_path):
    path = tmp_path / "t.csv.zst"
    path.write_bytes(SKIPPED.join(map(zstandard.compress, HALVES)) + SKIPPED)
    assert open_table(path).read(["a"]).n_rows == 5000


@pytest.mark.parametrize("kind", PACK)
def test_no_cut_goes_unnoticed(tmp_path, kind):
    """Wherever the file ends: a table with fewer rows would be read otherwise."""
    path, whole = tmp_path / f"t.csv.{kind}", PACK[kind](PLAIN)
    for end in (len(whole) - 1, len(whole) - 9, len(whole) // 2, len(whole) // 9):
        path.write_bytes(whole[:end])
        with pytest.raises(TableError, match="damaged or cut short"):
            open_table(path).read(["a", "y"])


@pytest.mark.parametrize("kind", PACK)
def test_growth_is_limited(tmp_path, kind):
    path = tmp_path / f"t.csv.{kind}"
    path.write_bytes(PACK[kind](PLAIN))
    enough, few = (ReadSettings(small_text=len(PLAIN) - less, text_block=999) for less in (0, 1))
    assert open_table(path, enough).read(["a"]).n_rows == 5000
    with pytest.raises(TableError, match="grows from"):
        open_table(path, few).read(["a"])
