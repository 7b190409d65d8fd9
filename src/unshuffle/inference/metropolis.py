r"""One chain over a few parameters with a density that can be computed.

An iteration makes two proposals, each accepted by Metropolis' rule:

1. **From around the mode**, Student's t with the curvature there: nearly independent draws where
   the posterior is nearly normal.
2. **A random step**, which finds its way where it is not.

Location, shape and length of both are learnt during the warm-up alone.
"""

from collections.abc import Callable

import numpy as np

from ..kernels.types import FloatArray
from .sampling_settings import METROPOLIS, POSTERIOR, MetropolisSettings

# Log density up to a constant, and what is averaged over draws.
Density = Callable[[FloatArray], tuple[float, FloatArray]]


class MetropolisChain:
    """A chain, advanced piece by piece; its stream depends on (seed, number) alone.

    Parameters
    ----------
    density : callable
    start, mode : arrays of shape (k,)
    shape : array of shape (k, k)
        Covariance at the mode.
    seed, number : int
        Of the run, and of the chain in it.
    n_warmup, n_draws, thin : int
        Iterations that adapt and are forgotten, draws that are kept, iterations between two.

    Attributes
    ----------
    draws : array of shape (n_draws, k)
    """

    def __init__(
        self,
        density: Density,
        start: FloatArray,
        mode: FloatArray,
        shape: FloatArray,
        seed: int,
        number: int,
        *,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        settings: MetropolisSettings = METROPOLIS,
    ) -> None:
        self.density, self.settings = density, settings
        self.rng = np.random.default_rng(np.random.SeedSequence((seed, number)))
        self.n_warmup, self.thin = n_warmup, thin
        self.n_iterations = n_warmup + n_draws * thin
        with np.errstate(over="ignore", invalid="ignore"):  # a start may lie much too far away
            self.at, (self.value, self.facts) = start.copy(), density(start)
        if not np.isfinite(self.value):
            self.at, (self.value, self.facts) = mode.copy(), density(mode)
        self.mode, self.root = mode, np.linalg.cholesky(shape)
        self.step = POSTERIOR.first_length / max(len(start), 1) ** 0.5
        self.iteration = 0
        self.sum_of_facts = np.zeros_like(self.facts)
        self.draws = np.empty((n_draws, len(start)))
        self._seen: list[FloatArray] = []

    @property
    def mean_facts(self) -> FloatArray:
        """What is averaged, over all iterations after the warm-up."""
        value: FloatArray = self.sum_of_facts / max(self.iteration - self.n_warmup, 1)
        return value

    def advance(self, n_iterations: int) -> None:
        """Make up to `n_iterations` more iterations."""
        for _ in range(min(n_iterations, self.n_iterations - self.iteration)):
            self._from_mode()
            self._walk()
            self.iteration += 1
            if self.iteration <= self.n_warmup:
                self._adapt()
                continue
            self.sum_of_facts += self.facts
            if (self.iteration - self.n_warmup) % self.thin == 0:
                self.draws[(self.iteration - self.n_warmup) // self.thin - 1] = self.at

    def _from_mode(self) -> None:
        k, freedom = len(self.at), self.settings.freedom
        scale = (freedom / self.rng.chisquare(freedom)) ** 0.5
        trial = self.mode + scale * (self.root @ self.rng.standard_normal(k))
        self._accept(trial, self._log_t(self.at) - self._log_t(trial))

    def _walk(self) -> None:
        trial = self.at + self.step * (self.root @ self.rng.standard_normal(len(self.at)))
        accepted = self._accept(trial, 0.0)
        if self.iteration < self.n_warmup:
            rate = (1.0 + self.iteration) ** -POSTERIOR.fading
            self.step *= float(np.exp(rate * (accepted - POSTERIOR.good_acceptance)))

    def _accept(self, trial: FloatArray, correction: float) -> float:
        """Move with the probability that is returned."""
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may go much too far
            value, facts = self.density(trial)
        if not np.isfinite(value):
            return 0.0
        share = float(np.exp(min(value - self.value + correction, 0.0)))
        if self.rng.random() < share:
            self.at, self.value, self.facts = trial, value, facts
        return share

    def _log_t(self, at: FloatArray) -> float:
        freedom, k = self.settings.freedom, len(at)
        off = np.linalg.solve(self.root, at - self.mode)
        return float(-0.5 * (freedom + k) * np.log1p(off @ off / freedom))

    def _adapt(self) -> None:
        """Learn location and shape from what was seen, during the warm-up only."""
        k = len(self.at)
        if self.iteration > self.n_warmup // 4:
            self._seen.append(self.at)
        # The last quarter is left for the length of steps to follow.
        if self.iteration not in {self.n_warmup // 2, 3 * self.n_warmup // 4}:
            return
        if len(self._seen) > self.settings.draws_per_direction * k:
            seen = np.array(self._seen)
            before = self.root @ self.root.T
            learnt = np.atleast_2d(np.cov(seen, rowvar=False))
            mixed = learnt + self.settings.added_variance * before
            self.mode, self.root = seen.mean(axis=0), np.linalg.cholesky(mixed)
