"""Labels without noise and labels far out, in fits of families: answers, and no odd warnings."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor

QUIET = pytest.mark.filterwarnings(
    "ignore::unshuffle.UnidentifiableWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


@QUIET
@pytest.mark.parametrize("seed", [12, 20])
def test_labels_without_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 1)), np.ones(12)
    y[1] = np.exp(3.0)
    model = ShuffledRegressor(family="gamma", pairing="mostly-right")
    model.fit(
        X, y, groups=rng.integers(0, 4, 12), known=np.arange(12) == 10,
        match_prob=np.full(12, 0.5), exposure=y,
    )  # fmt: skip
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)


@QUIET
@pytest.mark.parametrize("seed", [8, 9])
def test_trial_steps_that_go_too_far_are_not_warned_of(seed):
    X, y = np.random.default_rng(seed).normal(size=(20, 3)), np.ones(20)
    y[1] = 20.0
    model = ShuffledRegressor(pairing="mostly-right")
    model.fit(X, y, groups=np.arange(20) % 3, sample_weight=y)
    assert np.isfinite(model.coef_).all()
