"""Labels in known order: every family equals statsmodels, coefficients and standard errors."""

import numpy as np
import pytest
import statsmodels.api as sm
from benchmarks.families import grouped
from scipy.stats import nbinom

from unshuffle.data.problem import make_problem
from unshuffle.families.catalogue import FAMILIES
from unshuffle.families.cox import Times, check_times, concordance
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.known import fit_known, fit_known_times

N = 300
SLOPES = np.array([0.8, -0.5, 0.2])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)) * [1.0, 10.0, 0.01] + [0.0, 5.0, 2.0]
    coef = SLOPES / [1.0, 10.0, 0.01]
    offset = 0.3 * rng.normal(size=N)
    weights = rng.integers(1, 4, size=N).astype(float)
    return X, (X - X.mean(axis=0)) @ coef + 0.3, offset, weights


def given(X, y, **more):
    problem = make_problem(X, y, np.zeros(len(y), dtype=int), np.ones(len(y), dtype=bool))
    return arrange_data(problem, **more)


def natural(data, known):
    values = data.design.to_natural @ known.theta
    return values, np.sqrt(np.diag(data.design.covariance(known.covariance)))


PEERS = {
    "normal": sm.families.Gaussian,
    "bernoulli": sm.families.Binomial,
    "poisson": sm.families.Poisson,
    "gamma": lambda: sm.families.Gamma(sm.families.links.Log()),
}


@pytest.mark.parametrize("name", PEERS)
def test_glm_equals_statsmodels(name, rows):
    X, eta, offset, weights = rows
    family = FAMILIES[name]
    y = family.simulate(eta + offset, 4.0, np.random.default_rng(1))
    data = given(X, y, fit_intercept=True, offset=offset, sample_weight=weights)
    known = fit_known(data, family)
    peer = sm.GLM(
        y, sm.add_constant(X), family=PEERS[name](), offset=offset, freq_weights=weights
    ).fit(tol=1e-14, maxiter=200)
    values, errors = natural(data, known)
    np.testing.assert_allclose(values, peer.params, rtol=1e-8)
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-8)
    deviance = weights @ family.deviance(y, family.mean(known.eta), known.precision)
    assert deviance == pytest.approx(peer.deviance, rel=1e-10)


def test_glm_without_intercept(rows):
    X, eta, _, _ = rows
    y = FAMILIES["poisson"].simulate(eta, 1.0, np.random.default_rng(1))
    data = given(X, y, fit_intercept=False)
    peer = sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=200)
    values, errors = natural(data, fit_known(data, FAMILIES["poisson"]))
    np.testing.assert_allclose(values, peer.params, rtol=1e-7)
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-7)


def test_negative_binomial_equals_statsmodels(rows):
    X, eta, _, _ = rows
    y = FAMILIES["negative-binomial"].simulate(eta, 2.0, np.random.default_rng(1))
    data = given(X, y, fit_intercept=True)
    known = fit_known(data, FAMILIES["negative-binomial"])
    values, errors = natural(data, known)
    peer = sm.GLM(
        y, sm.add_constant(X), family=sm.families.NegativeBinomial(alpha=1 / known.precision)
    ).fit(tol=1e-14)
    np.testing.assert_allclose(values, peer.params, rtol=1e-8)
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-8)
    # The dispersion is a maximum of the likelihood.
    mean = np.exp(sm.add_constant(X) @ values)

    def log_likelihood(theta):
        return nbinom.logpmf(y, theta, theta / (theta + mean)).sum()

    level = log_likelihood(known.precision)
    assert known.log_likelihood == pytest.approx(level, rel=1e-10)
    assert max(log_likelihood(factor * known.precision) for factor in (0.99, 1.01)) < level


def test_cox_equals_statsmodels_with_ties(rows):
    X, eta, _, _ = rows
    rng = np.random.default_rng(2)
    time = np.ceil(8.0 * rng.exponential(np.exp(-eta)))  # ties
    event = (rng.random(N) < 0.8).astype(float)
    data = given(X, time, fit_intercept=False, event=event)
    known = fit_known_times(data, Times(time, event))
    peer = sm.PHReg(time, X, status=event, ties="breslow").fit(disp=0)
    values, errors = natural(data, known)
    np.testing.assert_allclose(values, peer.params, rtol=1e-6)
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-6)
    assert known.log_likelihood == pytest.approx(peer.llf, rel=1e-10)


def test_concordance_equals_counting_pairs():
    rng = np.random.default_rng(0)
    time, event = rng.integers(1, 12, size=60).astype(float), rng.integers(0, 2, size=60)
    risk = rng.integers(0, 6, size=60).astype(float)
    agree = ties = pairs = 0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & (event == 0))
        pairs += later.sum()
        agree += (risk[later] < risk[i]).sum()
        ties += (risk[later] == risk[i]).sum()
    assert concordance(time, event.astype(float), risk) == (agree + ties / 2) / pairs
    with pytest.raises(ValueError, match="no pair"):
        concordance(np.arange(1.0, 4.0), np.array([0.0, 0.0, 1.0]), np.ones(3))


@pytest.mark.parametrize("name", FAMILIES)
def test_derivatives_of_the_log_density(name):
    family = FAMILIES[name]
    rng = np.random.default_rng(0)
    eta, step, precision = rng.normal(size=20), 1e-5, 3.0
    y = family.simulate(eta, precision, rng)
    rows, labels = family.row_terms(eta, precision), family.label_terms(y, precision)
    by_eta = rows.a_eta + (rows.u_eta * labels.v).sum(axis=1)
    by_log = rows.a_log + (rows.u_log * labels.v).sum(axis=1) + labels.b_log

    def density(shift, scale):
        return family.log_density(y, eta + shift, precision * np.exp(scale))

    found = (density(step, 0) - density(-step, 0)) / (2 * step)
    np.testing.assert_allclose(by_eta, found, atol=1e-7)
    if family.has_precision:
        found = (density(0, step) - density(0, -step)) / (2 * step)
        np.testing.assert_allclose(by_log, found, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "y", "said"),
    [
        ("poisson", [1, -2, 3], "row 1 has -2.*family='normal'"),
        ("poisson", [1, 2.5, 3], "row 1 has 2.5.*family='gamma'"),
        ("negative-binomial", [1, 2.5, 3], "row 1 has 2.5"),
        ("poisson", [0, 0, 0], "all 3 counts are 0"),
        ("gamma", [1, 0, 3], "row 1 has 0.*family='poisson'"),
        ("gamma", [1, 0, 1], "row 1 has 0.*ShuffledClassifier"),
        ("bernoulli", [0, 2, 1], "row 1 has 2"),
        ("bernoulli", [1, 1, 1], "only one class"),
    ],
)
def test_labels_that_do_not_fit_the_family(name, y, said):
    with pytest.raises(ValueError, match=said):
        FAMILIES[name].check_labels(np.array(y, dtype=float))


@pytest.mark.parametrize(
    ("time", "event", "said"),
    [
        ([1, 0, 2], [1, 1, 0], "row 1 has 0"),
        ([1, -3, 2], [1, 1, 0], "row 1 has -3"),
        ([1, 2, 3], [1, 2, 0], "True or False.*row 1 has 2"),
        ([1, 2, 3], [0, 0, 0], "none of the 3 rows has an event"),
    ],
)
def test_times_that_cannot_be(time, event, said):
    with pytest.raises(ValueError, match=said):
        check_times(np.array(time, dtype=float), np.array(event, dtype=float))


def separable(name, n_against):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 2, size=200)])
    y = X[:, 1] * FAMILIES[name].simulate(np.full(200, 5.0), 1.0, rng)
    y[:n_against] = 1.0 - (y[:n_against] > 0)
    return given(X, y, fit_intercept=True)


def test_separation_of_zeros_is_named():
    with pytest.raises(ValueError, match="separation: column 'b'"):
        fit_known(separable("poisson", 0), FAMILIES["poisson"], names=["a", "b"])
    fit_known(separable("poisson", 10), FAMILIES["poisson"])  # the control


def test_separation_of_classes_is_named():
    found = fit_known(separable("bernoulli", 0), FAMILIES["bernoulli"], names=["a", "b"])
    assert found.separated == "column 'b'"
    assert np.abs(found.theta).max() < 10.0  # predicts
    assert np.isnan(found.covariance).all()  # and says nothing more
    assert fit_known(separable("bernoulli", 10), FAMILIES["bernoulli"]).separated == ""


def test_separation_of_events_is_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 2, size=200)])
    time = rng.exponential(size=200)
    data = given(X, time, fit_intercept=False, event=X[:, 1])
    with pytest.raises(ValueError, match="separation: column 1"):
        fit_known_times(data, Times(time, X[:, 1]))


def test_an_objective_near_zero_does_not_keep_scoring_from_ending():
    X, y, _, _ = grouped("poisson", 21)  # sums of a thousand that nearly cancel
    assert fit_known(given(X, y, fit_intercept=True), FAMILIES["poisson"]).converged
