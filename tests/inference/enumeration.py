"""The posterior over permutations of tiny data, with everything else integrated out by quadrature."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import beta, t

from oracles import group_permutations
from unshuffle.kernels.limits import SMALLEST_RATE


def mismatch_prior(perms, starts, rate):
    """log p(perm | rate), normalised by summing over all permutations of all groups at once."""
    sizes = np.diff(starts)
    costs = np.repeat(np.log(sizes * (1.0 - rate)), sizes)
    own = np.arange(starts[-1])
    weights = np.array([-np.sum(costs * (p[: starts[-1]] != own)) for p in perms])
    return weights - logsumexp(weights)


def log_prior(perms, starts, parameters, prior, n_rates=400):
    """log p(perm): uniform, at a given rate, or with the rate integrated out over its logit."""
    if not prior.mostly_right:
        return np.zeros(len(perms))
    if not prior.estimates:
        return mismatch_prior(perms, starts, prior.rate)
    limit = np.log(1.0 / SMALLEST_RATE - 1.0)
    rates = 1.0 / (1.0 + np.exp(-np.linspace(-limit, limit, n_rates)))
    density = beta(*parameters.rate_shape).logpdf(rates) + np.log(rates * (1.0 - rates))
    given = np.array([mismatch_prior(perms, starts, rate) for rate in rates])
    return logsumexp(given + density[:, None], axis=0)


def enumerate_posterior(model, n_noises=2000):
    """Permutations, their probabilities, and the mean of log s given each."""
    problem, parameters = model.problem, model.parameters
    perms = list(group_permutations(problem.starts, problem.n_rows))
    n, y, wide = problem.n_rows, problem.y, parameters.coef_scale**2
    logs = np.linspace(np.log(1e-4), np.log(1e3), n_noises) + np.log(parameters.noise_scale)
    s2 = np.exp(2.0 * logs)
    prior = t(parameters.noise_freedom).logpdf(np.exp(logs) / parameters.noise_scale) + logs
    mean, m2 = y.mean(), parameters.intercept_scale**2
    common = prior - n * logs - 0.5 * np.sum((y - mean) ** 2) / s2
    common += 0.5 * model.rank * np.log(s2 / (s2 + wide))
    common += 0.5 * np.log(s2 / (s2 + n * m2))
    common -= 0.5 * n * (mean - parameters.intercept_mean) ** 2 / (s2 + n * m2)
    explained = np.array([np.sum((y[p] @ model.basis) ** 2) for p in perms])
    joint = common + 0.5 * explained[:, None] * wide / ((wide + s2) * s2)
    joint += log_prior(perms, problem.starts, parameters, model.prior)[:, None]
    weights = np.exp(joint - joint.max())
    probability = weights.sum(axis=1) / weights.sum()
    return perms, probability, weights @ logs / weights.sum(axis=1)
