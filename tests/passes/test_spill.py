"""Copies of data on disk: in a file without a name, which ends with the process."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fitting import SHORT, same_fit
from unshuffle import StochasticEMRegressor, Streaming
from unshuffle.data.groups import encode_groups
from unshuffle.data.local import spill


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by Linux")
def test_the_copy_has_no_name(table, tmp_path):
    X, y, groups, _ = table
    np.save(tmp_path / "X.npy", X)
    folder = tmp_path / "folder"
    folder.mkdir()
    seen, opened = [], []

    def look(progress):
        seen.append(list(folder.iterdir()))
        links = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        opened.extend(path.stat().st_size for path in links if _in(folder, path))

    streaming = Streaming(rows_per_part=500, folder=folder)
    model = StochasticEMRegressor(streaming=streaming, callback=look, **SHORT)
    model.fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y, groups)
    assert seen == [[]] * SHORT["max_iter"]
    assert set(opened) == {X.nbytes}  # the control: there is a copy
    whole = StochasticEMRegressor(streaming=Streaming(rows_per_part=500), **SHORT)
    assert same_fit(model, whole.fit(X, y, groups))


def _in(folder, link):
    try:
        return str(link.readlink()).startswith(f"{folder}/")
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_parts_hold_their_rows(dtype, rows):
    """Parts start anywhere in the file, not at the edges of pages."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)).astype(dtype)
    codes = encode_groups(rng.integers(300, size=2000), 2000)
    known = np.zeros(2000, dtype=bool)
    batches = (X[first : first + 77] for first in range(0, 2000, 77))
    with tempfile.TemporaryFile() as file:
        parts = spill(batches, X.shape, dtype, X[:, 0], codes, known, rows, file)
        for part in parts:
            found = part.features()[part.rows.places]
            np.testing.assert_array_equal(found, X[part.numbers])
            assert found.dtype == X.dtype
    assert sum(part.n_rows for part in parts) == 2000
