"""Numbers at the edge of double precision: right answers, or an error that names the range."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    Streaming,
    audit_release,
    check_blocks,
)
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.least_squares import LeastSquares
from unshuffle.metrics import (
    coefficient_cosine,
    coefficient_error,
    matched_mse,
    permutation_accuracy,
)
from unshuffle.search.landscape import Landscape
from unshuffle.search.nulls import match_score
from unshuffle.search.population import search_population

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 2))
clean = X @ [1.0, 2.0]
y = clean + 0.3 * rng.normal(size=N)
groups = np.arange(N) // 5
quiet = pytest.mark.filterwarnings("ignore::UserWarning")
QUICK = {"n_steps": 500, "max_iter": 5, "tol": 0, "random_state": 0}
ESTIMATORS = {
    "default": ShuffledRegressor(random_state=0, n_candidates=20),
    "default, lost": ShuffledRegressor(random_state=0, n_candidates=20, pairing="lost"),
    "chain": StochasticEMRegressor(**QUICK),
    "mismatches": StochasticEMRegressor(mismatch_rate="estimate", **QUICK),
    "sinkhorn": StochasticEMRegressor(alignment="sinkhorn", **QUICK),
    "published": StochasticEMRegressor(variant="published", **QUICK),
    "passes": StochasticEMRegressor(streaming=Streaming(rows_per_part=9), **QUICK),
    "hard": HardEMRegressor(n_init=4, random_state=0),
    "mixture": MixtureRegressor(),
    "mixture, t": MixtureRegressor(noise="t"),
}


def fit(name, X, y):
    model = ESTIMATORS[name]
    return model.fit(X, y) if isinstance(model, MixtureRegressor) else model.fit(X, y, groups)


@pytest.mark.parametrize("unit", [1e60, 1e154, 1e300, 1e-60, 1e-154, 1e-310])
@pytest.mark.parametrize("name", ["default", "passes", "hard", "mixture"])
def test_units_beyond_the_range(name, unit):
    with pytest.raises(
        ValueError, match=r"largest value of y is .* outside 1e-50 to 1e\+50; .*unit"
    ):
        fit(name, X, y * unit)
    with pytest.raises(ValueError, match=r"column 1 of X is .* outside 1e-50"):
        fit(name, X * [1.0, unit], y)


def test_units_of_blocks_and_audits():
    for call in (check_blocks, audit_release):
        with pytest.raises(ValueError, match="outside 1e-50"):
            call(X, y * 1e60, groups)


@quiet
@pytest.mark.parametrize("unit", [2.0**160, 2.0**-160])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_units_at_the_end_of_the_range(name, unit):
    """Powers of two are exact, so that only sums of different order may differ in the last bit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        here = np.array(fit(name, X, y).coef_)
        assert fit(name, X, y * unit).coef_ / unit == pytest.approx(here, rel=1e-9)
        assert fit(name, X * unit, y).coef_ * unit == pytest.approx(here, rel=1e-9)
        assert fit(name, X / unit, y * unit).coef_ / unit / unit == pytest.approx(here, rel=1e-9)


@pytest.mark.parametrize("kind", [ShuffledRegressor, StochasticEMRegressor])
@pytest.mark.parametrize("parameters", [{"temper": 1e300}, {"temper": 1e-300}, {"ridge": 1e300}])
def test_settings_beyond_the_range(kind, parameters):
    with pytest.raises(ValueError, match=r"must be .*in the range \[(1e-06|0|0.0), "):
        kind(**parameters).fit(X, y)


@quiet
def test_a_reach_beyond_the_table():
    one, two = (StochasticEMRegressor(max_shift=shift, **QUICK).fit(X, y) for shift in (N, 2**63))
    assert np.array_equal(one.coef_, two.coef_)


def swapped(labels):
    rows = np.arange(6)
    return np.concatenate([labels[np.roll(rows, 1)], labels[6:]])


@quiet
@pytest.mark.long
@pytest.mark.parametrize(
    "labels", [clean, swapped(clean), clean[::-1]], ids=["own", "some", "lost"]
)
@pytest.mark.parametrize("name", ["default", "chain", "mismatches"])
def test_labels_without_noise(name, labels):
    """A trusted fit without noise answers every further question."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = ESTIMATORS[name].fit(X, labels)
        draws = model.posterior(n_chains=2, n_draws=20, n_warmup=20)
        assert np.isfinite(draws.coef).all()
        if getattr(model, "verdict_", None) is not None and model.verdict_.level == "trust":
            assert draws.coef.mean(axis=(0, 1)) == pytest.approx([1.0, 2.0], abs=1e-3)
        assert np.isfinite(model.bootstrap(4).draws).all()
        assert "x1" in str(model.summary())
        model.suspects()
        model.noise_scale_interval()


def test_predictions_beyond_the_range():
    model = HardEMRegressor(n_init=2, random_state=0).fit(X, y, groups)
    with pytest.raises(ValueError, match="prediction of row 1 is too large"):
        model.predict([[0.0, 0.0], [1e308, 1e308]])


def test_objects_that_are_no_finite_numbers():
    for value, message in ((np.inf, "infinity"), (np.nan, "NaN"), (10**400, "not a number")):
        labels = y.astype(object)
        labels[3] = value
        with pytest.raises(ValueError, match=message):
            StochasticEMRegressor().fit(X, labels)


def test_probabilities_of_zero():
    """Where no label is a row's own, the mixture says nothing, and says so in finite numbers."""
    for noise in ("normal", "t", "mixture"):
        model = MixtureRegressor(noise=noise, max_iter=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            model.fit(X, y, match_prob=np.zeros(N))
            assert np.isfinite(model.coef_).all()
            model.fit(X, y, known=np.ones(N, dtype=bool))
        assert model.mismatch_rate_ == pytest.approx(0.0, abs=1e-3)


@quiet
def test_fitted_values_that_are_all_equal():
    """So large a ridge that nothing is left of the slopes."""
    model = ShuffledRegressor(
        ridge=1e30, pairing="lost", search="population", n_candidates=5, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert model.fit(X, 1e3 + y).verdict_.level == "reject"


def test_unrelated_labels_that_are_all_equal():
    """Drawn from labels of a few values, they have no spread to be explained."""
    problem = make_problem(
        X, (y > y.max() - 1e-9).astype(float), np.zeros(N, int), np.zeros(N, bool)
    )
    with Workers(1) as workers:
        landscape = Landscape(problem, LeastSquares(X, fit_intercept=True), workers)
        equal = landscape.with_labels(np.zeros(N))
        found = search_population(equal, n_candidates=5, seed=0)
        assert match_score(equal, found, float(found.objectives[0])) == 0.0


@quiet
def test_an_interval_of_noise_that_nothing_is_known_of():
    model = StochasticEMRegressor(**QUICK).fit(X, y, groups)
    model._found = replace(
        model._found, uncertainty=replace(model._found.uncertainty, noise_scale_se=1e4)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        low, high = model.noise_scale_interval(method="information")
    assert low == 0.0
    assert high == np.inf


def test_measures_of_large_and_small_numbers():
    for unit in (1e-300, 1.0, 1e300):
        assert coefficient_error([3.0 * unit, 0.0], [0.0, 4.0 * unit]) == pytest.approx(5.0 * unit)
        assert coefficient_cosine([unit, 0.0], [unit, unit]) == pytest.approx(0.5**0.5)
    with pytest.raises(ValueError, match="squares of the errors are too large"):
        matched_mse([1e300, 0.0], [-1e300, 5e300])
    with pytest.raises(ValueError, match="cannot be compared"):
        permutation_accuracy([], [])


def test_starting_coefficients_beyond_the_range():
    with pytest.raises(ValueError, match=r"init holds 1e\+300; .* below 1e\+100"):
        StochasticEMRegressor(init=[1e300, 0.0]).fit(X, y)


@pytest.mark.parametrize("level", [0.0, 1.0, 2.0, float("nan")])
def test_levels_that_are_no_shares(level):
    model = StochasticEMRegressor(**QUICK).fit(X, y, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        replicates = model.bootstrap(3)
    for ask in (model.summary, model.conf_int, replicates.interval):
        with pytest.raises(ValueError, match="level is a share between 0 and 1"):
            ask(level)
