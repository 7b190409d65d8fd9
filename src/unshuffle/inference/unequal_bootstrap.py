"""Replicates of two tables of unequal counts: simulated labels, or groups drawn again."""

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from ..alignment.partial import shares_of
from ..data.unequal import UnequalProblem
from ..kernels.types import FloatArray, IntArray
from ..search.partial_recovery import simulate_labels
from .bootstrap import BootstrapResult, basic_interval
from .intervals import from_logit, to_logit


@dataclass(frozen=True, eq=False)
class UnequalBootstrapResult(BootstrapResult):
    """Replicates of a fit with ``unmatched="model"``; see `BootstrapResult`.

    Attributes
    ----------
    match_share : float
        Share of the rows that have their label among those given, as fitted.
    match_share_draws : array of shape (n_boot,)
        Of the replicates.
    """

    match_share: float
    match_share_draws: FloatArray

    def match_share_interval(self, level: float = 0.95) -> FloatArray:
        """Interval of the share, on the scale of its logit; shape (2,)."""
        centre = to_logit(np.array([self.match_share]))
        return from_logit(basic_interval(centre, to_logit(self.match_share_draws), level)[0])


def simulate(
    problem: UnequalProblem,
    fitted: FloatArray,
    noise_scale: float,
    share: float,
    rng: np.random.Generator,
) -> UnequalProblem:
    """The same rows and counts with labels drawn from a fit."""
    pairs = draw_pairs(problem, share, rng)
    return problem.with_labels(simulate_labels(problem, fitted, noise_scale, pairs, rng))


def draw_pairs(problem: UnequalProblem, share: float, rng: np.random.Generator) -> IntArray:
    """How many rows of each group have a label, by the model and given both counts.

    Rows have one with probability `share`, and labels of nobody are Poisson distributed, so that K
    of r rows and l labels have a weight of ``C(r, K) share^K (1 - share)^(r - K)`` times the
    probability of l - K strangers.
    """
    strangers = shares_of(problem, share).strangers
    drawn = np.empty(problem.n_groups, dtype=np.int64)
    for g, (r, n_labels) in enumerate(zip(problem.group_rows, problem.group_labels, strict=True)):
        weights = _log_weights(int(r), int(n_labels), share, strangers)
        probabilities = np.exp(weights - weights.max())
        drawn[g] = rng.choice(len(weights), p=probabilities / probabilities.sum())
    return drawn


def _log_weights(r: int, n_labels: int, share: float, strangers: float) -> FloatArray:
    """Log weight of 0, 1, ... pairs."""
    tiny = 1e-300
    has, lacks, expected = log(max(share, tiny)), log(max(1.0 - share, tiny)), log(strangers * r)
    return np.array(
        [
            k * has + (r - k) * lacks - lgamma(k + 1) - lgamma(r - k + 1)
            + (n_labels - k) * expected - lgamma(n_labels - k + 1)
            for k in range(min(r, n_labels) + 1)
        ]
    )  # fmt: skip


def draw_groups(problem: UnequalProblem, rng: np.random.Generator) -> UnequalProblem:
    """As many groups and known pairs, drawn with replacement."""
    groups = rng.integers(problem.n_groups, size=problem.n_groups)
    return problem.take_groups(groups, rng.integers(problem.n_known, size=problem.n_known))
