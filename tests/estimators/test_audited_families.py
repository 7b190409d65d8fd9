"""An audited rate in fits of other families: the rate is kept, its uncertainty is in the errors."""

import numpy as np
import pytest

from unshuffle import Audit, MixtureRegressor, ShuffledRegressor

AUDIT = Audit(checked=50, wrong=15)


def linked(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.poisson(np.exp(0.5 + X @ [0.6, -0.4])).astype(float)
    moved = rng.permutation(n)[: int(0.3 * n)]
    y[moved] = y[np.roll(moved, 1)]
    return X, y


@pytest.mark.parametrize("make", [ShuffledRegressor, MixtureRegressor])
def test_the_covariance_grows_by_the_shift_of_two_refits(make):
    X, y = linked()
    audited = make(family="poisson", mismatch_rate=AUDIT).fit(X, y)
    fits = [
        make(family="poisson", mismatch_rate=AUDIT.rate + sign * AUDIT.standard_error).fit(X, y)
        for sign in (-1, 0, 1)
    ]
    low, known, high = fits
    np.testing.assert_allclose(audited.coef_, known.coef_, rtol=1e-12)
    shift = (np.append(high.intercept_, high.coef_) - np.append(low.intercept_, low.coef_)) / 2
    assert np.abs(shift).max() > 0.005
    np.testing.assert_allclose(
        audited.covariance_ - known.covariance_, np.outer(shift, shift), atol=1e-8
    )
    assert audited.mismatch_rate_se_ == AUDIT.standard_error
    width = np.ptp(audited.conf_int(), axis=1) / np.ptp(known.conf_int(), axis=1)
    assert np.all(width >= 1.0)
    assert width.max() > 1.02


def test_without_a_use_of_the_order_an_audit_adds_nothing():
    X, y = linked()
    fits = [
        ShuffledRegressor(family="poisson", pairing="known", mismatch_rate=rate).fit(X, y)
        for rate in (0.3, AUDIT)
    ]
    np.testing.assert_array_equal(fits[0].covariance_, fits[1].covariance_)
