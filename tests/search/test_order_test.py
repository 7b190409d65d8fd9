"""The test of the order given: its p-values are uniform where labels are shuffled."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor
from unshuffle.data.groups import encode_groups
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.estimators._seeding import seed_from
from unshuffle.families.least_squares import LeastSquares
from unshuffle.search import order_test
from unshuffle.search.settings import OrderTestSettings

N_SETS, LEVELS = 400, np.array([0.01, 0.05, 0.2, 0.5, 0.8])


def p_value(X, y, groups, seed, **settings):
    problem = make_problem(X, y, encode_groups(groups, len(y)), np.zeros(len(y), dtype=bool))
    return order_test.order_p_value(problem, LeastSquares(X, fit_intercept=True), seed, **settings)


def excess(p_values):
    """How far the shares below each level are from the level, in standard errors."""
    shares = np.mean(np.array(p_values)[:, None] < LEVELS, axis=0)
    return (shares - LEVELS) / np.sqrt(LEVELS * (1 - LEVELS) / len(p_values))


@pytest.mark.long
def test_shuffled_labels_have_uniform_p_values():
    p_values = []
    for seed in range(N_SETS):
        data = make_shuffled_regression(60, 3, noise=1.0, shuffle="groups", random_state=seed)
        p_values.append(p_value(data.X, data.y, data.groups, seed))
    assert np.abs(excess(p_values)).max() < 4.5


@pytest.mark.long
def test_a_fifth_of_the_labels_in_place_is_seen():
    """The control: the same check fails where the order carries a little information."""
    p_values, group = [], np.zeros(60, dtype=int)
    for seed in range(N_SETS):
        data = make_shuffled_regression(
            60, 3, noise=1.0, shuffle="fraction", fraction=0.8, random_state=seed
        )
        p_values.append(p_value(data.X, data.y, group, seed))
    assert excess(p_values).max() > 4.5


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_the_default_estimator_reports_this_p_value():
    data = make_shuffled_regression(60, 3, noise=1.0, shuffle="groups", random_state=0)
    model = ShuffledRegressor(search="none", random_state=0).fit(data.X, data.y, data.groups)
    assert model.pairing_pvalue_ == p_value(data.X, data.y, data.groups, seed_from(0))


def test_large_tables_need_few_shuffles_where_the_order_is_beyond_doubt(monkeypatch):
    own = OrderTestSettings(large=1_000)
    rng, tried = np.random.default_rng(0), []
    X = rng.normal(size=(3_000, 3))
    y = X @ [1.0, 2.0, 0.5] + 0.3 * rng.normal(size=3_000)
    compare = order_test.p_value_from
    monkeypatch.setattr(
        order_test, "p_value_from", lambda *args: tried.append(args[3]) or compare(*args)
    )
    for labels in (y, rng.permutation(y)):
        found = p_value(X, labels, np.zeros(3_000, dtype=int), 0, settings=own)
        assert (found < own.beyond_doubt) == (labels is y)
    assert tried == [own.few_shuffles, own.few_shuffles, own.shuffles]
