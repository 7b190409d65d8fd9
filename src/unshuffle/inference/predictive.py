r"""Log density of labels whose order inside groups is lost.

Of a group of m rows with fitted values :math:`\mu_i`, the labels are known as a set. Under normal
noise of standard deviation s their density is the mean over permutations

.. math:: \frac{1}{m!} \sum_\pi \prod_i N(y_{\pi(i)}; \mu_i, s^2).

Small groups are summed exactly. For larger ones the logarithm is an integral over the inverse
temperature b, from all permutations alike (b = 0) to the density (b = 1):

.. math:: \log Z = \frac{E_{max}}{s^2} - \int_0^1 \frac{E_{max} - E_b}{s^2} db,

where :math:`E_b` is the mean of :math:`\sum_i \mu_i y_{\pi(i)}` under the permutations at b, from
a chain, and :math:`E_{max}` its largest value, from sorting. Several independent runs give the
error.
"""

from dataclasses import dataclass

import numpy as np

from ..alignment.chain import Chain
from ..alignment.hard import most_likely_permutation
from ..alignment.priors import Prior
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..kernels.permanent import block_log_means
from ..kernels.streams import FIRST_BRIDGE, numbered_generator
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray, IntArray
from .sampling_settings import BRIDGE, BridgeSettings


@dataclass(frozen=True, eq=False)
class GroupDensities:
    """Log density of the labels of each group.

    Attributes
    ----------
    blocks : array of shape (n_blocks,)
        Of the groups whose labels can move.
    pinned : array
        Of the labels that are surely a row's own.
    error : float
        Standard error of the sum, from independent runs of the chain; 0 where sums are exact.
    freedom : int
        Degrees of freedom of the error.
    """

    blocks: FloatArray
    pinned: FloatArray
    error: float
    freedom: int

    @property
    def total(self) -> float:
        """Log density of all labels."""
        return float(self.blocks.sum() + self.pinned.sum())


def group_log_densities(
    problem: Problem,
    fitted: FloatArray,
    noise_scale: float,
    *,
    seed: int,
    workers: Workers,
    settings: BridgeSettings = BRIDGE,
) -> GroupDensities:
    """Log densities under normal noise.

    Parameters
    ----------
    problem : Problem
    fitted : array of shape (n,)
        Fitted values, arranged.
    noise_scale : float
    seed : int
    workers : Workers
    settings : BridgeSettings
    """
    sizes, n = np.diff(problem.starts), problem.n_movable
    log_means, error = np.empty(len(sizes)), 0.0
    for large in (False, True):
        chosen = np.flatnonzero((sizes > settings.largest_exact) == large)
        if not len(chosen):
            continue
        part, held = _blocks_of(problem, chosen), _rows_of(problem.starts, chosen)
        if large:
            runs = _bridge(part, fitted[held], noise_scale, seed, workers, settings)
            log_means[chosen] = runs.mean(axis=0)
            error = float(runs.sum(axis=1).std(ddof=1)) / len(runs) ** 0.5
        else:
            found = np.empty(len(chosen))
            block_log_means(part.y, fitted[held], noise_scale, part.starts, found)
            log_means[chosen] = found
    height = -np.log(noise_scale * np.sqrt(2.0 * np.pi))
    distance = (problem.y[n:] - fitted[n:]) / noise_scale
    return GroupDensities(
        log_means + sizes * height, height - 0.5 * distance**2, error, settings.runs - 1
    )


def _rows_of(starts: IntArray, blocks: IntArray) -> IntArray:
    return np.concatenate([np.arange(starts[g], starts[g + 1]) for g in blocks])


def _blocks_of(problem: Problem, blocks: IntArray) -> Problem:
    """A problem of some of the blocks, without features."""
    rows = _rows_of(problem.starts, blocks)
    starts = np.concatenate([[0], np.cumsum(np.diff(problem.starts)[blocks])]).astype(np.int64)
    return Problem(np.empty((len(rows), 0)), problem.y[rows], starts, None, len(blocks))


def _bridge(
    problem: Problem,
    fitted: FloatArray,
    noise_scale: float,
    seed: int,
    workers: Workers,
    settings: BridgeSettings,
) -> FloatArray:
    """Log mean over permutations of each block, by independent runs; shape (runs, n_blocks)."""
    best = most_likely_permutation(problem, fitted)
    at_best = -0.5 * _by_block(problem, ((problem.y[best] - fitted) / noise_scale) ** 2)
    ladder = _Ladder(problem, fitted, noise_scale, best, seed, workers, settings)
    gaps = np.empty((settings.runs, problem.n_blocks))
    for run in range(settings.runs):
        # A chain lags behind the temperature. From above and from below it does so with opposite
        # signs, which cancel in the mean of the two.
        hot = _shuffled(problem.starts, numbered_generator(seed, FIRST_BRIDGE + run))
        gaps[run] = 0.5 * (ladder.walk(hot, 2 * run) + ladder.walk(best, 2 * run + 1, down=True))
    return np.asarray(at_best - gaps)


class _Ladder:
    """Temperatures between all permutations alike and the density, and a chain at each of them."""

    def __init__(
        self,
        problem: Problem,
        fitted: FloatArray,
        noise_scale: float,
        best: IntArray,
        seed: int,
        workers: Workers,
        settings: BridgeSettings,
    ) -> None:
        self.problem, self.fitted, self.noise_scale = problem, fitted, noise_scale
        self.best_labels = problem.y[best]
        n, warm = problem.n_rows, settings.warm_sweeps
        sweeps = int(np.clip(settings.visits / n, settings.fewest_sweeps, settings.most_sweeps))
        schedule = Schedule((warm + sweeps) * n // 2, warm * n // 2, 1)
        self.align = SampledAlignment(Chain(problem, schedule, seed, workers), Prior())
        spread = problem.squares_inside(problem.y) * problem.squares_inside(fitted)
        strength = max(float(np.sqrt(spread)) / (n * noise_scale**2), settings.weakest)
        # Equal steps of `places` are about equal changes of the distribution, so that what is
        # integrated over them is smooth and Gauss' rule needs few nodes.
        length = float(np.arcsinh(2.0 * strength))
        places, widths = np.polynomial.legendre.leggauss(settings.nodes)
        places = 0.5 * (places + 1.0)
        self.inverses = np.sinh(length * places) / (2.0 * strength)
        self.widths = 0.5 * widths * length * np.cosh(length * places) / (2.0 * strength)

    def walk(self, perm: IntArray, number: int, *, down: bool = False) -> FloatArray:
        """The integral of each block, with a chain that starts at `perm`."""
        gap, n_nodes = np.zeros(self.problem.n_blocks), len(self.inverses)
        for step in range(n_nodes):
            node = n_nodes - 1 - step if down else step
            scale = self.noise_scale * self.inverses[node] ** -0.5
            state = State(
                np.empty(0), 0.0, scale, 0.0, fitted=self.fitted, labels=self.problem.y, perm=perm
            )
            found = self.align(state, FIRST_BRIDGE + number * n_nodes + step)
            perm = found.perm
            missing = self.fitted * (self.best_labels - found.expected) / self.noise_scale**2
            gap += self.widths[node] * _by_block(self.problem, missing)
        return gap


def _by_block(problem: Problem, values: FloatArray) -> FloatArray:
    return np.asarray(np.add.reduceat(values, problem.starts[:-1]))


def _shuffled(starts: IntArray, rng: np.random.Generator) -> IntArray:
    """A random permutation inside each block."""
    blocks = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.lexsort((rng.random(len(blocks)), blocks)).astype(np.int64)


def normal_log_density(labels: FloatArray) -> float:
    """Log density under one normal with the labels' own mean and variance: no features."""
    n, variance = len(labels), float(labels.var())
    if variance == 0.0:
        return float("nan")
    return -0.5 * n * (float(np.log(2.0 * np.pi * variance)) + 1.0)
