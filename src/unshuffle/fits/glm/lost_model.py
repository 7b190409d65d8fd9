"""Yes/no labels of which each group shows the number of ones alone: the exact likelihood."""

import numpy as np

from ...families.bernoulli import BERNOULLI
from ...kernels.conditional_bernoulli import expect_labels
from ...kernels.types import FloatArray
from .data import GlmData
from .settings import LOST
from .tied_model import Evaluation, Shares


class LostBernoulli:
    """Log probability of the numbers of ones; interface as `TiedModel`."""

    estimates = False

    def __init__(self, data: GlmData) -> None:
        largest = int(np.diff(data.problem.starts).max(initial=0))
        if largest > LOST.largest_group:
            raise ValueError(
                f"a group has {largest:,} rows; sums over yes/no labels in lost order are for "
                f"groups of up to {LOST.largest_group:,}: use smaller groups, or "
                "pairing='mostly-right' if most rows hold their own label"
            )
        self.data = data
        self.n_parameters = data.Z.shape[1]
        starts, n = data.problem.starts, data.n_movable
        self.counts = np.add.reduceat(data.y[:n], starts[:-1]).astype(np.int64)

    def expect(self, eta: FloatArray) -> tuple[FloatArray, float]:
        """Expected labels, and the log-likelihood."""
        data, n = self.data, self.data.n_movable
        expected = data.y.copy()
        value = expect_labels(eta[:n], self.counts, data.problem.starts, expected[:n])
        own = BERNOULLI.log_density(data.y[n:], eta[n:], 1.0)
        return expected, value + float(own.sum())

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient."""
        eta = self.data.offset + self.data.Z @ parameters
        expected, value = self.expect(eta)
        gradient = self.data.Z.T @ (expected - BERNOULLI.mean(eta))
        # Where a group has ones and zeros, a label stands beside a row of that label by chance.
        matched = expected * self.data.y + (1.0 - expected) * (1.0 - self.data.y)
        return Evaluation(value, gradient, Shares(expected, expected, matched), eta)

    def sharpen(self) -> None:
        """Evaluations are exact to rounding already."""
