"""Rates of mismatches per stratum in likelihood fits, known or audited."""

import numpy as np
import pandas as pd
import pytest

from unshuffle import (
    Audit,
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    Streaming,
)

RATES = {"north": Audit(checked=60, wrong=24), "south": Audit(checked=80, wrong=8), "sea": 0.05}


def linked(seed, n=300, noise=0.6):
    """Labels exchanged at the rate of their stratum, anywhere in the file."""
    rng = np.random.default_rng(seed)
    X, strata = rng.normal(size=(n, 2)), rng.choice(list(RATES), size=n)
    y = 1.0 + X @ [1.0, -0.5] + noise * rng.normal(size=n)
    rate = np.array([0.4 if s == "north" else 0.1 if s == "south" else 0.05 for s in strata])
    moved = np.flatnonzero(rng.random(n) < rate)
    y[moved] = y[np.roll(moved, 1)]
    return X, y, strata


def match_prob_of(strata, **changed):
    rates = {"north": 0.4, "south": 0.1, "sea": 0.05} | changed
    return 1.0 - np.array([rates[s] for s in strata])


def new_em(rate=None, **settings):
    """Short chains: what is checked here holds for any length."""
    short = {"n_steps": 5_000, "max_iter": 10, "tol": 0, "random_state": 0}
    return StochasticEMRegressor(mismatch_rate=rate, **short, **settings)


@pytest.fixture(scope="module")
def data():
    return linked(0)


def test_every_audited_stratum_adds_the_shift_of_two_refits(data):
    X, y, strata = data
    known = new_em().fit(X, y, match_prob=match_prob_of(strata))
    audited = new_em(RATES).fit(X, y, strata=strata)
    np.testing.assert_array_equal(audited.coef_, known.coef_)
    np.testing.assert_array_equal(audited.match_proba_, known.match_proba_)
    added = np.zeros((3, 3))
    for name in ("north", "south"):
        step = RATES[name].standard_error
        ends = [
            new_em(init=known.coef_).fit(
                X, y, match_prob=match_prob_of(strata, **{name: RATES[name].rate + sign * step})
            )
            for sign in (-1, 1)
        ]
        values = [np.append(end.intercept_, end.coef_) for end in ends]
        shift = (values[1] - values[0]) / 2
        added += np.outer(shift, shift)
    assert np.linalg.norm(added) > 1e-6
    np.testing.assert_allclose(audited.covariance_ - known.covariance_, added, atol=1e-12)
    shares = {name: np.mean(strata == name) for name in RATES}
    expected = np.hypot(*(shares[k] * RATES[k].standard_error for k in ("north", "south")))
    assert audited.mismatch_rate_se_ == pytest.approx(expected)


def test_rates_that_are_known_add_nothing(data):
    X, y, strata = data
    given = {"north": 0.4, "south": 0.1, "sea": 0.05}
    known = new_em().fit(X, y, match_prob=match_prob_of(strata))
    by_stratum = new_em(given).fit(X, y, strata=strata)
    np.testing.assert_array_equal(by_stratum.coef_, known.coef_)
    np.testing.assert_array_equal(by_stratum.covariance_, known.covariance_)
    np.testing.assert_equal(by_stratum.mismatch_rate_se_, known.mismatch_rate_se_)


def test_the_default_estimator_takes_strata_and_says_what_they_mean(data):
    X, y, strata = (values[:120] for values in data)
    known = ShuffledRegressor(random_state=0).fit(X, y, match_prob=match_prob_of(strata))
    model = ShuffledRegressor(mismatch_rate=RATES, random_state=0)
    model.fit(pd.DataFrame(X, columns=["a", "b"]), pd.Series(y), strata=pd.Series(strata))
    np.testing.assert_array_equal(model.coef_, known.coef_)
    assert (model.standard_errors_ >= known.standard_errors_).all()
    assert model.standard_errors_.sum() > known.standard_errors_.sum()
    assert model.pairing_ == "mostly-right"
    lost = ShuffledRegressor(mismatch_rate=RATES, pairing="lost", random_state=0)
    with pytest.raises(ValueError, match="a mismatch_rate per stratum means that the order"):
        lost.fit(X, y, strata=strata)


def test_strata_are_the_groups_where_none_are_given():
    X, y, _ = linked(1)
    groups = np.repeat(["a", "b"], 150)
    model = new_em({"a": Audit(50, 10), "b": 0.1}).fit(X, y, groups=groups)
    known = new_em().fit(X, y, groups=groups, match_prob=np.repeat([0.8, 0.9], 150))
    np.testing.assert_array_equal(model.coef_, known.coef_)
    # Rows of both groups in turn, which are arranged before they are fitted.
    mixed = np.tile([0, 150], 150) + np.repeat(np.arange(150), 2)
    again = new_em({"a": Audit(50, 10), "b": 0.1}).fit(X[mixed], y[mixed], groups=groups[mixed])
    prob = np.repeat([0.8, 0.9], 150)[mixed]
    known = new_em().fit(X[mixed], y[mixed], groups=groups[mixed], match_prob=prob)
    np.testing.assert_array_equal(again.coef_, known.coef_)


def test_the_mixture_takes_the_rates(data):
    X, y, strata = data
    known = MixtureRegressor().fit(X, y, match_prob=match_prob_of(strata))
    model = MixtureRegressor(mismatch_rate=RATES).fit(X, y, strata=strata)
    np.testing.assert_array_equal(model.coef_, known.coef_)
    one = MixtureRegressor(mismatch_rate=0.2).fit(X, y)
    assert np.any(one.coef_ != model.coef_)


def test_what_does_not_go_together_is_refused(data):
    X, y, strata = data
    for refused, message in (
        (lambda: new_em(RATES).fit(X, y), "give groups or strata"),
        (lambda: new_em(0.2).fit(X, y, strata=strata), "strata are for a mismatch_rate per"),
        (lambda: new_em(RATES).fit(X, y, strata=strata, match_prob=strata == "sea"), "match_prob"),
        (lambda: new_em(RATES).fit(X, y, strata=strata, match_features=X), "match_features"),
        (lambda: new_em({"north": 0.1}).fit(X, y, strata=strata), "no rate for 2 of 3 strata"),
        (lambda: new_em(RATES).fit(X, y, strata=strata[:9]), "strata"),
        (
            lambda: new_em({**RATES, "sea": "few"}).fit(X, y, strata=strata),
            "must be a number or an Audit, got 'few'",
        ),
        (
            lambda: new_em(RATES, streaming=Streaming()).fit(X, y, groups=strata),
            "rates per stratum are not for data that are read in passes",
        ),
        (
            lambda: ShuffledRegressor(mismatch_rate=RATES).fit(X, y, strata, unmatched="model"),
            "not for unmatched='model'",
        ),
        (
            lambda: ShuffledRegressor(mismatch_rate=RATES, family="poisson").fit(X, abs(y), strata),
            "a mismatch_rate per stratum is for family='normal'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
