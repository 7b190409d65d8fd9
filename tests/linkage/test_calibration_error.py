"""What checked links leave open of calibrated probabilities."""

import numpy as np
import pandas as pd
import pytest

from unshuffle import MomentRegressor
from unshuffle.linkage import from_pairs
from unshuffle.linkage.calibration import calibrate
from unshuffle.linkage.settings import LinkageSettings


def scored(seed, n):
    """Scores, and links that are right more often than the scores say."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.02, 0.98, size=n)
    return score, rng.random(n) < 0.5 + 0.5 * score


def linked_records(n=800, n_checked=150):
    score, right = scored(0, n)
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    own = 1.0 + 2.0 * x + rng.normal(size=n)
    other = rng.permutation(own)
    pairs = pd.DataFrame(
        {"unique_id_l": np.arange(n), "unique_id_r": np.arange(n), "match_probability": score}
    )
    left = pd.DataFrame({"unique_id": np.arange(n), "x": x})
    labels = pd.DataFrame({"unique_id": np.arange(n), "y": np.where(right, own, other)})
    checked = pairs.iloc[:n_checked][["unique_id_l", "unique_id_r"]].assign(right=right[:n_checked])
    return from_pairs(pairs, left, labels, checked=checked, calibration="platt")


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_standard_errors_are_the_spread_over_samples_of_checked_links(method):
    at = np.array([0.2, 0.5, 0.8])
    quick = LinkageSettings(folds=2, replicates=0)
    found = [calibrate(*scored(seed, 200), method, quick)(at) for seed in range(20)]
    spread = np.std(found, axis=0, ddof=1)
    few = calibrate(*scored(0, 200), method).standard_error(at)
    np.testing.assert_allclose(few.mean(), spread.mean(), rtol=0.5)
    assert few.mean() > 1.5 * calibrate(*scored(0, 1600), method).standard_error(at).mean()


def test_reliability_compares_held_out_links():
    score, right = scored(3, 1000)
    found = calibrate(score, right)
    table = found.reliability(4)
    assert table["links"].sum() == 1000
    assert np.all(np.diff(table["expected"]) > 0.0)
    assert np.abs((table["right"] - table["expected"]) / table["error"]).max() < 4.0
    # The control: the scores as given are far from the share of right links.
    share = right[score < 0.3].mean()
    assert abs(score[score < 0.3].mean() - share) > 4.0 * table["error"].max()
    with pytest.raises(ValueError, match="n_bins must lie between 1 and 1000, got 0"):
        found.reliability(0)


def test_linked_records_carry_the_error_of_the_calibration():
    linked = linked_records()
    errors = linked.match_prob_se
    assert np.all(errors[linked.known] == 0.0)
    assert np.all((errors[~linked.known] > 0.001) & (errors[~linked.known] < 0.2))
    assert 0.005 < linked.expected_wrong_se < 0.1
    assert f"(se {linked.expected_wrong_se:.1%}, by logistic regression on 150" in repr(linked)
    model = MomentRegressor().fit(linked.X, linked.y, match_prob=linked.match_prob)
    covariance = linked.calibrated_covariance(model)
    draws = [
        MomentRegressor().fit(linked.X, linked.y, match_prob=drawn)
        for drawn in linked.match_prob_draws()
    ]
    spread = np.cov([[fit.intercept_, *fit.coef_] for fit in draws], rowvar=False)
    np.testing.assert_allclose(covariance - model.covariance_, spread, rtol=1e-6)
    assert covariance[1, 1] > 1.01 * model.covariance_[1, 1]


def test_without_checked_links_there_is_no_error_to_give():
    linked = from_pairs(
        pd.DataFrame({"unique_id_l": [0, 1], "unique_id_r": [0, 1], "match_probability": 0.9}),
        pd.DataFrame({"unique_id": [0, 1], "x": [0.0, 1.0]}),
        pd.DataFrame({"unique_id": [0, 1], "y": [0.0, 1.0]}),
    )
    assert np.isnan(linked.match_prob_se).all()
    assert np.isnan(linked.expected_wrong_se)
    with pytest.raises(ValueError, match="nothing was calibrated"):
        next(linked.match_prob_draws())
