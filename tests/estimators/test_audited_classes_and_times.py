"""An audited rate of mismatches in fits of yes/no labels and of times."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from surface.shell import call, write
from unshuffle import Audit, ShuffledClassifier, ShuffledCoxRegressor, StochasticEMRegressor

AUDIT = Audit(checked=50, wrong=15)
N = 250


def linked(kind):
    """Labels of a third of the rows go in a circle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    score = X @ [1.5, -1.0]
    if kind is ShuffledClassifier:
        y = (rng.random(N) < 1 / (1 + np.exp(-score))).astype(float)
    else:
        time = rng.exponential(np.exp(-score))
        y = np.column_stack([time < 3, np.minimum(time, 3)])
    moved = rng.permutation(N)[: int(0.3 * N)]
    y[moved] = y[np.roll(moved, 1)]
    return X, y


def values(model):
    """What the covariance is about; Cox's model has no intercept."""
    first = [] if isinstance(model, ShuffledCoxRegressor) else [model.intercept_]
    return np.append(first, model.coef_)


@pytest.fixture(scope="module", params=[ShuffledClassifier, ShuffledCoxRegressor])
def fits(request):
    """The audited fit, and fits at its rate and one standard error on either side."""
    X, y = linked(request.param)
    rates = [AUDIT, *(AUDIT.rate + sign * AUDIT.standard_error for sign in (-1, 0, 1))]
    return [request.param(pairing="mostly-right", mismatch_rate=rate).fit(X, y) for rate in rates]


def test_the_covariance_grows_by_the_shift_of_two_refits(fits):
    audited, low, known, high = fits
    np.testing.assert_array_equal(audited.coef_, known.coef_)
    shift = (values(high) - values(low)) / 2
    assert np.abs(shift).max() > 0.02
    added = np.outer(shift, shift)
    np.testing.assert_allclose(audited.covariance_ - known.covariance_, added, atol=1e-6)
    robust = audited.covariance("sandwich") - known.covariance("sandwich")
    np.testing.assert_allclose(robust, added, atol=1e-6)
    assert audited.mismatch_rate_se_ == AUDIT.standard_error
    width = np.ptp(audited.conf_int(), axis=1) / np.ptp(known.conf_int(), axis=1)
    assert np.all(width >= 1.0)
    assert width.max() > 1.05
    assert "(se 0.065)" in str(audited.summary())


def test_the_bootstrap_draws_the_audit_again(fits):
    audited, _, known, _ = fits
    drawn, fixed = (model.bootstrap(12, random_state=0) for model in (audited, known))
    assert np.ptp(drawn.mismatch_rate_draws) > 2 * AUDIT.standard_error
    low, high = drawn.mismatch_rate_interval(0.8)
    assert low < AUDIT.rate < high
    slopes = [np.abs(result.draws).max(axis=1) for result in (drawn, fixed)]
    # A higher rate makes steeper slopes.
    assert np.corrcoef(slopes[0] - slopes[1], drawn.mismatch_rate_draws)[0, 1] > 0.3


def test_match_probabilities_take_the_place_of_an_audit(fits):
    kind = type(fits[0])
    X, y = linked(kind)
    prob = np.full(N, 0.8)
    models = [kind(mismatch_rate=rate).fit(X, y, match_prob=prob) for rate in (AUDIT, "estimate")]
    np.testing.assert_array_equal(models[0].covariance_, models[1].covariance_)
    assert np.isnan(models[0].mismatch_rate_se_)


@pytest.mark.parametrize("kind", [ShuffledClassifier, ShuffledCoxRegressor])
def test_audits_are_parameters_like_others(kind):
    model = clone(kind(mismatch_rate=AUDIT))
    assert model.mismatch_rate == AUDIT
    with pytest.raises(ValueError, match="'mismatch_rate' parameter"):
        kind(mismatch_rate={"a": AUDIT}).fit(*linked(kind))


def test_an_audit_on_the_command_line_reaches_families(tmp_path):
    X, y = linked(ShuffledClassifier)
    model = ShuffledClassifier(pairing="mostly-right", mismatch_rate=AUDIT).fit(X, y)
    path = write(tmp_path / "t.csv", a=X[:, 0], b=X[:, 1], ill=y.astype(int))
    options = ("-y", "ill", "--family", "bernoulli")
    done = call("fit", path, *options, "--audit", "15/50", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["pairing"] == "mostly-right"
    assert found["settings"]["audit"] == "15/50"
    assert found["coefficients"]["a"]["unshuffle"]["coef"] == pytest.approx(model.coef_[0])
    error = found["coefficients"]["a"]["unshuffle"]["std err"]
    assert error == pytest.approx(model.standard_errors_[1])
    done = call("fit", path, *options, "--audit", "a=15/50")
    assert done.exit_code == 2
    assert "rates per stratum are for normal labels" in done.stderr


def test_a_stratum_whose_checked_links_are_all_wrong():
    """Three of three: the rate is moved off 1, as for one audit of all rows."""
    rng = np.random.default_rng(0)
    X, strata = rng.normal(size=(60, 1)), np.repeat(["a", "b"], 30)
    rates = {"a": Audit(3, 3), "b": 0.1}
    model = StochasticEMRegressor(
        mismatch_rate=rates, n_steps=2000, max_iter=5, tol=0, random_state=0
    )
    model.fit(X, X[:, 0] + 0.1 * rng.normal(size=60), strata=strata)
    assert np.isfinite(model.standard_errors_).all()
