r"""Parametric bootstrap: the estimator, applied to labels that are simulated from the fit.

Labels are simulated as :math:`y^*_{\pi(i)} = \hat b + x_i^\top \hat w + \hat s \varepsilon_i`, with
:math:`\pi` drawn from the prior over permutations: uniform inside groups where the order is lost,
each row misplaced with its own probability where it is mostly right, none where it is known (and
from the posterior where labels have a reach). The estimator is run again on each set of labels.
Replicate r has streams of its own, keyed by (seed, r), so that threads cannot change the result.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from ..alignment.chain import Chain
from ..alignment.priors import Prior
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..kernels.streams import FIRST_REPLICATE, numbered_generator
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray, IntArray
from .intervals import check_level, from_logit, to_logit
from .sampling_settings import BOOTSTRAP, BootstrapSettings


class Draw(NamedTuple):
    """What one replicate found; `rate` is nan where no rate is estimated."""

    coef: FloatArray
    noise_scale: float
    rate: float
    settled: bool


Refit: TypeAlias = Callable[[Problem, int], Draw]


@dataclass(frozen=True, eq=False)
class Source:
    """What labels are simulated from.

    Attributes
    ----------
    problem : Problem
    prior : Prior or None
        Of permutations; None where the order is known.
    fitted : array of shape (n,)
        Arranged.
    noise_scale, mismatch_rate : float
        The rate, among the rows that can move, is read where the prior estimates it.
    settings : BootstrapSettings
    """

    problem: Problem
    prior: Prior | None
    fitted: FloatArray
    noise_scale: float
    mismatch_rate: float
    settings: BootstrapSettings = BOOTSTRAP

    def simulate(self, rng: np.random.Generator) -> Problem:
        """The same problem with labels drawn from the fit."""
        labels = self.fitted + self.noise_scale * rng.normal(size=len(self.fitted))
        shuffled = np.empty_like(labels)
        shuffled[self.draw_permutation(rng)] = labels
        return replace(self.problem, y=shuffled)

    def draw_permutation(self, rng: np.random.Generator) -> IntArray:
        """Where the label of each row goes to."""
        n, starts = self.problem.n_movable, self.problem.starts
        perm: IntArray = np.arange(self.problem.n_rows, dtype=np.int64)
        if self.prior is None or n == 0:
            return perm
        if self.prior.places is not None:
            return self._within_reach(self.prior, rng)
        if not self.prior.mostly_right:
            blocks = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            perm[:n] = np.lexsort((rng.random(n), blocks))
            return perm
        moved = rng.random(n) > self.prior.matched(n, self.mismatch_rate)
        for first, last in pairwise(starts):
            rows = first + np.flatnonzero(moved[first:last])
            if len(rows) == 1:
                # No row is mismatched alone. A pair half of the time keeps the expected number.
                others = np.delete(np.arange(first, last), rows[0] - first)
                rows = np.append(rows, rng.choice(others))[: 2 * int(rng.integers(2))]
            rng.shuffle(rows)
            perm[rows] = np.roll(rows, 1)
        return perm

    def _within_reach(self, prior: Prior, rng: np.random.Generator) -> IntArray:
        """From the posterior, by the chain itself: the prior has no simple draws within reach."""
        problem = self.problem
        schedule = Schedule(self.settings.sweeps_to_forget * problem.n_movable, 0, 1)
        chain = Chain(problem, schedule, int(rng.integers(2**62)), Workers(1))
        own = np.arange(problem.n_rows, dtype=np.int64)
        state = State(
            np.empty(0), 0.0, self.noise_scale, 0.0, self.mismatch_rate, self.fitted, problem.y, own
        )  # fmt: skip
        return SampledAlignment(chain, prior)(state, 0).perm


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Estimates from labels that were simulated from a fit, or from rows drawn with replacement.

    Attributes
    ----------
    estimate : array of shape (k,)
        Intercept (when there is one) and coefficients of the fit.
    draws : array of shape (n_boot, k)
        Those of the replicates.
    noise_scale, mismatch_rate : float
        Of the fit; the rate is nan where none is estimated, the noise for other families than the
        normal one.
    noise_scale_draws, mismatch_rate_draws : arrays of shape (n_boot,)
        Of the replicates.
    n_unsettled : int
        Replicates in which EM was still moving when the iterations ended.
    """

    estimate: FloatArray
    draws: FloatArray
    noise_scale: float
    noise_scale_draws: FloatArray
    mismatch_rate: float
    mismatch_rate_draws: FloatArray
    n_unsettled: int

    @property
    def n_boot(self) -> int:
        """Number of replicates."""
        return len(self.draws)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard deviations of the draws, shape (k,)."""
        return np.asarray(self.draws.std(axis=0, ddof=1))

    def interval(self, level: float = 0.95) -> FloatArray:
        """Intervals of intercept and coefficients, shape (k, 2)."""
        return basic_interval(self.estimate, self.draws, level)

    def noise_scale_interval(self, level: float = 0.95) -> FloatArray:
        """Interval of the noise, on the scale of its logarithm; shape (2,)."""
        ends = basic_interval(np.log([self.noise_scale]), np.log(self.noise_scale_draws), level)
        return np.asarray(np.exp(ends[0]))

    def mismatch_rate_interval(self, level: float = 0.95) -> FloatArray:
        """Interval of the rate of mismatches, on the scale of its logit; shape (2,)."""
        if np.isnan(self.mismatch_rate):
            raise ValueError("no rate of mismatches was estimated, so it has no interval")
        centre = to_logit(np.array([self.mismatch_rate]))
        return from_logit(basic_interval(centre, to_logit(self.mismatch_rate_draws), level)[0])


def basic_interval(estimate: FloatArray, draws: FloatArray, level: float) -> FloatArray:
    """The estimate less the quantiles of the replicates' errors; shape (k, 2).

    Errors ``draws - estimate`` stand for the error of the estimate itself, bias included.
    Percentiles of the draws cover the noise less often (`benchmarks/bootstrap.py`).
    """
    check_level(level)
    needed = int(np.ceil(2.0 / (1.0 - level) - 1e-9)) - 1
    if len(draws) < needed:
        raise ValueError(
            f"an interval of level {level:g} needs at least {needed} replicates, there are "
            f"{len(draws)}; raise n_boot or lower the level"
        )
    draws = draws.reshape(len(draws), -1)
    tail = 0.5 - 0.5 * level
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0, method="weibull")
    return np.stack([2.0 * estimate - high, 2.0 * estimate - low], axis=1)


def replicate(
    source: Source,
    refit: Refit,
    n_boot: int,
    seed: int,
    workers: Workers,
    report: Callable[[int], None],
) -> list[Draw]:
    """Simulate and fit `n_boot` times; `report` gets the number done."""

    def one(number: int) -> Draw:
        rng = numbered_generator(seed, FIRST_REPLICATE + number)
        simulated = source.simulate(rng)
        return refit(simulated, int(rng.integers(2**62)))

    draws: list[Draw] = []
    size = source.settings.replicates_at_once * workers.n_jobs
    for first in range(0, n_boot, size):
        draws += workers.map(one, range(first, min(first + size, n_boot)))
        report(len(draws))
    return draws
