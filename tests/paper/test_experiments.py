"""A tiny version of every experiment, and the direction of what it shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unshuffle.paper import consistency, error_by_size, fifty_sets, gated, housing, partial, starts
from unshuffle.paper.catalogue import EXPERIMENTS
from unshuffle.paper.style import EXACT, HARD, HUBER, KNOWN, OLS, STOCHASTIC, ZERO

pytestmark = pytest.mark.long


def ticks():
    seen = []
    return seen, lambda done, total: seen.append((done, total))


def run(module, settings, n_again=None):
    """Run twice; the second time the first `n_again` repeats alone, which are the same."""
    seen, tick = ticks()
    table = module.run(settings, 0, tick)
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    fewer = settings if n_again is None else replace(settings, n_repeats=n_again)
    again = module.run(fewer, 0, lambda done, total: None)
    same = table if n_again is None else table[table["repeat"] < n_again].reset_index(drop=True)
    pd.testing.assert_frame_equal(same, again)
    figure = module.EXPERIMENT.draw(table)
    assert all(axis.get_ylabel() or axis is not figure.axes[0] for axis in figure.axes)
    assert all(axis.get_xlabel() or axis.get_xticklabels() for axis in figure.axes)
    assert len(module.EXPERIMENT.summarise(table)) > 0
    return table, module.EXPERIMENT.read(table)


def means(table, value="error"):
    return table.groupby("method")[value].mean()


def test_error_by_size():
    table, reading = run(error_by_size, error_by_size.Settings(sizes=(100, 200), n_trials=2))
    error = means(table)
    assert error[STOCHASTIC] < error[HARD]
    assert error[STOCHASTIC] == pytest.approx(error[ZERO], rel=0.15)  # no better than nothing
    assert error[KNOWN] < 0.2 * error[ZERO]
    assert reading.verdict == "holds"
    assert abs(means(table, "cosine")[STOCHASTIC]) < 0.4 < means(table, "cosine")[KNOWN]


def test_fifty_sets():
    settings = fifty_sets.Settings(n_samples=150, n_features=15, n_sets=6)
    table, reading = run(fifty_sets, settings)
    wide = table.pivot_table(index="set", columns="method", values="error")
    assert (wide[STOCHASTIC] < wide[HARD]).mean() >= 0.9
    assert reading.verdict == "holds"
    assert set(table["method"]) == {HARD, STOCHASTIC, EXACT, OLS, HUBER, ZERO, KNOWN}


def test_consistency():
    table, reading = run(
        consistency, consistency.Settings(n_samples=120, n_features=10, n_orders=8)
    )
    last = consistency.ends(table).pivot_table(index="ordering", columns="method", values="error")
    assert last[STOCHASTIC].std() <= last[HARD].std() / 2
    assert last[ZERO].std() == 0
    assert last[KNOWN].std() < 1e-9  # the order given does not matter once the order is known
    assert "standard deviation" in reading.ours
    assert table[table["method"] == STOCHASTIC].groupby("ordering").size().eq(50).all()


def test_partial():
    table, reading = run(partial, partial.Settings(swaps=(0, 30, 90), n_series=2))
    wide = table.groupby(["swaps", "method"])["error"].mean().unstack()
    assert (wide[STOCHASTIC] < wide[HARD]).all()
    assert wide[STOCHASTIC].is_monotonic_increasing
    assert (wide[HUBER] < wide[STOCHASTIC]).all()  # what users already have is better
    assert wide[OLS][0] == pytest.approx(wide[KNOWN][0])
    assert "Huber" in reading.comment


def test_gated():
    table, reading = run(gated, gated.Settings(n_bins=(3,), n_repeats=2, n_sequences=900), 1)
    rmse = means(table, "rmse")
    assert rmse[HARD] < rmse[OLS]
    assert rmse[STOCHASTIC] < rmse[OLS]
    assert rmse[KNOWN] < rmse[EXACT] < rmse[STOCHASTIC]
    assert reading.verdict == "holds in part"
    assert "three quarters" in reading.rule


def test_moved_rows_leave_their_bin():
    bins = np.repeat([0, 1, 2], 100)
    moved = gated.move_some(bins, 0.1, np.random.RandomState(0))
    assert (moved != bins).sum() == 30
    assert set(moved) == {0, 1, 2}


def test_gated_reads_the_users_aptamers(tmp_path):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ACGT"), size=12)) for _ in range(150)]
    lines = ["sequence,affinity", *(f"{w},{w.count('G') + rng.normal():.4f}" for w in words)]
    path = tmp_path / "aptamers.csv"
    path.write_text("\n".join(lines))
    settings = gated.Settings(n_bins=(3,), n_repeats=1, aptamers=str(path))
    table = gated.run(settings, 0, lambda done, total: None)
    assert len(table) == 6
    assert table["rmse"].between(0, 1).all()


def test_housing():
    table, reading = run(housing, housing.Settings(n_zones=(4,), n_repeats=1))
    text = table[table["setting"].str.startswith("LSTAT")]
    rmse = means(text, "rmse")
    assert rmse[KNOWN] < rmse[OLS] < rmse[EXACT]
    assert rmse[STOCHASTIC] < rmse[HARD]
    assert table["setting"].nunique() == 2
    mean = table.groupby(["setting", "method"])["rmse"].mean().unstack()
    as_good = (mean[STOCHASTIC] <= mean[OLS]).all()
    better = (mean[STOCHASTIC] < mean[HARD]).all()
    in_part = "holds in part" if as_good or better else "does not hold"
    assert reading.verdict == ("holds" if as_good and better else in_part)


def test_starts():
    settings = starts.Settings(dimensions=(2, 15), n_starts=(1, 100), n_trials=3)
    table, reading = run(starts, settings)
    hard = table[table["method"] == HARD].groupby(["d", "starts"])["error"].mean()
    soft = table[table["method"] == STOCHASTIC].groupby("d")["error"].mean()
    assert hard[2, 100] < soft[2]
    assert soft[15] < hard[15, 100]
    assert reading.verdict == "holds"


def test_the_catalogue_follows_the_paper():
    assert [e.figure for e in EXPERIMENTS.values()] == [
        "Fig. 2a", "Fig. 2b", "Fig. 3", "Fig. 4", "Fig. 5a", "Fig. 5b", "Fig. 6",
    ]  # fmt: skip
    for experiment in EXPERIMENTS.values():
        assert experiment.settings != experiment.quick
