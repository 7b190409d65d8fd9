r"""The likelihood of labels of which most are the row's own, and its derivatives.

.. math::

    \ell(\theta, \varphi, \alpha) = \sum_i w_i \log((1 - \alpha_i) f(y_i \mid x_i) +
    \alpha_i\, g(y_i)),

with g tied to the model (`alignment.tied`). A redrawn label may come from any row of the group, the
own one included; the rate of mismatches is the share of those that come from another. Derivatives
are those of the complete data, averaged over whose label it is (Fisher's identity).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ...alignment.settings import TIED, TiedSettings
from ...alignment.tied import LabelNodes, Tied, nodes_of_labels, tie
from ...families.exponential import LabelFamily, LabelTerms, RowTerms
from ...kernels.types import FloatArray
from .data import GlmData

NEARLY_ONE = 1.0 - 1e-12
NOT_COLLECTED = replace(TIED, collects=False)  # features belong to rows, not to nodes


class Shares(NamedTuple):
    """How a label comes about at given parameters.

    Attributes
    ----------
    log_density : array of shape (n,)
        Up to the label's own term b.
    own : array of shape (n,)
        Probability that the label was not redrawn.
    matched : array of shape (n,)
        Probability that it is the row's own.
    """

    log_density: FloatArray
    own: FloatArray
    matched: FloatArray


class Evaluation(NamedTuple):
    """The log-likelihood at given parameters."""

    value: float
    gradient: FloatArray
    shares: Shares
    eta: FloatArray


class Parameters(NamedTuple):
    """What a vector of parameters means."""

    theta: FloatArray
    precision: float
    redrawn: FloatArray


class TiedModel:
    """The log-likelihood of one data set.

    Attributes
    ----------
    estimates : bool
        Whether the rate is a parameter, the last one, as a logit.
    """

    def __init__(
        self,
        data: GlmData,
        family: LabelFamily,
        mismatch_rate: float | None = None,
        precision: float = 1.0,
    ) -> None:
        self.data, self.family = data, family
        self.estimates = mismatch_rate is None and data.match_prob is None
        self.given = given_rates(data, mismatch_rate)
        self.n_theta = data.Z.shape[1]
        self.n_parameters = self.n_theta + family.has_precision + self.estimates
        labels = data.y[: data.n_movable]
        smooth, back, width = smooth_variable(family, precision)
        self.nodes: LabelNodes = nodes_of_labels(
            labels[:, None], data.problem.starts, smooth(labels), back, width, continuous=False
        )

    def pack(self, theta: FloatArray, precision: float, redrawn: float) -> FloatArray:
        """Parameters as a vector."""
        more = [np.log(precision)] if self.family.has_precision else []
        if self.estimates:
            more.append(np.log(redrawn / (1.0 - redrawn)))
        return np.append(theta, more)

    def unpack(self, parameters: FloatArray) -> Parameters:
        """A vector as parameters."""
        precision = 1.0
        if self.family.has_precision:
            precision = float(np.exp(np.clip(parameters[self.n_theta], -20.0, 40.0)))
        redrawn = self.given
        if self.estimates:
            redrawn = np.full(self.data.n_movable, float(expit(parameters[-1])))
        return Parameters(parameters[: self.n_theta], precision, redrawn)

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient."""
        at = self.unpack(parameters)
        data, n = self.data, self.data.n_movable
        eta, rows, labels, tied, shares = self._expect(at, TIED)
        value = float(data.weights @ (shares.log_density + labels.b))
        mass, sums = expected_statistics(data, labels.v, tied, shares)
        by_eta = mass * rows.a_eta + (sums * rows.u_eta).sum(axis=1)
        gradient = [data.Z.T @ by_eta]
        if self.family.has_precision:
            by_log = mass * rows.a_log + (sums * rows.u_log).sum(axis=1)
            gradient.append([by_log.sum() + data.weights @ labels.b_log])
        if self.estimates:
            gradient.append([float(data.weights[:n] @ (1.0 - shares.own[:n] - at.redrawn))])
        return Evaluation(value, np.concatenate(gradient), shares, eta)

    def sharpen(self) -> None:
        """Evaluations are exact to rounding already."""

    def row_scores(self, parameters: FloatArray) -> FloatArray:
        """Gradient of each label's log density, shape (n, n_parameters), for the sandwich."""
        at = self.unpack(parameters)
        data, n, q = self.data, self.data.n_movable, self.n_theta
        _, rows, labels, tied, shares = self._expect(at, NOT_COLLECTED)
        parts = _score_columns(data.Z, rows, self.family.has_precision)
        own = np.zeros((len(data.y), self.n_parameters))
        own[:, : parts.a.shape[1]] = parts.a + parts.u * labels.v
        means = tied.means(np.ascontiguousarray(np.hstack([parts.a[:n], parts.u[:n]])))
        width = parts.a.shape[1]
        other = means[:, :width] + means[:, width:] * labels.v[:n]
        scores = own * shares.own[:, None]
        scores[:n, :width] += (1.0 - shares.own[:n, None]) * other
        if self.family.has_precision:
            scores[:, q] += labels.b_log
        if self.estimates:
            scores[:n, -1] = 1.0 - shares.own[:n] - at.redrawn
        weighted: FloatArray = scores * data.weights[:, None]
        return weighted

    def _expect(
        self, at: Parameters, settings: TiedSettings
    ) -> tuple[FloatArray, RowTerms, LabelTerms, Tied, Shares]:
        """The E-step."""
        data, family, n = self.data, self.family, self.data.n_movable
        eta = data.offset + data.Z @ at.theta
        rows = family.row_terms(eta, at.precision)
        labels = family.label_terms(data.y, at.precision)
        width = float(family.fisher(eta[:n], at.precision).max(initial=1e-12)) ** -0.5
        tied = tie(
            lambda points: family.row_terms(points, at.precision), eta[:n], data.weights[:n],
            data.problem.starts, self.nodes, width, settings,
        )  # fmt: skip
        return eta, rows, labels, tied, share_out(data, rows, labels.v, tied, at.redrawn)


class _ScoreColumns(NamedTuple):
    a: FloatArray
    u: FloatArray


def _score_columns(Z: FloatArray, rows: RowTerms, has_precision: bool) -> _ScoreColumns:
    """Derivatives of a and of u by all coefficients and, where there is one, the log precision."""
    a, u = Z * rows.a_eta[:, None], Z * rows.u_eta
    if has_precision:
        a, u = np.column_stack([a, rows.a_log]), np.column_stack([u, rows.u_log])
    return _ScoreColumns(a, u)


def share_out(
    data: GlmData, rows: RowTerms, v: FloatArray, tied: Tied, redrawn: FloatArray
) -> Shares:
    """Whose label each row holds, at given densities."""
    n = data.n_movable
    log_own = rows.a + (rows.u * v).sum(axis=1)
    log_density, own, matched = log_own.copy(), np.ones(len(v)), np.ones(len(v))
    with np.errstate(divide="ignore"):
        of_own = np.log1p(-redrawn) + log_own[:n]
        of_any = np.log(redrawn) + tied.log_mean
    log_density[:n] = np.logaddexp(of_own, of_any)
    own[:n] = np.exp(of_own - log_density[:n])
    by_chance = redrawn * data.weights[:n] / data.block_weights()
    matched[:n] = own[:n] + by_chance * np.exp(log_own[:n] - log_density[:n])
    return Shares(log_density, own, np.minimum(matched, 1.0))


def expected_statistics(
    data: GlmData, v: FloatArray, tied: Tied, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Expected number of labels of each row, and their expected summed statistic."""
    n = data.n_movable
    mass, sums = shares.own.copy(), v * shares.own[:, None]
    if n:
        more, statistic = tied.give_back(data.weights[:n] * (1.0 - shares.own[:n]))
        mass[:n] += more
        sums[:n] += statistic
    return mass * data.weights, sums * data.weights[:, None]


def given_rates(data: GlmData, mismatch_rate: float | None) -> FloatArray:
    """Probability that each label was redrawn, from rates of labels of other rows."""
    n = data.n_movable
    rate = np.full(n, 0.5 if mismatch_rate is None else mismatch_rate)
    if data.match_prob is not None:
        rate = 1.0 - data.match_prob[:n]
    other = 1.0 - data.weights[:n] / data.block_weights() if n else np.empty(0)
    value: FloatArray = np.minimum(rate / np.maximum(other, 1e-12), NEARLY_ONE)
    return value


Map = Callable[[FloatArray], FloatArray]


def smooth_variable(family: LabelFamily, precision: float) -> tuple[Map, Map, float]:
    """A variable in which the log of a mean of densities is smooth, the way back, and its width.

    Exchanged labels make labels look less precise than they are, by a factor of four at most cases
    that can be fitted at all.
    """
    if family.name == "gamma":
        return np.log, np.exp, 0.5 / precision**0.5
    if family.name == "normal":
        return np.copy, np.copy, 0.5 / precision**0.5
    return np.sqrt, np.square, 0.5
