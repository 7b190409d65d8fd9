"""What a repair is expected to do, against what it does."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, StochasticEMRegressor, UnshuffleWarning


def linked(noise, seed=0, n=400, share=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    ordered = X @ [1.0, -1.0] + noise * rng.normal(size=n)
    perm = np.arange(n)
    rows = np.flatnonzero(rng.permutation(n) < share * n)
    perm[rows] = np.roll(rows, 1)
    return X, ordered[perm], perm


def test_a_repair_that_loses_right_labels_warns_and_names_the_shares():
    X, y, perm = linked(0.7)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(X, y)
    expected = model.expect_repair()
    assert expected.is_worse
    with pytest.warns(UnshuffleWarning, match=r"lower the share of right labels from 0\.\d+ to 0"):
        owners = model.repair(perm)
    assert expected.moved == np.sum(owners != perm)
    assert abs(expected.before - np.mean(perm == np.arange(400))) < 0.06
    assert abs(expected.after - np.mean(owners == np.arange(400))) < 0.06
    assert np.mean(owners == np.arange(400)) < np.mean(perm == np.arange(400))


def test_a_repair_that_gains_is_silent():
    X, y, perm = linked(0.001, share=0.1)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(X, y)
    expected = model.expect_repair()
    assert not expected.is_worse
    assert expected.after > expected.before + 0.03
    owners = model.repair(perm)
    assert abs(expected.after - np.mean(owners == np.arange(400))) < 0.05


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_labels_that_came_alone_have_no_before():
    X, y, _ = linked(0.1, n=60)
    model = ShuffledRegressor(random_state=0, n_candidates=50).fit_unpaired(X, y)
    expected = model.expect_repair()
    assert np.isnan(expected.before)
    assert not expected.is_worse
    model.repair(y)
