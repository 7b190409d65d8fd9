"""Units, zero, names and order of columns change the units of an answer, and nothing else."""

import numpy as np
import pytest
from benchmarks import equivariance as eq

from unshuffle import MixtureRegressor, ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares

# A share of a standard error: what rounding may change.
ROUNDING = 1e-8
cases = pytest.mark.parametrize("name", eq.CASES)
deterministic = [name for name, case in eq.CASES.items() if not case.draws]


def everything(data):
    """Other units of labels and of each column, another zero, order of columns and names."""
    data = eq.labels_times(eq.labels_plus(data, 100.0), 1e-8)
    data = eq.features_times(data, 10.0 ** np.array([-8.0, 8.0, 0.0])[: len(data.units)])
    order = np.arange(len(data.units))[::-1]
    units, data = data.units, eq.columns_in(data, order)
    return eq.renamed(data._replace(units=units))


@pytest.fixture(scope="module")
def fits():
    """The original fit of each case, made once."""
    return {}


def change(fits, name, transform):
    case = eq.CASES[name]
    data = case.data()
    if name not in fits:
        fits[name] = case.fit(data)
    return eq.compare(case, data, fits[name], transform)


@pytest.mark.long
@cases
def test_units_zero_names_and_order_of_columns(fits, name):
    found = change(fits, name, everything)
    assert found.errors < ROUNDING
    assert found.same_verdict


@pytest.mark.long
@cases
def test_a_constant_column(fits, name):
    found = change(fits, name, eq.TRANSFORMS["constant column"])
    assert found.errors < ROUNDING
    assert found.same_verdict


@pytest.mark.long
@pytest.mark.parametrize("name", [*deterministic, "default, order kept"])
def test_order_of_rows_where_nothing_is_drawn(fits, name):
    found = change(fits, name, eq.TRANSFORMS["order of rows"])
    assert found.errors < ROUNDING
    assert found.same_verdict


@pytest.mark.long
@pytest.mark.parametrize("name", ["default, groups", "default, 15 % mismatches", "mixture, normal"])
def test_a_repeated_column(fits, name):
    found = change(fits, name, eq.TRANSFORMS["duplicated column"])
    assert found.errors < ROUNDING
    assert found.same_verdict


@pytest.mark.parametrize("share", [0.2, 0.4])
@pytest.mark.parametrize("shift", [1e2, 1e4, 1e6])
def test_sinkhorn_does_not_see_where_zero_is(share, shift):
    """Rows of the plan add up to one only to 1e-4, which labels far from zero must not multiply."""
    data = make_shuffled_regression(
        200, 1, noise=0.3, shuffle="fraction", fraction=share, random_state=1
    )
    model = StochasticEMRegressor(alignment="sinkhorn", mismatch_rate="estimate", random_state=0)
    here = model.fit(data.X, data.y).coef_
    assert model.fit(data.X, data.y + shift).coef_ == pytest.approx(here, rel=1e-6)


def test_mostly_right_fits_that_start_from_sinkhorn():
    """With more than 35 % of mismatches the default estimator starts there."""
    data = make_shuffled_regression(
        200, 1, noise=0.3, shuffle="fraction", fraction=0.45, random_state=2
    )
    here, far = (
        ShuffledRegressor(random_state=0).fit(data.X, data.y + shift) for shift in (0.0, 1e6)
    )
    assert here.mismatch_rate_ > 0.35
    assert far.coef_ == pytest.approx(here.coef_, rel=1e-6)
    assert far.verdict_.level == here.verdict_.level


@pytest.mark.parametrize("noise", ["normal", "t", "mixture"])
@pytest.mark.parametrize("unit", [1e-40, 1e-8, 1e8, 1e40])
def test_units_of_a_mixture(noise, unit):
    """Floors and tolerances are shares of the labels' spread, and columns have units of their own."""
    data = make_shuffled_regression(
        150, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=3
    )
    one = MixtureRegressor(noise=noise).fit(data.X, data.y)
    two = MixtureRegressor(noise=noise).fit(data.X, unit * data.y)
    three = MixtureRegressor(noise=noise).fit(data.X * [unit, 1.0], data.y)
    assert two.coef_ / unit == pytest.approx(one.coef_, rel=1e-9)
    assert two.match_proba_ == pytest.approx(one.match_proba_, abs=1e-9)
    assert three.coef_ * [unit, 1.0] == pytest.approx(one.coef_, rel=1e-9)


def test_from_coefficients_to_coordinates_and_back():
    """Columns in units far apart are not taken for rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * [1e-12, 1.0, 1e12]
    solver = LeastSquares(X, fit_intercept=True)
    np.testing.assert_allclose(solver.to_theta @ solver.to_coef, np.eye(3), atol=1e-12)
