import numba
import numpy as np
import pytest

from unshuffle.kernels.quick_sort import sort_indices


@numba.njit
def numba_argsort(values):
    return np.argsort(values)


@pytest.mark.parametrize("kind", ["spread", "tied", "equal", "ascending", "descending", "heavy"])
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 300, 5000])
def test_same_order_as_numba_ties_included(kind, n):
    rng = np.random.default_rng(n)
    values = {
        "spread": rng.normal(size=n),
        "tied": rng.integers(0, 1 + n // 7, size=n).astype(float),
        "equal": np.zeros(n),
        "ascending": np.arange(n, dtype=float),
        "descending": -np.arange(n, dtype=float),
        "heavy": rng.standard_cauchy(size=n) ** 5,
    }[kind]
    order = np.full(n + 5, -1, dtype=np.int64)
    shifted = np.concatenate([np.full(3, np.inf), values, np.full(2, -np.inf)])
    sort_indices(shifted, 3, 3 + n, order)
    assert (order[3 : 3 + n] == 3 + numba_argsort(values)).all()
    assert (order[:3] == -1).all()
    assert (order[3 + n :] == -1).all()
