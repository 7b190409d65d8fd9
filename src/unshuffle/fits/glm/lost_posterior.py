"""One chain over coefficients, dispersion and the permutation of labels in lost order.

An update sweeps over the permutation at given parameters, then proposes coefficients from a step of
Fisher's scoring at the labels as they stand (Gamerman 1997), and a log precision by a random step.
Each is accepted by Metropolis' rule. Labels hold coefficients back, so that several updates are
made between two draws.
"""

import numpy as np

from ...alignment.hard import most_likely_permutation
from ...alignment.sampled import NOBODY
from ...alignment.sweeps import Sweeps
from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...families.irls import information_of
from ...inference.sampling_settings import METROPOLIS, POSTERIOR
from ...kernels.swap import Schedule
from ...kernels.types import FloatArray
from .data import GlmData
from .parameter_prior import FamilyPrior

NO_COSTS = np.empty(0)


class LostChain:
    """A chain, advanced piece by piece; its stream depends on (seed, number) alone.

    Attributes
    ----------
    draws : array of shape (n_draws, q), or q + 1 with the log precision last
    """

    def __init__(
        self,
        data: GlmData,
        family: LabelFamily,
        prior: FamilyPrior,
        theta: FloatArray,
        precision: float,
        seed: int,
        number: int,
        *,
        updates: int,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
    ) -> None:
        source = np.random.SeedSequence((seed, number))
        swap_seed = int(source.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self.data, self.family, self.prior, self.updates = data, family, prior, updates
        self.rng = np.random.default_rng(source)
        n = data.n_movable
        for_small = min(POSTERIOR.sweeps_of_small * n, POSTERIOR.proposals_of_small)
        n_proposals = max(POSTERIOR.sweeps * n, for_small, 1)
        self.sweeps = Sweeps(data.problem, Schedule(n_proposals, 0, 1), swap_seed, Workers(1))
        self.n_warmup, self.thin = n_warmup, thin
        self.n_iterations = n_warmup + n_draws * thin
        self.theta, self.precision = theta.copy(), precision
        drawn = family.simulate(data.offset + data.Z @ theta, precision, self.rng)
        self.perm = most_likely_permutation(data.problem, drawn)
        self.iteration = self.number = 0
        self.step = METROPOLIS.precision_step * (2.0 / len(data.y)) ** 0.5
        self.sum_of_facts = np.zeros(len(data.y))
        self.draws = np.empty((n_draws, len(theta) + family.has_precision))

    @property
    def mean_facts(self) -> FloatArray:
        """Match probabilities, over all iterations after the warm-up."""
        value: FloatArray = self.sum_of_facts / max(self.iteration - self.n_warmup, 1)
        return value

    def advance(self, n_iterations: int) -> None:
        """Make up to `n_iterations` more iterations."""
        for _ in range(min(n_iterations, self.n_iterations - self.iteration)):
            for _ in range(self.updates):
                matched = self._sweep()
                self._move_coefficients()
                if self.family.has_precision:
                    self._move_precision()
            self.iteration += 1
            if self.iteration > self.n_warmup:
                self.sum_of_facts += matched
                if (self.iteration - self.n_warmup) % self.thin == 0:
                    self._keep((self.iteration - self.n_warmup) // self.thin - 1)

    def _keep(self, k: int) -> None:
        self.draws[k, : len(self.theta)] = self.theta
        if self.family.has_precision:
            self.draws[k, -1] = np.log(self.precision)

    def _eta(self, theta: FloatArray) -> FloatArray:
        eta: FloatArray = self.data.offset + self.data.Z @ theta
        return eta

    def _sweep(self) -> FloatArray:
        """Permutation | the rest; returns match probabilities."""
        interaction = self.family.interaction(self._eta(self.theta), self.precision)
        _, matched, _ = self.sweeps.run(
            interaction, self.data.y, self.perm, self.number, NO_COSTS, NOBODY
        )
        self.number += 1
        return matched

    def _move_coefficients(self) -> None:
        """Coefficients | the rest."""
        labels = self.data.y[self.perm]
        value, mean, information = self._scored(self.theta, labels)
        root = np.linalg.cholesky(information)
        theta = mean + np.linalg.solve(root.T, self.rng.standard_normal(len(mean)))
        with np.errstate(over="ignore", invalid="ignore"):  # a trial may go much too far
            moved, back, other = self._scored(theta, labels)
        if not (np.isfinite(moved) and np.isfinite(other).all() and np.isfinite(back).all()):
            return
        gain = moved - value
        gain += _log_normal(self.theta - back, other) - _log_normal(theta - mean, information)
        if np.log(self.rng.random()) < gain:
            self.theta = theta

    def _scored(
        self, theta: FloatArray, labels: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Log density, where a step of scoring leads, and the information."""
        eta = self._eta(theta)
        rows = self.family.row_terms(eta, self.precision)
        v = self.family.statistic(labels)
        value, slope = self.prior.of_theta(theta)
        value += float((rows.a + rows.u[:, 0] * v).sum())
        gradient = self.data.Z.T @ (rows.a_eta + rows.u_eta[:, 0] * v) + slope
        information = information_of(self.data.Z, self.family.fisher(eta, self.precision))
        information += self.prior.information
        if not np.isfinite(information).all():
            return -np.inf, theta, information
        return value, theta + np.linalg.solve(information, gradient), information

    def _move_precision(self) -> None:
        """Precision | the rest."""
        eta, labels = self._eta(self.theta), self.data.y[self.perm]
        before = float(np.log(self.precision))
        after = before + self.step * float(self.rng.standard_normal())
        gain = self._of_precision(after, eta, labels) - self._of_precision(before, eta, labels)
        accepted = float(np.exp(min(gain, 0.0))) if np.isfinite(gain) else 0.0
        if self.rng.random() < accepted:
            self.precision = float(np.exp(after))
        if self.iteration < self.n_warmup:
            rate = (1.0 + self.number) ** -POSTERIOR.fading
            self.step *= float(np.exp(rate * (accepted - POSTERIOR.good_acceptance)))

    def _of_precision(self, log_precision: float, eta: FloatArray, labels: FloatArray) -> float:
        density = self.family.log_density(labels, eta, float(np.exp(log_precision)))
        return float(density.sum()) + self.prior.of_log_precision(log_precision)[0]


def _log_normal(off: FloatArray, information: FloatArray) -> float:
    """Log density of a normal with a given information, up to a constant."""
    return 0.5 * float(np.linalg.slogdet(information)[1] - off @ information @ off)
