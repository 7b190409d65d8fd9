"""What must not matter, does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle import HardEMRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import matched_mse

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(["exact", "published", "hard"])
few = settings(max_examples=12, deadline=None)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data_of(seed):
    return make_shuffled_regression(
        60, 3, noise=0.4, shuffle="groups", n_groups=10, random_state=seed
    )


def fit(kind, X, y, groups, known=None, **parameters):
    model = (
        HardEMRegressor(n_init=4, random_state=0, **parameters)
        if kind == "hard"
        else StochasticEMRegressor(
            variant=kind, n_steps=3000, tol=0, max_iter=5, random_state=0, **parameters
        )
    )
    return model.fit(X, y, groups=groups, known=known)


@quiet
@few
@given(seeds, kinds, st.sampled_from([-3, 5, 10]), st.booleans())
def test_scale_of_the_labels(seed, kind, exponent, fit_intercept):
    """Scaling by a power of two is exact in floating point, so the answer scales exactly."""
    data, scale = data_of(seed), 2.0**exponent
    one = fit(kind, data.X, data.y, data.groups, fit_intercept=fit_intercept)
    two = fit(kind, data.X, scale * data.y, data.groups, fit_intercept=fit_intercept)
    assert np.array_equal(two.coef_, scale * one.coef_)
    assert two.noise_scale_ == scale * one.noise_scale_
    assert np.array_equal(two.permutation_, one.permutation_)


@quiet
@few
@given(seeds, kinds, st.floats(-100, 100))
def test_shift_of_the_labels(seed, kind, shift):
    data = data_of(seed)
    one = fit(kind, data.X, data.y, data.groups)
    two = fit(kind, data.X, data.y + shift, data.groups)
    np.testing.assert_allclose(two.coef_, one.coef_, atol=1e-8)
    assert two.intercept_ == pytest.approx(one.intercept_ + shift, abs=1e-8)


@quiet
@few
@given(seeds, kinds)
def test_order_and_units_of_the_columns(seed, kind):
    data = data_of(seed)
    order, units = [2, 0, 1], np.array([1.0, 1000.0, 1e-3])
    one = fit(kind, data.X, data.y, data.groups)
    two = fit(kind, (data.X * units)[:, order], data.y, data.groups)
    np.testing.assert_allclose(two.coef_, (one.coef_ / units)[order], rtol=1e-6, atol=1e-10)


@quiet
@few
@given(seeds, kinds)
def test_names_of_groups_and_order_of_whole_groups_in_the_table(seed, kind):
    data = data_of(seed)
    blocks = np.argsort(data.groups, kind="stable")  # sorted, so that first appearance is the same
    one = fit(kind, data.X[blocks], data.y[blocks], data.groups[blocks])
    names = np.array([f"zone {9 - g}" for g in data.groups])[blocks]
    two = fit(kind, data.X[blocks], data.y[blocks], names)
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.expected_labels_, two.expected_labels_)


@quiet
@few
@given(seeds)
def test_order_inside_groups_is_forgotten_by_hard_em(seed):
    """From given coefficients, hard EM cannot see how labels are ordered inside a group."""
    data = data_of(seed)
    order = np.lexsort([np.random.default_rng(seed).random(60), data.groups])
    blocks = np.argsort(data.groups, kind="stable")
    start = data.coef + 0.3
    ends = [
        min(fit("hard", data.X[blocks], data.y[o], data.groups[blocks], init=start)
            .restart_objectives_[1:2])
        for o in (blocks, order)
    ]  # fmt: skip
    assert ends[0] == pytest.approx(ends[1], rel=1e-10)


@quiet
@few
@given(seeds, kinds)
def test_permutation_and_expected_labels_belong_to_the_rows(seed, kind):
    data = data_of(seed)
    known = np.random.default_rng(seed).random(60) < 0.2
    model = fit(kind, data.X, data.y, data.groups, known)
    assert sorted(model.permutation_) == list(range(60))
    assert np.array_equal(data.groups[model.permutation_], data.groups)
    assert np.array_equal(model.permutation_[known], np.flatnonzero(known))
    assert np.array_equal(model.expected_labels_[known], data.y[known])
    for g in range(10):
        inside = data.groups == g
        assert model.expected_labels_[inside].sum() == pytest.approx(data.y[inside].sum())
    if not known.any():
        matched = np.mean((data.y[model.permutation_] - model.predict(data.X)) ** 2)
        assert matched == pytest.approx(matched_mse(data.y, model.predict(data.X), data.groups))


@quiet
@few
@given(seeds)
def test_the_winning_descent_is_the_lowest_restart(seed):
    data = data_of(seed)
    model = fit("hard", data.X, data.y, data.groups)
    assert len(model.restart_objectives_) == model.n_init_ == 4
    assert model.objective_path_[-1] == pytest.approx(model.restart_objectives_.min(), rel=1e-9)
    assert np.all(np.diff(model.objective_path_) <= 1e-9)
    residual = data.y[model.permutation_] - model.predict(data.X)
    assert residual @ residual == pytest.approx(model.restart_objectives_.min(), rel=1e-9)


@quiet
def test_little_noise_turns_stochastic_em_into_hard_em():
    data = make_shuffled_regression(
        80, 2, noise=1e-6, shuffle="groups", n_groups=20, random_state=3
    )
    hard = fit("hard", data.X, data.y, data.groups)
    soft = StochasticEMRegressor(init=data.coef, tol=0, max_iter=20, random_state=0)
    soft.fit(data.X, data.y, groups=data.groups)
    np.testing.assert_allclose(soft.coef_, hard.coef_, atol=1e-6)
    assert np.array_equal(soft.permutation_, hard.permutation_)
    assert np.array_equal(soft.permutation_, data.permutation)
