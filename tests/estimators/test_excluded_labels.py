"""A match probability of 0 excludes the label beside a row, whatever the data say."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor


@pytest.fixture(scope="module")
def ordered():
    """Labels in order, in groups of five, with hardly any noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, X @ [2.0, -1.0] + 0.05 * rng.normal(size=60), np.arange(60) // 5


@pytest.mark.parametrize("alignment", ["chain", "exact", "sinkhorn"])
def test_a_label_that_fits_well_is_moved_all_the_same(ordered, alignment):
    X, y, groups = ordered
    prob = np.full(60, 0.95)
    prob[[3, 30]] = 0.0
    model = StochasticEMRegressor(mismatch_rate=0.05, alignment=alignment, random_state=0)
    model.fit(X, y, groups, match_prob=prob)
    assert (model.match_proba_[[3, 30]] < 1e-6).all()
    assert np.median(model.match_proba_) > 0.99
    assert (model.permutation_[[3, 30]] != [3, 30]).all()
    assert sorted(model.permutation_) == list(range(60))
    assert (groups[model.permutation_] == groups).all()
    # One other row of each of the two groups takes the label.
    assert np.sum(model.permutation_ != np.arange(60)) == 4


def test_a_small_probability_excludes_nothing(ordered):
    X, y, groups = ordered
    prob = np.full(60, 0.95)
    prob[3] = 1e-3
    model = StochasticEMRegressor(mismatch_rate=0.05, random_state=0)
    model.fit(X, y, groups, match_prob=prob)
    assert model.permutation_[3] == 3


def test_the_chain_agrees_with_enumeration(ordered):
    """Where noise leaves several rows that may take the label."""
    X, y, groups = ordered
    noisy = y + np.random.default_rng(1).normal(size=60)
    prob = np.full(60, 0.8)
    prob[::7] = 0.0
    fits = [
        StochasticEMRegressor(
            mismatch_rate=0.2, alignment=alignment, max_iter=5, tol=0.0, n_steps=20_000,
            random_state=0,
        ).fit(X, noisy, groups, match_prob=prob)
        for alignment in ("chain", "exact")
    ]  # fmt: skip
    assert np.abs(fits[0].coef_ - fits[1].coef_).max() < 0.05
    assert np.abs(fits[0].match_proba_ - fits[1].match_proba_).max() < 0.1
    assert np.abs(fits[0].expected_labels_ - fits[1].expected_labels_).max() < 0.2
    assert fits[0].match_proba_[::7].max() < 1e-6
