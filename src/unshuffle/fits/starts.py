"""Where Stochastic EM starts, how it is accelerated, and when it stops."""

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..alignment.hard import most_likely_permutation
from ..alignment.state import State
from ..data.threads import Workers
from ..em.information import Covariance, with_monte_carlo_error
from ..em.loop import Accelerate, EMResult, Stop
from ..em.memory import MemoryTable
from ..em.newton import Newton, NewtonAcceleration, StopOnAverage
from ..em.passes import PassesTable
from ..em.sample import fit_sample
from ..em.scores import Snapshots, scores_of
from ..em.squarem import SquaremAcceleration
from ..em.stopping import StopWhenStable, never
from ..em.table import Expected, Table
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from ..search.mostly_right import mostly_right_start
from ..search.robust import fit_mixture
from .plan import Plan
from .settings import StochasticSettings

AnyTable: TypeAlias = Table[Any]


@dataclass(frozen=True, eq=False)
class ScoreRecord:
    """Scores at the states of late iterations, which serve as snapshots for the information."""

    table: MemoryTable
    workers: Workers
    scores: deque[FloatArray]

    def __call__(self, state: State) -> None:
        """Keep the score where the chain is."""
        problem, solver = self.table.problem, self.table.solver
        self.scores.append(scores_of(problem, solver, state, problem.y, self.workers))

    def snapshots(self, noise_scale: float) -> Snapshots:
        """What was recorded, in the units of the end."""
        scores = np.array(self.scores)
        scores[:, :, :-1] /= noise_scale**2
        return Snapshots(scores)


class Course(NamedTuple):
    """How EM runs.

    Attributes
    ----------
    start : State
    accelerate : callable or None
    stop : callable
    record : ScoreRecord or None
    """

    start: State
    accelerate: Accelerate | None
    stop: Stop
    record: ScoreRecord | None = None

    def with_monte_carlo_error(
        self, covariance: Covariance | None, result: EMResult[Expected]
    ) -> Covariance | None:
        """Add the Monte Carlo error of the average that EM stopped on."""
        if covariance is None or not result.converged:
            return covariance
        if not isinstance(self.stop, StopOnAverage):
            return covariance
        return with_monte_carlo_error(covariance, *self.stop.added(result.steps))


def course_of(
    table: AnyTable, plan: Plan, settings: StochasticSettings, workers: Workers
) -> Course:
    """The start: robust where the order is mostly right, sorted where it is lost."""
    stop: Stop = never
    if plan.tol:
        stop = StopWhenStable(table, plan.tol, settings.em.iteration.window)
    if plan.by_newton:
        return newton_course(table, plan, settings, workers, stop)
    accelerate = acceleration(table, plan, settings)
    return Course(start_of(table, plan, settings), accelerate, stop)


def start_of(table: AnyTable, plan: Plan, settings: StochasticSettings) -> State:
    """Initial values without a sample."""
    prior, init, seed = plan.prior, settings.init, settings.seed
    if isinstance(table, PassesTable):
        if prior.mostly_right:
            return robust_start(table, plan, settings)
        return table.ordinary_start() if init is None else table.given_start(init)
    assert isinstance(table, MemoryTable)
    given = None if init is None else table.start_at(init)
    if prior.mostly_right:
        return mostly_right_start(table.problem, table.solver, prior, given, seed)
    if settings.variant == "published" or prior.places is not None:
        return given or table.ordinary_start()
    if init is not None:
        return table.place(table.given_start(init), seed)
    # The order is lost, so the chain starts from the most likely permutation.
    start = table.ordinary_start()
    return start._replace(perm=most_likely_permutation(table.problem, start.fitted))


def robust_start(table: PassesTable, plan: Plan, settings: StochasticSettings) -> State:
    """A mixture fitted to a sample of rows."""
    rows, rate = table.sample_rows(settings.em.restart), plan.prior.rate
    known_rate = None if plan.prior.estimates else rate
    mixture = fit_mixture(
        LeastSquares(rows.X, fit_intercept=settings.fit_intercept),
        rows.y,
        mismatch_rate=known_rate,
        known=rows.pinned,
    )
    if settings.init is None:
        start = table.start_at(mixture.coef, mixture.intercept)
    else:
        start = table.start_at(settings.init)
    return start._replace(
        noise_scale=max(mixture.noise_scale, table.noise_scale(0.0)),
        mismatch_rate=mixture.mismatch_rate if known_rate is None else known_rate,
    )


def newton_course(
    table: AnyTable,
    plan: Plan,
    settings: StochasticSettings,
    workers: Workers,
    stop: Stop,
) -> Course:
    """Start where EM ends on a sample of the groups, and continue by Newton's steps."""
    em = settings.em
    found = fit_sample(
        table.sample_groups(em.sample.rows),
        fit_intercept=settings.fit_intercept,
        seed=settings.seed,
        workers=workers,
        settings=em,
    )
    start = table.start_at(found.coef, found.intercept)._replace(noise_scale=found.noise_scale)
    start = table.place(start, settings.seed)
    # A chain that restarts near the posterior does not lag behind.
    newton = Newton(start, found.gain, 1.0 if table.restarts else em.newton.lag, table, em.newton)
    record = None
    if isinstance(table, MemoryTable):
        kept: deque[FloatArray] = deque(maxlen=em.information.fewest_snapshots)
        record = ScoreRecord(table, workers, kept)
    accelerate = NewtonAcceleration(table, newton, record)
    return Course(start, accelerate, StopOnAverage(newton, plan.tol, stop), record)


def acceleration(table: AnyTable, plan: Plan, settings: StochasticSettings) -> Accelerate | None:
    """Longer steps, for exact EM with a tolerance.

    Where the order is mostly right the scatter of a chain is larger than its steps, and
    extrapolation costs more iterations than it spares. Reading the data anew scatters as much.
    """
    sampled = settings.alignment == "chain"
    if settings.variant == "published" or plan.tol == 0 or table.restarts:
        return None
    if plan.prior.mostly_right and sampled:
        return None
    window = settings.em.iteration.squarem_window if sampled else 1
    with_rate = plan.prior.estimates
    return SquaremAcceleration(table, window, with_rate=with_rate, settings=settings.em.squarem)
