r"""Hard EM for other families than the normal one: sort the labels, fit, and sort again.

.. math::

    \max_{\theta, \varphi, \pi} \; \sum_i \log f(y_{\pi(i)} \mid \eta_i, \varphi)

by turns. At fixed coefficients the best permutation inside groups sorts the labels as the linear
predictors, since u increases in them and v is the label. At a fixed permutation the rest is a
generalised linear model. Each descent ends in a local optimum, so that many starts are made.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...alignment.hard import ranked_labels
from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...families.irls import maximise
from ...kernels.match import match_groups, shuffle_groups
from ...kernels.types import FloatArray, IntArray
from ..progress import Progress, Reporting, quiet
from ..results import Design, Iterations, Matches
from ..settings import HardSettings
from .assemble import facts_of
from .data import GlmData
from .known import fit_known
from .lost_chain import expected_precision
from .settings import HARD
from .starts import theta_at


@dataclass(frozen=True, eq=False)
class HardFamilyFit:
    """The best of many descents; attributes as those of `HardFit` and `FamilyFit`.

    The objective is minus twice the log-likelihood of the matched labels.
    """

    family: str
    coef: FloatArray
    intercept: float
    precision: float
    dispersion: float
    design: Design
    iterations: Iterations
    matches: Matches
    n_init: int
    restart_objectives: FloatArray


class Descent(NamedTuple):
    """A local optimum, and the way to it."""

    theta: FloatArray
    precision: float
    labels: FloatArray
    perm: IntArray
    objectives: list[float]
    thetas: list[FloatArray]
    converged: bool


def fit_hard_family(
    data: GlmData,
    family: LabelFamily,
    settings: HardSettings,
    workers: Workers,
    *,
    names: list[str] | None = None,
    reporting: Reporting = quiet,
) -> HardFamilyFit:
    """Fit by Hard EM from the labels as given, from `init` and from random shuffles."""
    if data.weighted:
        raise ValueError(
            "sample_weight is not for labels in lost order: a weight belongs to a row, and which "
            "label belongs to the row is not known; leave it out, or repeat rows and labels"
        )
    known, problem = fit_known(data, family, names=names), data.problem
    ranked = ranked_labels(problem)
    given = [known.theta]
    if settings.init is not None:
        given.append(theta_at(data, family, known, settings.init))
    n_init = min(problem.n_rows, HARD.most_starts) if settings.n_init is None else settings.n_init
    n_init = max(n_init, len(given))

    def run(number: int) -> Descent:
        theta = given[number] if number < len(given) else None
        if theta is None:
            perm = np.empty(problem.n_rows, dtype=np.int64)
            shuffle_groups(perm, problem.starts, np.uint64(settings.seed), number)
            theta = _fitted(data, family, problem.y[perm], known.precision, known.theta)
        return descend(data, family, ranked, theta, known.precision, settings.max_iter)

    best, objectives = None, []
    with reporting(n_init, "starts") as report:
        for first in range(0, n_init, HARD.starts_at_once):
            for found in workers.map(run, range(first, min(first + HARD.starts_at_once, n_init))):
                objectives.append(found.objectives[-1])
                if best is None or found.objectives[-1] < best.objectives[-1]:
                    best = found
            report(Progress(len(objectives), n_init, min(objectives)))
    assert best is not None
    return _result(data, family, best, np.array(objectives))


def descend(
    data: GlmData,
    family: LabelFamily,
    ranked: IntArray,
    theta: FloatArray,
    precision: float,
    max_iter: int,
) -> Descent:
    """Sort and fit by turns until neither changes anything."""
    perm, labels = np.empty_like(ranked), np.empty(0)
    objectives: list[float] = []
    thetas: list[FloatArray] = []
    converged = False
    while len(objectives) < max_iter and not converged:
        before = labels
        match_groups(data.offset + data.Z @ theta, ranked, data.problem.starts, perm)
        labels = data.y[perm]
        theta = _fitted(data, family, labels, precision, theta)
        eta = data.offset + data.Z @ theta
        precision = expected_precision(data, family, eta, labels, precision)
        objectives.append(-2.0 * float(family.log_density(labels, eta, precision).sum()))
        thetas.append(theta)
        converged = np.array_equal(labels, before) and (
            objectives[-2] - objectives[-1] <= HARD.smallest_gain * (1.0 + abs(objectives[-1]))
        )
    return Descent(theta, precision, labels, perm, objectives, thetas, converged)


def _fitted(
    data: GlmData, family: LabelFamily, labels: FloatArray, precision: float, start: FloatArray
) -> FloatArray:
    found = maximise(family, data.Z, data.offset, data.weights, labels[:, None], precision, start)
    return found.theta


def _result(
    data: GlmData, family: LabelFamily, best: Descent, objectives: FloatArray
) -> HardFamilyFit:
    coef, intercept = data.design.natural(best.theta)
    problem = data.problem
    return HardFamilyFit(
        family=family.name,
        coef=coef,
        intercept=intercept,
        precision=best.precision,
        dispersion=family.dispersion(best.precision),
        design=facts_of(data),
        iterations=Iterations(
            best.converged,
            np.array(best.objectives),
            np.array([data.design.natural(theta)[0] for theta in best.thetas]),
        ),
        matches=Matches(problem.restore(best.labels), problem.restore_permutation(best.perm), None),
        n_init=len(objectives),
        restart_objectives=objectives,
    )
