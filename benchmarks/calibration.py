"""Simulation-based calibration: does the sampler draw from the posterior it claims?

Parameters are drawn from the prior, data from the parameters, and a chain is run on the data. The
rank of the true value among the draws is then uniform, whatever the model, if and only if the
sampler is right (Talts, Betancourt, Simpson, Vehtari and Gelman 2018).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from unshuffle.alignment.priors import Prior
from unshuffle.data.problem import Problem
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference.mismatches import log_ways
from unshuffle.inference.parameter_prior import ParameterPrior
from unshuffle.inference.posterior_chain import ALL_MOVES, PosteriorChain
from unshuffle.inference.posterior_model import Model, Start
from unshuffle.kernels.limits import SMALLEST_RATE
from unshuffle.kernels.types import FloatArray, IntArray


@dataclass(frozen=True)
class CalibrationSettings:
    """Chains whose calibration is checked."""

    draws: int = 63  # ranks 0 .. 63, in bins of equal size
    thin: int = 3
    warmup: int = 60
    first_rate: float = 0.3


CALIBRATION = CalibrationSettings()


class Case(NamedTuple):
    """Small data whose calibration is checked: limits of groups, and prior over permutations."""

    starts: tuple[int, ...]
    prior: Prior
    n_features: int = 2


CASES = {
    "groups of 5": Case((0, 5, 10, 15, 20, 25, 30), Prior()),
    "mostly right": Case((0, 15, 30), Prior(CALIBRATION.first_rate, estimates=True)),
}
# Signal and noise of like size, so that both clear and hopeless cases occur.
PARAMETERS = ParameterPrior(
    coef_scale=30.0**0.5, intercept_mean=0.0, intercept_scale=1.0, noise_scale=0.5
)


def calibration_ranks(
    case: Case,
    n_sets: int,
    seed: int,
    *,
    kind: type[PosteriorChain] = PosteriorChain,
    moves: frozenset[str] = ALL_MOVES,
    settings: CalibrationSettings = CALIBRATION,
) -> dict[str, IntArray]:
    """Ranks of the truth, 0 .. `settings.draws`, in `n_sets` data sets drawn from the priors."""
    ranks: dict[str, list[int]] = {}
    starts: IntArray = np.array(case.starts, dtype=np.int64)
    for k in range(n_sets):
        rng = np.random.default_rng([seed, k])
        X = rng.normal(size=(int(starts[-1]), case.n_features))
        model, truth = simulate(X, starts, case.prior, PARAMETERS, rng)
        # Any fixed points will do for the steps that carry labels along.
        jumps = PARAMETERS.coef_scale * rng.normal(size=(3, model.rank))
        found = rank_of_truth(model, truth, k, settings, kind=kind, jumps=jumps, moves=moves)
        for name, rank in found.items():
            ranks.setdefault(name, []).append(rank)
    return {name: np.array(found, dtype=np.int64) for name, found in ranks.items()}


def simulate(
    X: FloatArray,
    starts: IntArray,
    prior: Prior,
    parameters: ParameterPrior,
    rng: np.random.Generator,
) -> tuple[Model, dict[str, float]]:
    """Draw truth and data from the priors.

    Returns the model of the data, and the true coefficients ("coef 0", ...), intercept, noise and,
    where it is estimated, rate of mismatches.
    """
    n = len(X)
    solver = LeastSquares(X, fit_intercept=True)
    blank = Model(Problem(X, np.zeros(n), starts, None, 1), solver, Prior(), parameters)
    theta = rng.normal(0.0, parameters.coef_scale, size=blank.rank)
    mean = float(rng.normal(parameters.intercept_mean, parameters.intercept_scale))
    noise = float(parameters.noise_scale * abs(rng.standard_t(parameters.noise_freedom)))
    beside = blank.basis @ theta + mean + noise * rng.standard_normal(n)
    coef = blank.coef(theta)
    truth = {f"coef {j}": float(value) for j, value in enumerate(coef)}
    truth |= {"intercept": mean - float(blank.centre @ coef), "noise": noise}
    if prior.estimates:
        truth["rate"] = draw_rate(parameters, rng)
        perm = draw_mismatched(starts, n, truth["rate"], rng)
    else:
        perm = np.arange(n)
        for first, last in pairwise(starts):
            perm[first:last] = rng.permutation(perm[first:last])
    y = np.empty(n)
    y[perm] = beside  # row i holds the label y[perm[i]]
    return Model(Problem(X, y, starts, None, 1), solver, prior, parameters), truth


def rank_of_truth(
    model: Model,
    truth: dict[str, float],
    seed: int,
    settings: CalibrationSettings = CALIBRATION,
    *,
    kind: type[PosteriorChain] = PosteriorChain,
    jumps: FloatArray | None = None,
    moves: frozenset[str] = ALL_MOVES,
) -> dict[str, int]:
    """Number of draws below the true value of each quantity; the chain starts without it."""
    problem = model.problem
    theta = problem.y @ model.basis
    residual = problem.y - problem.y.mean() - model.basis @ theta
    own: IntArray = np.arange(problem.n_rows, dtype=np.int64)
    start = Start(theta, float(residual.std()), own, settings.first_rate)
    chain = kind(
        model, start, seed, 0, n_warmup=settings.warmup, n_draws=settings.draws,
        thin=settings.thin, jumps=jumps, moves=moves,
    )  # fmt: skip
    chain.advance(chain.n_iterations)
    coef = model.coef(chain.record.theta)
    draws = {f"coef {j}": coef[:, j] for j in range(coef.shape[1])}
    draws |= {
        "intercept": chain.record.centre - coef @ model.centre,
        "noise": chain.record.noise_scale,
        "rate": chain.record.rate,
    }
    return {name: int(np.sum(draws[name] < value)) for name, value in truth.items()}


def draw_rate(parameters: ParameterPrior, rng: np.random.Generator) -> float:
    """Rate of mismatches, cut to what the prior over permutations allows."""
    while True:
        rate = float(rng.beta(*parameters.rate_shape))
        if SMALLEST_RATE <= rate <= 1.0 - SMALLEST_RATE:
            return rate


def draw_mismatched(starts: IntArray, n: int, rate: float, rng: np.random.Generator) -> IntArray:
    """Draw from the prior: how many rows of each group are mismatched, which, and how."""
    perm: IntArray = np.arange(n, dtype=np.int64)
    for first, last in pairwise(starts):
        size = int(last - first)
        weights = log_ways(size) - np.log(size * (1.0 - rate)) * np.arange(size + 1)
        k = int(rng.choice(size + 1, p=np.exp(weights - logsumexp(weights))))
        rows = first + rng.choice(size, size=k, replace=False)
        moved = rng.permutation(rows)
        while np.any(moved == rows):  # one in e is kept
            moved = rng.permutation(rows)
        perm[rows] = moved
    return perm


def rank_evidence(ranks: IntArray, n_draws: int) -> float:
    r"""Smallest two-sided binomial tail of the empirical distribution of ranks.

    Ranks of the truth among `n_draws` draws are uniform on 0 .. n_draws for a calibrated sampler,
    so that the number of ranks below k is binomial with probability
    :math:`k / (n_{draws} + 1)`. The smallest tail over all k says how far the distribution
    deviates; `rank_p_value` says whether that is too far.
    """
    below = np.cumsum(np.bincount(ranks, minlength=n_draws + 1))[:-1]
    p = np.arange(1, n_draws + 1) / (n_draws + 1.0)
    low = binom.cdf(below, len(ranks), p)
    high = binom.sf(below - 1, len(ranks), p)
    return float(2.0 * np.minimum(low, high).min())


def rank_p_value(ranks: IntArray, n_draws: int, n_simulations: int = 2000, seed: int = 0) -> float:
    """Probability that uniform ranks deviate as far from the diagonal as these.

    Below 0.05 the empirical distribution leaves the 95 % simultaneous band somewhere.
    """
    rng = np.random.default_rng(seed)
    observed = rank_evidence(ranks, n_draws)
    uniform = rng.integers(0, n_draws + 1, size=(n_simulations, len(ranks)))
    as_far = sum(rank_evidence(sample, n_draws) <= observed for sample in uniform)
    return (1 + as_far) / (1 + n_simulations)
