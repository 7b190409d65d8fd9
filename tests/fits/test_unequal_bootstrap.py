"""Bootstrap of fits to rows without labels and labels without rows."""

import pickle

import numpy as np
import pytest

from unshuffle import ShuffledRegressor
from unshuffle.data.unequal import make_unequal_problem
from unshuffle.inference.unequal_bootstrap import draw_groups, draw_pairs


def two_tables(seed, n_groups=40, size=8, noise=0.2):
    rng = np.random.default_rng(seed)
    n = n_groups * size
    X, groups = rng.normal(size=(n, 2)), np.arange(n) // size
    y = 3.0 + X @ [1.0, -2.0] + noise * rng.normal(size=n)
    rows, labels = rng.random((2, n)) >= 0.1
    return X[rows], y[labels], groups[rows], groups[labels]


@pytest.fixture(scope="module")
def model():
    return ShuffledRegressor(random_state=0).fit_unpaired(*two_tables(0), unmatched="model")


@pytest.mark.parametrize("resample", ["labels", "groups"])
def test_replicates_spread_like_the_standard_errors(model, resample):
    found = model.bootstrap(40, resample=resample)
    ratio = found.standard_errors / model.standard_errors_
    assert np.all((ratio > 0.6) & (ratio < 1.6))
    low, high = found.interval().T
    assert np.all((low < [3.0, 1.0, -2.0]) & (high > [3.0, 1.0, -2.0]))
    low, high = found.match_share_interval()
    assert 0.0 < low < model.match_share_ + 0.03
    assert low < 0.9 < high + 0.05
    assert found.n_boot == 40
    assert len(np.unique(found.draws[:, 1])) == 40


def test_a_seed_has_one_answer_on_any_number_of_threads(model):
    one, two = model.bootstrap(5, n_jobs=1), model.bootstrap(5, n_jobs=2)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert np.any(model.bootstrap(5, random_state=1).draws != one.draws)


def test_conf_int_takes_the_bootstrap(model):
    interval = model.conf_int(level=0.8, method="bootstrap", n_boot=12, resample="groups")
    assert interval.shape == (3, 2)
    assert np.all(interval[:, 0] < interval[:, 1])


def test_what_cannot_be_resampled_is_refused(model):
    with pytest.raises(ValueError, match="resample must be 'labels' or 'groups'"):
        model.bootstrap(5, resample="rows")
    few = ShuffledRegressor(random_state=0).fit_unpaired(*two_tables(0, 5), unmatched="model")
    with pytest.raises(ValueError, match="there are 5, fewer than 20"):
        few.bootstrap(5, resample="groups")
    loaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="loaded from a file"):
        loaded.bootstrap(5)
    X = two_tables(0)[0]
    equal = ShuffledRegressor(random_state=0).fit(X[:100], X[:100] @ [1.0, 2.0])
    with pytest.raises(ValueError, match="for fits with unmatched='model'"):
        equal.bootstrap(5, resample="groups")


def test_pairs_are_drawn_by_the_model_given_both_counts():
    """Two rows and one label: the label is a row's with odds 2 share / ((1 - share) strangers)."""
    n = 2000
    rows, labels = np.repeat(np.arange(n), 2), np.arange(n)
    problem = make_unequal_problem(np.zeros((2 * n, 1)), np.zeros(n), rows, labels)
    share = 0.3  # then 0.5 - 0.3 strangers for each row
    drawn = draw_pairs(problem, share, np.random.default_rng(0))
    odds = 2 * share * (1 - share) / ((1 - share) ** 2 * 0.2 * 2)
    assert drawn.mean() == pytest.approx(odds / (1 + odds), abs=0.04)


def test_groups_are_drawn_whole():
    problem = make_unequal_problem(
        np.arange(10.0)[:, None], np.arange(9.0), np.repeat([0, 1, 2], [3, 3, 4]),
        np.repeat([0, 1, 2], [4, 3, 2]), np.array([9]), np.array([8]),
    )  # fmt: skip
    drawn = draw_groups(problem, np.random.default_rng(1))
    assert (drawn.n_groups, drawn.n_known) == (3, 1)
    assert drawn.n_rows == len(drawn.X)
    assert drawn.n_labels == len(drawn.y)
    for g in range(3):
        rows = drawn.X[slice(*drawn.row_starts[g : g + 2]), 0]
        source = int(rows[0] // 3)
        first, last = problem.row_starts[source : source + 2]
        np.testing.assert_array_equal(rows, problem.X[first:last, 0])
        first, last = problem.label_starts[source : source + 2]
        labels = drawn.y[slice(*drawn.label_starts[g : g + 2])]
        np.testing.assert_array_equal(labels, problem.y[first:last])
