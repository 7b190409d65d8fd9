"""Labels in lost order by Stochastic EM: sweeps over rows sorted by u, then the family's M-step.

An exchange of labels changes the log-likelihood by ``(u_i - u_k)(v_l - v_j)``, as for normal
labels, so that the same sweeps serve every family with one number per row and label.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...alignment.hard import most_likely_permutation
from ...alignment.sampled import NOBODY
from ...alignment.sweeps import Sweeps
from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...families.irls import information_of, maximise
from ...kernels.swap import Schedule
from ...kernels.types import FloatArray, IntArray
from ..progress import Progress, Reporting, quiet
from .data import GlmData
from .settings import CHAIN, LOST, ChainSettings

NO_COSTS = np.empty(0)


class ChainFit(NamedTuple):
    """An average over the last iterations.

    Attributes
    ----------
    information : array of shape (k, k)
        Observed, of the coordinates and, where there is one, the log precision.
    complete : array of shape (q, q)
    """

    theta: FloatArray
    eta: FloatArray
    precision: float
    expected: FloatArray
    matched: FloatArray
    information: FloatArray
    complete: FloatArray
    converged: bool
    n_iter: int


class ChainRun(NamedTuple):
    """Where the iterations of a chain ended, averaged over the last of them."""

    theta: FloatArray
    precision: float
    converged: bool
    n_iter: int
    sweeps: Sweeps
    perm: IntArray


def fit_by_chain(
    data: GlmData,
    family: LabelFamily,
    theta: FloatArray,
    precision: float,
    seed: int,
    workers: Workers,
    chain: ChainSettings = CHAIN,
    reporting: Reporting = quiet,
) -> ChainFit:
    """Stochastic EM from given coefficients, with its information."""
    run = run_chain(data, family, theta, precision, seed, workers, chain, reporting)
    return _finish(data, family, run)


def run_chain(
    data: GlmData,
    family: LabelFamily,
    theta: FloatArray,
    precision: float,
    seed: int,
    workers: Workers,
    chain: ChainSettings = CHAIN,
    reporting: Reporting = quiet,
) -> ChainRun:
    """Stochastic EM from given coefficients."""
    problem = data.problem
    sweeps = Sweeps(problem, schedule_of(chain, data.n_movable), seed, workers)
    eta = data.offset + data.Z @ theta
    drawn = family.simulate(eta, precision, np.random.default_rng(seed))
    perm = most_likely_permutation(problem, drawn)
    kept: list[tuple[FloatArray, float]] = []
    converged, window = False, LOST.window
    max_iter = LOST.max_iter if chain.max_iter is None else chain.max_iter
    tolerance = LOST.tolerance if chain.tolerance is None else chain.tolerance
    with reporting(max_iter, "iterations") as report:
        for number in range(max_iter):
            expected, _, accepted = sweeps.run(
                family.interaction(eta, precision), data.y, perm, number, NO_COSTS, NOBODY
            )
            found = maximise(
                family, data.Z, data.offset, data.weights, expected[:, None], precision, theta
            )
            theta, eta = found.theta, found.eta
            precision = expected_precision(data, family, eta, expected, precision)
            kept.append((theta, precision))
            coef, intercept = data.design.natural(theta)
            report(
                Progress(number + 1, max_iter, acceptance_rate=accepted, coef=coef,
                         intercept=intercept)
            )  # fmt: skip
            converged = len(kept) >= 2 * window and _stands_still(
                kept, window, found.information, tolerance or LOST.tolerance
            )
            if converged and tolerance:
                break
    last = kept[-2 * window :] if converged else kept[-window:]
    theta = np.mean([t for t, _ in last], axis=0)
    precision = float(np.exp(np.mean([np.log(p) for _, p in last])))
    return ChainRun(theta, precision, converged, len(kept), sweeps, perm)


def schedule_of(chain: ChainSettings, n_movable: int) -> Schedule:
    """Proposals of one iteration; a fifth of them is not averaged."""
    n_steps = LOST.steps_per_row * n_movable if chain.n_steps is None else chain.n_steps
    burn_in = chain.burn_in
    if burn_in is None:
        burn_in = n_steps * LOST.burn_in_per_row // LOST.steps_per_row
    if burn_in >= n_steps:
        raise ValueError(
            f"burn_in={burn_in} leaves none of the n_steps={n_steps} proposals to average; raise "
            "n_steps, or lower burn_in"
        )
    return Schedule(n_steps, burn_in, 1)


def _stands_still(
    kept: list[tuple[FloatArray, float]], window: int, information: FloatArray, tolerance: float
) -> bool:
    """Whether two windows agree to a share of a standard error, or of the scatter inside them."""
    paths = [
        np.array([t for t, _ in part]) for part in (kept[-2 * window : -window], kept[-window:])
    ]
    shift = paths[1].mean(axis=0) - paths[0].mean(axis=0)
    errors = np.sqrt(np.diag(np.linalg.pinv(information)))
    scatter = np.sqrt((paths[0].var(axis=0) + paths[1].var(axis=0)) / window)
    return bool(np.all(np.abs(shift) < np.maximum(tolerance * errors, scatter)))


def expected_precision(
    data: GlmData, family: LabelFamily, eta: FloatArray, expected: FloatArray, before: float
) -> float:
    """Precision that maximises the expected log-likelihood."""
    if not family.has_precision:
        return 1.0
    slope = precision_slope(data, family, eta, expected)
    centre = np.log(before)
    low, high = centre - 1.0, centre + 1.0
    for _ in range(20):
        if slope(low) > 0.0 > slope(high):
            return float(np.exp(brentq(slope, low, high, xtol=1e-8)))
        low, high = low - 1.0, high + 1.0
    return float(np.exp(low if slope(low) <= 0.0 else min(high, np.log(1e6))))


def precision_slope(
    data: GlmData, family: LabelFamily, eta: FloatArray, expected: FloatArray
) -> Callable[[float], float]:
    """Derivative of the expected log-likelihood by the log precision."""

    def slope(log_precision: float) -> float:
        precision = float(np.exp(log_precision))
        rows, labels = family.row_terms(eta, precision), family.label_terms(data.y, precision)
        total = rows.a_log + rows.u_log[:, 0] * expected + labels.b_log
        return float(data.weights @ total)

    return slope


def _finish(data: GlmData, family: LabelFamily, run: ChainRun) -> ChainFit:
    """Louis' formula: complete information less the covariance of the score over permutations."""
    theta, precision, converged, n_iter, sweeps, perm = run
    q, n, eta = len(theta), data.n_movable, data.offset + data.Z @ theta
    rows = family.row_terms(eta, precision)
    columns = data.Z * rows.u_eta
    if family.has_precision:
        columns = np.column_stack([columns, rows.u_log])
    interaction = family.interaction(eta, precision)
    expected, matched = np.zeros(len(eta)), np.zeros(len(eta))
    scores = []
    for number in range(LOST.snapshots):
        labels, own, _ = sweeps.run(interaction, data.y, perm, n_iter + number, NO_COSTS, NOBODY)
        expected += labels / LOST.snapshots
        matched += own / LOST.snapshots
        held = columns[:n] * data.y[perm[:n], None]
        scores.append(np.add.reduceat(held, data.problem.starts[:-1]))
    centred = np.array(scores) - np.mean(scores, axis=0)
    missing = np.einsum("tgi,tgj->ij", centred, centred) / (len(scores) - 1)
    complete = information_of(data.Z, data.weights * family.fisher(eta, precision))
    information = np.zeros((columns.shape[1], columns.shape[1]))
    information[:q, :q] = complete
    if family.has_precision:
        slope, at = precision_slope(data, family, eta, expected), np.log(precision)
        information[q, q] = -(slope(at + 1e-4) - slope(at - 1e-4)) / 2e-4
    return ChainFit(
        theta, eta, precision, expected, matched, information - missing, complete, converged, n_iter
    )
