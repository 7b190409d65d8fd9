"""The mixture with a match model against an independent maximisation of its likelihood."""

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from clue_data import make_linked
from unshuffle import MixtureRegressor
from unshuffle.data.clues import Clues
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.least_squares import LeastSquares
from unshuffle.families.match_logit import LOGIT
from unshuffle.fits.clued_mixture import climb_with_clues, in_users_order, logit_of
from unshuffle.fits.data import InMemory

LIMITS = {"tol": 1e-14, "max_iter": 5000}


def negative_log_likelihood(theta, X, y, clues, density, known, offset):
    """Of intercept, coefficients, log noise, and the match model, with its weak ridge."""
    d, q = X.shape[1], clues.shape[1]
    mean, noise = theta[0] + X @ theta[1 : 1 + d], np.exp(theta[1 + d])
    b = theta[2 + d :]
    p = np.where(known, 1.0, expit(offset + b[0] + clues @ b[1:]))
    total = p * norm.pdf(y, mean, noise) + (1.0 - p) * density
    # The ridge is on standardised clues, and on the intercept of these.
    used = clues[~known]
    standard = np.append(b[0] + used.mean(axis=0) @ b[1:], b[1:] * used.std(axis=0))
    assert len(standard) == 1 + q
    return -np.log(np.maximum(total, 1e-300)).sum() + 0.5 * LOGIT.ridge * (standard**2).sum()


def numerical_hessian(f, x, step=1e-4):
    size = len(x)
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            one, other = np.zeros(size), np.zeros(size)
            one[i], other[j] = step, step
            hessian[i, j] = (
                f(x + one + other) - f(x + one - other) - f(x - one + other) + f(x - one - other)
            ) / (4.0 * step**2)
    return hessian


def density_used(data, known=None, match_prob=None, largest_rate=None):
    """The density of other labels, which a fit estimates first and then keeps."""
    n = len(data.y)
    known = np.zeros(n, dtype=bool) if known is None else known
    problem = make_problem(data.X, data.y, np.zeros(n, dtype=np.int64), known)
    given = None if match_prob is None else problem.arrange(match_prob)
    clues = Clues(problem.arrange(data.clues), ("a", "b"), largest_rate=largest_rate)
    rows = InMemory(problem, Workers(1), given, clues=clues)
    logit = in_users_order(rows, logit_of(rows))
    solver = LeastSquares(data.X, fit_intercept=True)
    return climb_with_clues(rows, solver, logit, **LIMITS)[1]


@pytest.mark.parametrize("extras", [False, True], ids=["plain", "known and offset"])
def test_maximum_and_standard_errors_equal_an_oracle(extras):
    data = make_linked(0)
    known, match_prob, offset = np.zeros(300, dtype=bool), None, np.zeros(300)
    if extras:
        known = data.right & (np.arange(300) % 4 == 0)
        match_prob = np.random.default_rng(1).uniform(0.3, 0.9, 300)
        offset = np.log(match_prob / (1.0 - match_prob))
    model = MixtureRegressor(**LIMITS)
    model.fit(data.X, data.y, known=known, match_prob=match_prob, match_features=data.clues)
    density = density_used(data, known, match_prob)
    arguments = (data.X, data.y, data.clues, density, known, offset)

    def cost(theta):
        return negative_log_likelihood(theta, *arguments)

    start = np.concatenate([[1.0], data.coef, [np.log(0.5)], data.match_coef])
    oracle = minimize(cost, start, method="BFGS", options={"gtol": 1e-6}).x
    ours = np.concatenate([
        [model.intercept_], model.coef_, [np.log(model.noise_scale_)], model.match_model_.coef,
    ])  # fmt: skip
    assert np.abs(ours - oracle).max() < 1e-4
    errors = np.sqrt(np.diag(np.linalg.inv(numerical_hessian(cost, oracle))))
    assert np.allclose(model.coef_se_, errors[:4], rtol=1e-3)
    assert np.allclose(model.match_model_.standard_errors, errors[5:], rtol=1e-3)


def test_bound_on_the_rate_is_met_and_takes_a_direction_away():
    data = make_linked(0)
    free = MixtureRegressor().fit(data.X, data.y, match_features=data.clues)
    bound = MixtureRegressor(mismatch_rate_max=0.1, **LIMITS)
    bound.fit(data.X, data.y, match_features=data.clues)
    assert free.match_model_.mismatch_rate > 0.15
    assert abs(bound.match_model_.mismatch_rate - 0.1) < 1e-6
    assert bound.match_model_.at_bound and not free.match_model_.at_bound
    assert np.linalg.matrix_rank(bound.match_model_.covariance, tol=1e-8) == 2
    loose = MixtureRegressor(mismatch_rate_max=0.9).fit(data.X, data.y, match_features=data.clues)
    assert np.array_equal(loose.coef_, free.coef_)
    density = density_used(data, largest_rate=0.1)
    arguments = (data.X, data.y, data.clues, density, np.zeros(300, dtype=bool), 0.0)

    def cost(theta):
        return negative_log_likelihood(theta, *arguments)

    def room(theta):
        return 0.1 - float(np.mean(expit(-theta[5] - data.clues @ theta[6:])))

    start = np.concatenate([[1.0], data.coef, [np.log(0.5)], [3.0], data.match_coef[1:]])
    oracle = minimize(
        cost, start, method="SLSQP", constraints={"type": "ineq", "fun": room},
        options={"ftol": 1e-12, "maxiter": 500},
    ).x  # fmt: skip
    assert np.abs(bound.coef_ - oracle[1:4]).max() < 1e-3
    assert np.abs(bound.match_model_.coef - oracle[5:]).max() < 2e-2
    normal = -optimize.approx_fprime(oracle, room, 1e-6)
    multiplier = -normal @ optimize.approx_fprime(oracle, cost, 1e-6) / (normal @ normal)

    def lagrangian(theta):
        return cost(theta) - multiplier * room(theta)

    plane = np.linalg.svd(normal[None])[2][1:].T
    hessian = plane.T @ numerical_hessian(lagrangian, oracle) @ plane
    errors = np.sqrt(np.diag(plane @ np.linalg.inv(hessian) @ plane.T))
    assert np.allclose(bound.coef_se_, errors[:4], rtol=0.01)
    assert np.allclose(bound.match_model_.standard_errors, errors[5:], rtol=0.02)
