"""Whether labels of a family show the mismatches that a fit assumes, and its errors in radii."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from unshuffle import ShuffledClassifier, ShuffledRegressor
from unshuffle.fits.glm.covariance import in_radii, observed_errors
from unshuffle.fits.glm.verdict import sign_of_mismatches


def classes(seed, slopes, n=300):
    """Yes/no labels in their own order, and the information about the slopes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    share = expit(X @ slopes)
    Z = np.column_stack([np.ones(n), X])
    information = (Z * (share * (1.0 - share))[:, None]).T @ Z
    return X, rng.random(n) < share, np.linalg.inv(np.linalg.inv(information)[1:, 1:])


@pytest.mark.long
def test_classes_in_order_are_trusted_only_near_the_fit_as_given():
    slopes = np.array([1.0, -0.5])
    levels, far = [], []
    for seed in range(20):
        X, y, information = classes(seed, slopes)
        model = ShuffledClassifier(random_state=0).fit(X, y)
        levels.append(model.verdict_.level)
        far.append(in_radii(model.coef_.ravel() - slopes, information) > 2.0)
    assert sum(far) >= 1  # the control: some fits take chance for mismatches
    assert not any(f for f, level in zip(far, levels, strict=True) if level == "trust")
    assert levels.count("trust") >= 8


def test_mismatches_that_show_are_no_reason_for_caution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.8, -0.5])).astype(float)
    y[:100] = rng.permutation(y[:100])
    model = ShuffledRegressor(family="poisson", random_state=0).fit(X, y)
    checks = {reason.check: reason for reason in model.verdict_.reasons}
    assert checks["sign of mismatches"].value < 1e-6
    assert checks["expected error"].level == "trust" and model.verdict_.level == "trust"


def test_a_sign_counts_only_where_mismatches_change_the_fit():
    X, y, _ = classes(1, [1.0, -0.5])
    found = ShuffledClassifier(random_state=0).fit(X, y)._found
    fit = replace(found, mismatch_rate=0.2, mismatch_rate_se=0.1)
    weak = replace(fit, evidence=1.0, given_distance=1.2)
    assert sign_of_mismatches(weak).level == "caution"
    assert "labels as given" in sign_of_mismatches(weak).advice
    assert sign_of_mismatches(replace(weak, evidence=20.0)).level == "trust"
    assert sign_of_mismatches(replace(weak, given_distance=0.1)).level == "trust"
    assert sign_of_mismatches(replace(weak, mismatch_rate_se=np.nan)) is None  # given, or zero


def test_errors_in_radii_have_closed_forms():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(3, 3))
    complete = root @ root.T
    radius = np.sqrt(chi2.ppf(0.95, 3))
    # Half of the information in all directions: errors are larger by the root of two.
    found = observed_errors(0.5 * complete, complete, np.ones(3, dtype=bool))
    assert found.inflation == pytest.approx(np.sqrt(2.0))
    assert found.expected_error == pytest.approx(np.sqrt(2.0 * chi2.median(3)) / radius)
    edge = radius * np.linalg.solve(np.linalg.cholesky(complete).T, [1.0, 0.0, 0.0])
    assert in_radii(edge, complete) == pytest.approx(1.0)
    nothing = observed_errors(np.zeros((3, 3)), complete, np.ones(3, dtype=bool))
    assert np.isnan(nothing.expected_error)
