"""An audited rate in the likelihood fits: the rate is kept, its uncertainty is in the errors."""

import numpy as np
import pytest

from unshuffle import (
    Audit,
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    Streaming,
)
from unshuffle.datasets import make_shuffled_regression
from unshuffle.inference.audited_rate import parse_audit

AUDIT = Audit(checked=60, wrong=18)


@pytest.fixture(scope="module")
def data():
    return make_shuffled_regression(
        300, 2, noise=0.8, shuffle="fraction", fraction=0.3, random_state=2
    )


def new_em(rate, **settings):
    """Short chains: what is checked here holds for any length."""
    short = {"n_steps": 5_000, "max_iter": 10, "tol": 0, "random_state": 0}
    return StochasticEMRegressor(mismatch_rate=rate, **short, **settings)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_covariance_grows_by_the_shift_of_two_refits(data, fit_intercept):
    more = {"fit_intercept": fit_intercept, "covariance_type": "robust"}
    known = new_em(AUDIT.rate, **more).fit(data.X, data.y)
    audited = new_em(AUDIT, **more).fit(data.X, data.y)
    np.testing.assert_array_equal(audited.coef_, known.coef_)
    ends = [
        new_em(AUDIT.rate + sign * AUDIT.standard_error, init=known.coef_, **more)
        for sign in (-1, 1)
    ]
    low, high = (end.fit(data.X, data.y) for end in ends)
    shift = (high.coef_ - low.coef_) / 2
    if fit_intercept:
        shift = np.append((high.intercept_ - low.intercept_) / 2, shift)
    added = np.outer(shift, shift)
    assert np.linalg.norm(shift) > 0.001
    for method in ("auto", "information", "sandwich"):
        np.testing.assert_allclose(
            audited.covariance(method) - known.covariance(method), added, atol=1e-12
        )
    errors = np.sqrt(np.diag(audited.covariance_))
    np.testing.assert_allclose(audited.standard_errors_, errors)
    width = np.ptp(audited.conf_int(), axis=1) / np.ptp(known.conf_int(), axis=1)
    np.testing.assert_allclose(width, errors / known.standard_errors_)
    assert audited.mismatch_rate_se_ == AUDIT.standard_error


def test_the_default_estimator_and_passes_take_audits(data):
    def fit(rate):
        model = ShuffledRegressor(pairing="mostly-right", mismatch_rate=rate, random_state=0)
        return model.fit(data.X, data.y)

    known, audited = fit(AUDIT.rate), fit(AUDIT)
    np.testing.assert_array_equal(audited.coef_, known.coef_)
    assert (audited.standard_errors_ >= known.standard_errors_).all()
    assert audited.standard_errors_.sum() > known.standard_errors_.sum()
    groups = np.arange(300) // 10
    in_passes = [
        new_em(rate, streaming=Streaming(rows_per_part=100)).fit(data.X, data.y, groups=groups)
        for rate in (AUDIT.rate, AUDIT)
    ]
    np.testing.assert_array_equal(in_passes[0].coef_, in_passes[1].coef_)
    assert in_passes[1].standard_errors_.sum() > in_passes[0].standard_errors_.sum()


def test_the_mixture_takes_the_rate(data):
    found = [MixtureRegressor(mismatch_rate=rate).fit(data.X, data.y) for rate in (0.3, AUDIT)]
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def test_an_audit_without_wrong_links_leaves_room_for_some(data):
    model = new_em(Audit(50, 0)).fit(data.X, data.y)
    assert 0.0 < model.mismatch_rate_ < 1.0
    assert np.isfinite(model.standard_errors_).all()


def test_audits_as_text():
    assert parse_audit("21/300") == Audit(checked=300, wrong=21)
    for text in ("21", "21/", "a/b", "-1/20", "1.5/20", "21/300/2"):
        with pytest.raises(ValueError, match="such as 21/300"):
            parse_audit(text)
    with pytest.raises(ValueError, match="between 0 and checked=21, got 300"):
        parse_audit("300/21")
