"""Posteriors of families: against integrals over a grid, with permutations enumerated."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import gamma as gamma_law
from scipy.stats import poisson

from unshuffle import (
    Audit,
    MixtureRegressor,
    ShuffledClassifier,
    ShuffledCoxRegressor,
    ShuffledRegressor,
)
from unshuffle.data.problem import make_problem
from unshuffle.exceptions import MixingWarning
from unshuffle.families.catalogue import FAMILIES
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.known import KnownModel
from unshuffle.fits.glm.parameter_prior import prior_of
from unshuffle.inference.metropolis import MetropolisChain

# Few labels, whose fits are not to be trusted, have posteriors all the same.
pytestmark = pytest.mark.filterwarnings(
    "ignore::unshuffle.exceptions.UnidentifiableWarning",
    "ignore::unshuffle.exceptions.MixingWarning",
)
COUNTS = {"n_draws": 400, "n_warmup": 150, "random_state": 0}


def moments(grid, log_density):
    """Mean and standard deviation of a density on a grid."""
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    mean = weights @ grid
    return mean, np.sqrt(weights @ (grid - mean) ** 2)


def close(draws, mean, sd, size=0.15):
    """Whether draws have a mean and a standard deviation, in units of the latter."""
    return abs(draws.mean() - mean) < size * sd and abs(draws.std() / sd - 1.0) < size


def log_prior(X, coef):
    """Of the coefficient of one column; its coordinate has a standard deviation of 10."""
    return -0.5 * (coef * np.sqrt(np.mean(X**2)) / 10.0) ** 2


def test_mostly_right_counts_with_a_given_rate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = rng.poisson(np.exp(0.8 * X[:, 0]))
    y[:12] = np.roll(y[:12], 1)
    model = ShuffledRegressor(
        family="poisson", pairing="mostly-right", mismatch_rate=0.2, fit_intercept=False
    ).fit(X, y)
    grid, redrawn = np.linspace(-1.0, 3.0, 2001), 0.2 / (1 - 1 / 60)
    values = []
    for coef in grid:
        density = poisson.pmf(y, np.exp(coef * X))  # rows in lines
        own, any_row = np.diag(density), density.mean(axis=0)
        value = np.log((1 - redrawn) * own + redrawn * any_row).sum()
        values.append(value + log_prior(X, coef))
    mean, sd = moments(grid, np.array(values))
    draws = model.posterior(**COUNTS).coef
    assert close(draws, mean, sd)
    assert not close(draws, mean + 0.4 * sd, sd)  # the control
    assert not close(draws, mean, 1.4 * sd)


def test_rate_of_mismatches_with_and_without_an_audit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 1))
    options = {"family": "poisson", "pairing": "mostly-right", "fit_intercept": False}
    counts = rng.poisson(np.exp(1.5 * X[:, 0]))
    counts[:30] = np.roll(counts[:30], 1)
    coefs, rates = np.linspace(1.0, 2.2, 121), np.linspace(0.001, 0.7, 140)
    values = np.empty((len(coefs), len(rates)))
    others = 1 - 1 / 150
    for k, coef in enumerate(coefs):
        density = poisson.pmf(counts, np.exp(coef * X))
        own, any_row = np.diag(density)[:, None], density.mean(axis=0)[:, None]
        share = rates / others
        values[k] = np.log((1 - share) * own + share * any_row).sum(axis=0) + log_prior(X, coef)
    free = ShuffledRegressor(**options).fit(X, counts).posterior(**COUNTS)
    mean, sd = moments(rates, logsumexp(values, axis=0))
    assert close(free.mismatch_rate, mean, sd)
    assert "mismatch rate" in str(free)
    audited = ShuffledRegressor(mismatch_rate=Audit(40, 2), **options).fit(X, counts)
    told = values + 2 * np.log(rates) + 38 * np.log1p(-rates)
    mean_told, sd_told = moments(rates, logsumexp(told, axis=0))
    found = audited.posterior(**COUNTS)
    assert close(found.mismatch_rate, mean_told, sd_told)
    assert mean_told < mean - 0.3 * sd  # the audit matters


@pytest.mark.parametrize("sizes", [(6,), (3, 4, 2, 3)])
def test_yes_no_labels_in_lost_order(sizes):
    rng = np.random.default_rng(2)
    n = sum(sizes)
    X = rng.normal(size=(4 * n, 1))
    groups = np.repeat(np.arange(4 * len(sizes)), sizes * 4)
    y = rng.random(4 * n) < expit(1.5 * X[:, 0])
    model = ShuffledClassifier(pairing="lost", fit_intercept=False, random_state=0)
    model.fit(X, y, groups=groups)
    grid = np.linspace(-20.0, 20.0, 801)
    values = np.array([log_prior(X, coef) for coef in grid])
    for group in np.unique(groups):
        rows, count = X[groups == group, 0], y[groups == group].sum()
        p = expit(np.outer(grid, rows))
        table = np.zeros((len(grid), len(rows) + 1))
        table[:, 0] = 1.0
        for i in range(len(rows)):  # the number of ones, one row at a time
            ones = p[:, i : i + 1] * table[:, :-1]
            table *= 1 - p[:, i : i + 1]
            table[:, 1:] += ones
        values += np.log(table[:, count])
    mean, sd = moments(grid, values)
    found = model.posterior(**COUNTS)
    assert close(found.coef, mean, sd)
    assert found.dispersion is None and found.mismatch_rate is None


def test_counts_in_lost_order_average_over_all_permutations():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 1))
    groups = np.repeat(np.arange(10), 4)
    y = rng.poisson(np.exp(0.7 * X[:, 0]))
    model = ShuffledRegressor(family="poisson", pairing="lost", fit_intercept=False)
    model.fit(X, y, groups=groups)
    grid = np.linspace(-2.0, 4.0, 601)
    values = np.array([log_prior(X, coef) for coef in grid])
    orders = np.array(list(permutations(range(4))))
    for group in range(10):
        inside = groups == group
        labels = y[inside][orders]  # orders in lines
        logs = poisson.logpmf(labels[None], np.exp(np.outer(grid, X[inside, 0]))[:, None])
        values += logsumexp(logs.sum(axis=2), axis=1)
    mean, sd = moments(grid, values)
    found = model.posterior(**COUNTS)
    assert close(found.coef, mean, sd)
    assert not close(found.coef, mean + 0.4 * sd, sd)  # the control
    assert found.match_proba.shape == (40,) and 0 < found.match_proba.min() < 1


def test_precision_of_labels_in_lost_order():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 1))
    groups = np.repeat(np.arange(15), 2)
    y = rng.gamma(4.0, np.exp(X[:, 0]) / 4.0)
    model = ShuffledRegressor(family="gamma", pairing="lost", fit_intercept=False, random_state=0)
    model.fit(X, y, groups=groups)
    coefs, logs = np.linspace(0.2, 1.8, 161), np.linspace(-1.0, 3.5, 150)
    values = np.empty((161, 150))
    for k, coef in enumerate(coefs):
        mean = np.exp(coef * X)[..., None]
        shape = np.exp(logs)
        density = gamma_law.logpdf(y[None, :, None], shape, scale=mean / shape)  # row, label
        total = np.zeros(150)
        for first in range(0, 30, 2):
            straight = density[first, first] + density[first + 1, first + 1]
            crossed = density[first, first + 1] + density[first + 1, first]
            total += np.logaddexp(straight, crossed)
        spread = np.exp(-0.5 * logs)
        values[k] = total + log_prior(X, coef) - 2 * np.log1p(spread**2 / 3) - 0.5 * logs
    found = model.posterior(**COUNTS)
    mean, sd = moments(logs, logsumexp(values, axis=0))
    assert close(-np.log(found.dispersion), mean, sd)
    mean, sd = moments(coefs, logsumexp(values, axis=1))
    assert close(found.coef, mean, sd)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_known_order_has_the_likelihood_of_the_family(name):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 2))
    y = FAMILIES[name].simulate(X @ [0.5, 0.2], 3.0, rng)
    problem = make_problem(X, y, np.zeros(50, dtype=int), np.ones(50, dtype=bool))
    data = arrange_data(problem, fit_intercept=True, sample_weight=rng.uniform(1, 2, 50))
    model = KnownModel(data, FAMILIES[name])
    at = rng.normal(size=model.n_parameters) * 0.3
    precision = np.exp(at[3]) if model.n_parameters > 3 else 1.0
    direct = FAMILIES[name].log_density(data.y, data.Z @ at[:3], precision)
    found = model.evaluate(at)
    assert found.value == pytest.approx(data.weights @ direct)
    for k in range(model.n_parameters):
        shift = np.zeros(model.n_parameters)
        shift[k] = 1e-5
        slope = (model.evaluate(at + shift).value - model.evaluate(at - shift).value) / 2e-5
        assert found.gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("audit", [None, Audit(30, 4)])
def test_gradients_of_priors(audit):
    X = np.random.default_rng(6).normal(size=(20, 1))
    problem = make_problem(X, X[:, 0], np.arange(20) // 5, np.zeros(20, dtype=bool))
    prior = prior_of(arrange_data(problem, fit_intercept=True), FAMILIES["normal"], audit)
    assert prior.others == pytest.approx(0.8)
    for part in (prior.of_log_precision, prior.of_logit):
        for at in (-2.0, 0.3, 1.5):
            slope = (part(at + 1e-5)[0] - part(at - 1e-5)[0]) / 2e-5
            assert part(at)[1] == pytest.approx(slope, rel=1e-5)
    theta = np.array([0.3, -0.2])
    shift = np.array([0.0, 1e-5])
    slope = (prior.of_theta(theta + shift)[0] - prior.of_theta(theta - shift)[0]) / 2e-5
    assert prior.of_theta(theta)[1][1] == pytest.approx(slope, rel=1e-5)


def test_one_seed_one_answer_and_rows_of_no_weight():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 2))
    y = rng.gamma(4.0, np.exp(X @ [0.5, -0.3]) / 4.0)
    weights = np.ones(80)
    weights[3] = 0.0
    model = MixtureRegressor(family="gamma").fit(X, y, sample_weight=weights)
    few = {"n_draws": 20, "n_warmup": 20, "n_chains": 2, "random_state": 3}
    with pytest.warns(MixingWarning, match="have not mixed"):
        found = [model.posterior(n_jobs=n_jobs, **few) for n_jobs in (1, 2)]
    assert np.array_equal(found[0].coef, found[1].coef)
    assert (
        np.isnan(found[0].match_proba[3]) and np.isfinite(np.delete(found[0].match_proba, 3)).all()
    )
    assert "dispersion" in found[0].names and found[0].noise_scale is None


def test_what_has_no_posterior():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 1))
    y = np.column_stack([np.ones(60), rng.exponential(np.exp(-X[:, 0]))])
    cox = ShuffledCoxRegressor(pairing="known").fit(X, y)
    with pytest.raises(ValueError, match="Cox's model has no posterior"):
        cox.posterior()
    model = ShuffledClassifier(pairing="known").fit(X, X[:, 0] + rng.normal(size=60) > 0)
    with pytest.raises(ValueError, match="n_draws is a whole number"):
        model.posterior(n_draws=0)
    del model._family_data
    with pytest.raises(ValueError, match="loaded from a file"):
        model.posterior()
    assert not hasattr(MixtureRegressor().fit(X, X[:, 0] + rng.normal(size=60)), "posterior")


def test_a_chain_that_starts_where_there_is_no_density():
    def density(at):
        with np.errstate(invalid="ignore"):
            return float(-0.5 * at[0] ** 2 + 0.0 * np.log(9.0 - at[0])), np.ones(1)

    counts = {"n_warmup": 100, "n_draws": 400}
    far, mode, shape = np.array([100.0]), np.zeros(1), np.eye(1)
    chain = MetropolisChain(density, far, mode, shape, 0, 0, **counts)
    chain.advance(500)
    assert np.abs(chain.draws).max() < 5.0
    assert close(chain.draws, 0.0, 1.0, 0.3)
