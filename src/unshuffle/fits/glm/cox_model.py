r"""The profile likelihood of times of which most are the row's own.

At given coefficients and rate the baseline hazard maximises the likelihood: Breslow's jumps with
the risk of each label averaged over whose it may be, repeated until they stand still. What is left
is a function of few parameters; by the envelope theorem its gradient is that at a fixed baseline.
"""

import numpy as np
from scipy.special import expit

from ...alignment.tied import RowNodes, Tied, nodes_of_labels, nodes_of_rows, tie_nodes
from ...families.cox import Times, cox_rows
from ...families.exponential import RowTerms
from ...families.poisson import safe_exp
from ...kernels.types import FloatArray
from .data import GlmData
from .settings import BASELINE
from .tied_model import Evaluation, Parameters, Shares, expected_statistics, given_rates, share_out


class CoxModel:
    """The profile log-likelihood of one data set, interface as `TiedModel`.

    Attributes
    ----------
    jumps : array
        Baseline at the parameters of the last evaluation, where the next one starts.
    """

    def __init__(
        self, data: GlmData, times: Times, jumps: FloatArray, mismatch_rate: float | None = None
    ) -> None:
        self.data, self.times, self.jumps = data, times, jumps
        self.estimates = mismatch_rate is None and data.match_prob is None
        self.given = given_rates(data, mismatch_rate)
        self.n_theta = data.Z.shape[1]
        self.n_parameters = self.n_theta + self.estimates
        self.tolerance = BASELINE.rough

    def pack(self, theta: FloatArray, redrawn: float) -> FloatArray:
        """Parameters as a vector."""
        if not self.estimates:
            return theta.copy()
        return np.append(theta, np.log(redrawn / (1.0 - redrawn)))

    def unpack(self, parameters: FloatArray) -> Parameters:
        """A vector as parameters."""
        redrawn = self.given
        if self.estimates:
            redrawn = np.full(self.data.n_movable, float(expit(parameters[-1])))
        return Parameters(parameters[: self.n_theta], 1.0, redrawn)

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient of the profile."""
        at = self.unpack(parameters)
        data, times, n = self.data, self.times, self.data.n_movable
        eta = data.offset + data.Z @ at.theta
        # The baseline takes up any constant; centred predictors keep it in range.
        eta = eta - np.log(np.average(safe_exp(eta - eta.max()), weights=data.weights)) - eta.max()
        jumps, rows = self.jumps, cox_rows(eta)
        nodes = nodes_of_rows(cox_rows, eta[:n], data.weights[:n], data.problem.starts)
        for _ in range(BASELINE.max_iter):
            before = times.cumulative(jumps)
            v, tied, shares = self._expect(rows, nodes, before, at.redrawn)
            risk = shares.own * safe_exp(eta)
            if n:
                risk[:n] += (1.0 - shares.own[:n]) * tied.means(-tied.rows.u[:, 1:])[:, 0]
            jumps = times.hazard(risk, data.weights)
            after = times.cumulative(jumps)
            if np.abs(after - before).max() <= self.tolerance * after.max():
                break
        self.jumps = jumps
        happened = times.events(data.weights)
        log_jumps = np.log(jumps[happened > 0.0])
        value = float(data.weights @ shares.log_density + happened[happened > 0.0] @ log_jumps)
        _, sums = expected_statistics(data, v, tied, shares)
        gradient = data.Z.T @ (sums[:, 0] - sums[:, 1] * safe_exp(eta))
        if self.estimates:
            by_rate = float(data.weights[:n] @ (1.0 - shares.own[:n] - at.redrawn))
            gradient = np.append(gradient, by_rate)
        return Evaluation(value, gradient, shares, eta)

    def log_densities(self, parameters: FloatArray) -> FloatArray:
        """Log density of each row's label at the best baseline, up to ties."""
        shares = self.evaluate(parameters).shares
        # Rows without an event have no jump.
        jumps = np.where(self.times.event > 0.0, self.jumps[self.times.place], 1.0)
        value: FloatArray = shares.log_density + np.log(jumps)
        return value

    def sharpen(self) -> None:
        """Let the baseline converge further."""
        self.tolerance = BASELINE.tolerance

    def _expect(
        self, rows: RowTerms, nodes: RowNodes, cumulative: FloatArray, redrawn: FloatArray
    ) -> tuple[FloatArray, Tied, Shares]:
        """The E-step at a baseline."""
        data, n = self.data, self.data.n_movable
        v = np.column_stack([self.times.event, cumulative])
        # log g is smooth in log(1 + hazard / scale), also at a hazard of zero.
        scale = 1.0 / float(-rows.u[:, 1].min())
        labels = nodes_of_labels(
            v[:n], data.problem.starts, np.log1p(cumulative[:n] / scale),
            lambda smooth: scale * np.expm1(smooth), 1.0, continuous=True,
        )  # fmt: skip
        tied = tie_nodes(nodes, labels)
        return v, tied, share_out(data, rows, v, tied, redrawn)
