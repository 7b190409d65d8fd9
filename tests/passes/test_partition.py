"""One answer, however the rows are cut, ordered and stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitting import SHORT, same_fit
from unshuffle import StochasticEMRegressor, Streaming
from unshuffle.data import passes
from unshuffle.data.local import LocalParts
from unshuffle.data.part import make_part
from unshuffle.data.survey import add_up, survey
from unshuffle.data.threads import Workers
from unshuffle.kernels.block_em import PassModel
from unshuffle.kernels.sweep_blocks import Plan


def fit(X, y, groups, known=None, *, rows_per_part=1_000_000, **more):
    model = StochasticEMRegressor(
        streaming=Streaming(rows_per_part=rows_per_part), **{**SHORT, **more}
    )
    return model.fit(X, y, groups=groups, known=known)


@pytest.mark.long
@pytest.mark.parametrize("rate", [None, "estimate"])
def test_neither_parts_nor_threads_nor_files_change_the_answer(table, rate, tmp_path):
    whole = fit(*table, mismatch_rate=rate)
    assert same_fit(fit(*table, rows_per_part=17, mismatch_rate=rate), whole)
    assert same_fit(fit(*table, rows_per_part=400, mismatch_rate=rate, n_jobs=3), whole)
    X, *rest = table
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same_fit(fit(on_disk, *rest, rows_per_part=700, mismatch_rate=rate), whole)
    assert same_fit(fit(np.asfortranarray(X), *rest, mismatch_rate=rate), whole)
    other_seed = fit(*table, mismatch_rate=rate, random_state=1)
    assert not same_fit(other_seed, whole)


def test_names_of_groups_and_sorted_memory_maps(table, tmp_path):
    X, y, groups, known = table
    whole = fit(X, y, groups, known)
    assert same_fit(fit(X, y, [f"zone {g}" for g in groups], known), whole)
    order = np.argsort(groups, kind="stable")
    in_order = fit(X[order], y[order], groups[order])
    np.save(tmp_path / "X.npy", X[order])
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same_fit(fit(on_disk, y[order], groups[order], rows_per_part=300), in_order)


def test_single_precision_features(table, tmp_path):
    X, y, groups, _ = table
    narrow = (X - X.mean(axis=0)).astype(np.float32)
    one = fit(narrow, y, groups)
    assert same_fit(fit(narrow, y, groups, rows_per_part=100), one)
    # Single precision numbers are double precision numbers.
    assert same_fit(fit(narrow.astype(np.float64), y, groups), one)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_groups_dealt_out_at_random(seed, n_parts, mostly_right):
    """Any assignment of groups to parts, and any order of the rows inside a part."""
    rng = np.random.default_rng(seed)
    n, d = 60, 2
    X, y = rng.normal(size=(n, d)), rng.choice(rng.normal(size=20), size=n)  # with ties
    X[: n // 2] = X[n // 2 :]
    codes, known = rng.integers(12, size=n), rng.random(n) < 0.2
    model = PassModel(
        rng.normal(size=d), np.zeros(d), 0.1, 0.0, 0.5, 0.3 if mostly_right else -1.0,
        Plan(4, 12), -3.0, 1.0, -3.0, 3.0, np.full(7, 0.2),
    )  # fmt: skip
    exponents = np.full(d + 4, 12)

    def answers(part_of_group):
        parts = []
        for k in range(n_parts):
            rows = rng.permutation(np.flatnonzero(part_of_group[codes] == k))
            parts.append(make_part(X[rows], y[rows], codes[rows], rows, known[rows]))
        with Workers(1) as workers:
            local = LocalParts(parts, workers)
            sums = local.map(passes.align, model, 5, 3, exponents, name="")
            scores = local.map(passes.score_products, model, 5, 3, 4, 4, np.full(10, 20), name="")
            return (
                add_up(sums, exponents)[1],
                sum(each.accepted for each in sums),
                add_up(scores, np.full(10, 20))[1],
                survey(local, True).digest,
            )

    together = answers(np.zeros(12, dtype=int))
    assert answers(rng.integers(n_parts, size=12)) == together


def test_the_fingerprint_tells_data_apart(table):
    X, y, groups, known = table

    def digest(X, y, groups, known):
        codes = np.unique(groups, return_inverse=True)[1]
        part = make_part(X, y, codes, np.arange(len(y)), known)
        with Workers(1) as workers:
            return survey(LocalParts([part], workers), True).digest

    swapped, regrouped, forgotten = y.copy(), groups.copy(), known.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    regrouped[[0, 1]] = regrouped[[1, 0]]
    assert groups[0] != groups[1]
    forgotten[np.argmax(known)] = False
    digests = {
        digest(*table),
        digest(X, swapped, groups, known),
        digest(X, y, regrouped, known),
        digest(X, y, groups, forgotten),
    }
    assert len(digests) == 4
