r"""Times to an event: hazard :math:`h_0(t) e^\eta` with a free baseline (Cox), ties after Breslow.

With :math:`\Lambda_0` the cumulative baseline hazard, d = 1 for an event and 0 for a censored time,

.. math::

    \log f(t, d \mid \eta) = d \eta - \Lambda_0(t) e^\eta + d \log h_0(t),

so that :math:`u = (\eta, -e^\eta)` and :math:`v = (d, \Lambda_0(t))`. Censoring must not depend on
the features. The baseline is Breslow's: at each event time the number of events over the sum of
:math:`e^\eta` of those at risk. The exponential of a coefficient is a hazard ratio; there is no
intercept, and no dispersion.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.concordance import count_pairs
from ..kernels.types import FloatArray, IntArray
from .exponential import RowTerms
from .irls import solve_positive
from .poisson import safe_exp
from .row_errors import RowError
from .settings import IRLS


class Times:
    """Times and events, sorted once.

    Attributes
    ----------
    event : array of shape (n,)
        1 for an event, 0 for a censored time.
    distinct : array of shape (m,)
        The distinct times, ascending.
    place : array of shape (n,)
        Place of each time among them.
    """

    def __init__(self, time: FloatArray, event: FloatArray) -> None:
        self.time, self.event = time, event
        self.distinct, place = np.unique(time, return_inverse=True)
        self.place: IntArray = place.astype(np.int64)

    def at_risk(self, values: FloatArray) -> FloatArray:
        """Sum over all labels that are not over before each distinct time."""
        sums = np.bincount(self.place, values, minlength=len(self.distinct))
        return np.asarray(np.cumsum(sums[::-1])[::-1], dtype=np.float64)

    def events(self, weights: FloatArray) -> FloatArray:
        """Weight of the events at each distinct time."""
        sums = np.bincount(self.place, weights * self.event, minlength=len(self.distinct))
        return np.asarray(sums, dtype=np.float64)

    def hazard(self, risk: FloatArray, weights: FloatArray) -> FloatArray:
        """Breslow's jumps of the baseline; `risk` is the expected ``exp(eta)`` of each label."""
        events = self.events(weights)
        jumps = np.zeros(len(events))
        happened = events > 0.0
        jumps[happened] = events[happened] / self.at_risk(weights * risk)[happened]
        return jumps

    def cumulative(self, jumps: FloatArray) -> FloatArray:
        """Cumulative baseline hazard at the time of each label."""
        value: FloatArray = np.cumsum(jumps)[self.place]
        return value


def cox_rows(eta: FloatArray) -> RowTerms:
    """The row's part of the log density: ``a = 0`` and ``u = (eta, -exp(eta))``."""
    relative, zero = safe_exp(eta), np.zeros_like(eta)
    u = np.column_stack([eta, -relative])
    slopes = np.column_stack([np.ones_like(eta), -relative])
    return RowTerms(zero, u, zero, slopes, zero, np.zeros_like(u))


class PartialFit(NamedTuple):
    """A maximum of the partial likelihood."""

    theta: FloatArray
    eta: FloatArray
    information: FloatArray
    jumps: FloatArray
    log_likelihood: float
    converged: bool


def maximise_partial(
    Z: FloatArray,
    offset: FloatArray,
    times: Times,
    weights: FloatArray,
    start: FloatArray | None = None,
) -> PartialFit:
    """Newton's method with step halving on Breslow's partial likelihood."""
    theta = np.zeros(Z.shape[1]) if start is None else start.copy()
    value = partial_log_likelihood(offset + Z @ theta, times, weights)
    converged = False
    for _ in range(IRLS.max_iter):
        eta = offset + Z @ theta
        gradient, information = partial_derivatives(Z, eta, times, weights)
        step = solve_positive(information, gradient)
        if float(gradient @ step) < IRLS.smallest_gain * (1.0 + abs(value)):
            converged = True
            break
        for _ in range(IRLS.halvings):
            found = partial_log_likelihood(offset + Z @ (theta + step), times, weights)
            if found >= value - IRLS.rounding * (1.0 + abs(value)):
                break
            step = 0.5 * step
        else:
            converged = True  # nothing but rounding is left
            break
        theta, value = theta + step, found
    eta = offset + Z @ theta
    _, information = partial_derivatives(Z, eta, times, weights)
    jumps = times.hazard(safe_exp(eta), weights)
    return PartialFit(theta, eta, information, jumps, value, converged)


def partial_log_likelihood(eta: FloatArray, times: Times, weights: FloatArray) -> float:
    """Breslow's partial log-likelihood."""
    risk = times.at_risk(weights * safe_exp(eta))
    events = times.events(weights)
    happened = events > 0.0
    own = float((weights * times.event) @ eta)
    return own - float(events[happened] @ np.log(risk[happened]))


def partial_derivatives(
    Z: FloatArray, eta: FloatArray, times: Times, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient and information of the partial log-likelihood."""
    relative = weights * safe_exp(eta)
    risk, events = times.at_risk(relative), times.events(weights)
    happened = events > 0.0
    means = np.column_stack([times.at_risk(relative * column) for column in Z.T])
    means = means[happened] / risk[happened, None]
    jumps = np.zeros(len(events))
    jumps[happened] = events[happened] / risk[happened]
    exposed = relative * times.cumulative(jumps)
    gradient = Z.T @ (weights * times.event - exposed)
    information = Z.T @ (exposed[:, None] * Z) - means.T @ (events[happened, None] * means)
    return gradient, information


def check_times(time: FloatArray, event: FloatArray) -> None:
    """Positive times with at least one event."""
    wrong = np.flatnonzero(time <= 0)
    if len(wrong):
        raise RowError(
            "label", int(wrong[0]), "times must be positive", f"{time[wrong[0]]:g}",
            "count times from the start of observation, or drop rows that were never observed",
        )  # fmt: skip
    wrong = np.flatnonzero((event != 0) & (event != 1))
    if len(wrong):
        raise ValueError(
            f"events must be True or False (or 1 or 0), but row {wrong[0]} has "
            f"{event[wrong[0]]:g}; is the column of times given as that of events?"
        )
    if not event.any():
        raise ValueError(
            f"none of the {len(event)} rows has an event: hazards cannot be compared; check the "
            "column of events (True for an event, False for a censored time)"
        )


def concordance(time: FloatArray, event: FloatArray, risk: FloatArray) -> float:
    """Harrell's share of pairs in which the row with the earlier event has the higher risk.

    Pairs can be compared where the earlier time is an event. Ties of the risk count half, pairs of
    equal event times do not count.
    """
    order = np.argsort(time, kind="stable")
    ranks = np.unique(risk, return_inverse=True)[1].astype(np.int64) + 1
    tree = np.zeros(int(ranks.max()) + 1, dtype=np.int64)
    agreeing, ties, pairs = count_pairs(time[order], event[order] == 1.0, ranks[order], tree)
    if pairs == 0:
        raise ValueError("no pair of rows can be compared: every event comes last")
    return (agreeing + 0.5 * ties) / pairs
