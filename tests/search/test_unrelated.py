"""Unrelated labels: the shape of the labels, ranks among them, and the p-values these give."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import ks_2samp

from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.least_squares import LeastSquares
from unshuffle.search.landscape import Landscape
from unshuffle.search.nulls import compare_with_unrelated, rank_p_value
from unshuffle.search.population import search_population
from unshuffle.search.settings import DEFAULT, NullSettings
from unshuffle.search.unrelated import Sampler, UnrelatedLabels, towards

DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "bimodal": lambda rng, n: rng.normal(size=n) + 8.0 * (rng.uniform(size=n) < 0.5),
}


def landscape_of(X, y, groups=None, known=None, settings=DEFAULT):
    groups = np.zeros(len(y), dtype=int) if groups is None else groups
    known = np.zeros(len(y), dtype=bool) if known is None else known
    problem = make_problem(X, y, groups, known)
    return Landscape(problem, LeastSquares(problem.X, fit_intercept=True), Workers(1), settings)


def smoothed_draw(own, rng, fitted=None):
    return Sampler(own, fitted).draw(rng)


def one_bandwidth(own, rng):
    """The control: a normal kernel with Silverman's bandwidth, shrunk to keep the spread."""
    width = 1.06 * own.std() * len(own) ** -0.2
    noisy = own[rng.integers(len(own), size=len(own))] + width * rng.normal(size=len(own))
    return own.mean() + own.std() / np.hypot(own.std(), width) * (noisy - own.mean())


@pytest.mark.parametrize("shape", DRAWS)
def test_draws_keep_the_distribution_and_its_bounds(shape):
    rng = np.random.default_rng(0)
    own = np.sort(DRAWS[shape](rng, 2_000))
    drawn = smoothed_draw(own, rng)
    assert own[0] <= drawn.min() and drawn.max() <= own[-1]
    assert len(np.unique(drawn)) > 0.9 * len(own)  # a plain bootstrap repeats a third
    assert ks_2samp(own, drawn).pvalue > 0.001


def test_one_bandwidth_leaves_the_support_and_fills_gaps():
    rng = np.random.default_rng(0)
    skewed = np.sort(rng.exponential(size=400))
    assert one_bandwidth(skewed, rng).min() < 0.0 <= smoothed_draw(skewed, rng).min()
    modes = np.sort(DRAWS["bimodal"](rng, 400))
    seen, drawn, control = (
        np.mean((v > 3) & (v < 5)) for v in (modes, smoothed_draw(modes, rng), one_bandwidth(modes, rng))
    )  # fmt: skip
    assert drawn - seen < 0.02 < control - seen


def test_ties_are_kept():
    rng = np.random.default_rng(0)
    answers = np.sort(rng.integers(1, 6, size=300).astype(float))
    assert set(smoothed_draw(answers, rng, answers + 0.1)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    rounded = np.sort(np.round(rng.normal(size=300), 1))
    assert set(smoothed_draw(rounded, rng)) <= set(rounded)
    often_zero = np.sort(np.maximum(rng.normal(size=400), 0.0))
    drawn = smoothed_draw(often_zero, rng)
    assert drawn.min() == 0.0
    assert abs(np.mean(drawn == 0.0) - np.mean(often_zero == 0.0)) < 4 * 0.5 / 400**0.5
    assert len(np.unique(drawn[drawn > 0])) == np.sum(drawn > 0)


@pytest.mark.parametrize("own", [[3.0], [2.0, 2.0, 2.0], [1.0, 4.0], [1.0, 1.0, 5.0]])
def test_tiny_groups_can_be_drawn(own):
    drawn = smoothed_draw(np.array(own), np.random.default_rng(0))
    assert drawn.shape == (len(own),)
    assert np.all((min(own) <= drawn) & (drawn <= max(own)))


def test_groups_and_known_rows_keep_what_is_theirs():
    rng = np.random.default_rng(1)
    groups, known = np.arange(120) // 30, np.arange(120) % 10 == 0
    y = 10.0 * groups + rng.uniform(size=120)
    landscape = landscape_of(rng.normal(size=(120, 2)), y, groups, known)
    drawn = UnrelatedLabels(landscape, np.array([1.0, -1.0])).draw(rng)
    problem = landscape.problem
    np.testing.assert_array_equal(drawn[problem.n_movable :], problem.y[problem.n_movable :])
    np.testing.assert_array_equal(np.floor(drawn / 10.0), np.floor(problem.y / 10.0))
    assert not np.any(drawn[: problem.n_movable] == problem.y[: problem.n_movable])


def test_order_statistics_move_towards_the_shape_of_the_fit_alone():
    own, fitted = np.array([0.0, 1.0, 5.0]), np.array([100.0, 200.0, 300.0])
    moved = towards(own, fitted, 1.0)
    assert moved.mean() == pytest.approx(2.0) and moved.std() == pytest.approx(own.std())
    assert moved[1] - moved[0] == pytest.approx(moved[2] - moved[1])
    np.testing.assert_array_equal(towards(own, np.ones(3), 0.5), own)


def test_p_values_are_ranks_with_a_tail_below_the_lowest():
    nulls = np.linspace(-1.0, 1.0, 99)
    assert rank_p_value(0.0, nulls) == pytest.approx(0.51)
    assert rank_p_value(-1.0, nulls) == pytest.approx(0.02)
    tail = [rank_p_value(score, nulls) for score in (-1.01, -1.5, -2.0, -4.0)]
    assert tail == sorted(tail, reverse=True) and tail[0] <= 0.01 and tail[-1] < 1e-4
    assert rank_p_value(-9.0, nulls[:3]) == 0.25  # too few for a tail
    assert rank_p_value(-9.0, np.zeros(50)) == pytest.approx(1 / 51)
    # Exponential nulls: the tail is the true one, up to the error of its scale.
    drawn = -np.random.default_rng(0).exponential(size=199)
    assert np.exp(-8.0) < rank_p_value(-8.0, drawn) < 10 * np.exp(-8.0)


def sorted_score(basis, labels):
    """With one feature, sorted and reverse-sorted labels are all there is to compare."""
    up = np.sort(labels) - labels.mean()
    explained = max((basis @ up) ** 2, (basis @ up[::-1]) ** 2)
    return np.log(1.0 - explained / (up @ up))


@pytest.mark.long
@pytest.mark.parametrize("shape", ["uniform", "exponential", "bimodal"])
def test_p_values_of_unrelated_labels_are_valid_and_with_one_bandwidth_are_not(shape):
    n, n_nulls, level, small = 200, 39, 0.05, {"ours": 0, "control": 0}
    n_sets = 100
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        landscape = landscape_of(DRAWS[shape](rng, n)[:, None], DRAWS[shape](rng, n))
        basis = np.sort(landscape.labels.basis[0])
        y = landscape.problem.y
        up = np.sort(landscape.y)
        theta = np.array([1.0 if abs(basis @ up) >= abs(basis @ up[::-1]) else -1.0])
        score = sorted_score(basis, y)
        draws = {
            "ours": UnrelatedLabels(landscape, theta).draw,
            "control": partial(one_bandwidth, y),
        }
        for name, draw in draws.items():
            nulls = np.array([sorted_score(basis, draw(rng)) for _ in range(n_nulls)])
            small[name] += (1 + np.sum(nulls <= score)) / (n_nulls + 1) <= level
    error = (level * (1.0 - level) / n_sets) ** 0.5
    assert small["ours"] / n_sets < level + 4 * error
    assert small["control"] / n_sets > level + 8 * error


def compare(landscape, seed=0):
    found = search_population(landscape, n_candidates=500, seed=seed)
    return compare_with_unrelated(landscape, found, seed=seed, report=lambda done: None)


def test_searches_for_both_are_compared_until_it_is_clear():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 2))
    y = X @ [1.0, -2.0] + 0.02 * rng.normal(size=100)
    related = compare(landscape_of(X, rng.permutation(y)))
    assert related.p_value < 0.002
    assert len(related.nulls) == DEFAULT.nulls.fewest_of_few
    unrelated = compare(landscape_of(X, rng.normal(size=100)))
    assert unrelated.p_value > 0.05
    assert np.sum(unrelated.nulls <= unrelated.score) == DEFAULT.nulls.enough_lower


def test_numbers_of_nulls_are_settings():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    small = replace(DEFAULT, nulls=NullSettings(enough_lower=2, most_of_few=5))
    assert len(compare(landscape_of(X, y, settings=small)).nulls) <= 5
    large = replace(DEFAULT, nulls=NullSettings(most_cells=10, fewest=3, most=3))
    assert len(compare(landscape_of(X, y, settings=large)).nulls) == 3
    assert compare(landscape_of(X, y)).p_value == compare(landscape_of(X, y)).p_value
