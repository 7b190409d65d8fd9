"""Where Stochastic EM begins, and how it goes faster from there."""

import math
from typing import TYPE_CHECKING, NamedTuple

from ..alignment.carry import draw_permutation
from ..alignment.hard import most_likely_permutation
from ..alignment.state import State
from ..em.loop import Drift, Leap, Settled, never, noise_scale
from ..em.newton import newton_from
from ..em.sample import WINDOW, WINDOW_OF_LEAPS, fit_sample, sample_step
from ..em.squarem import Leaps
from ..search.mostly_right import mostly_right_start
from ._base import Task
from ._plan import Plan

if TYPE_CHECKING:
    from .stochastic import StochasticEMRegressor


class Beginning(NamedTuple):
    """Where EM begins, what may move it on between iterations, and when it has settled."""

    start: State
    leap: Leap | None
    settled: Settled


def begin(model: "StochasticEMRegressor", task: Task, plan: Plan) -> Beginning:
    """The start: robust where the order is mostly right, sorted where it is lost."""
    if plan.by_newton:
        return begin_on_sample(task, plan.tol)
    prior = plan.prior
    if prior.mostly_right:
        given = None if isinstance(model.init, str) else model._start(task)
        start = mostly_right_start(task.problem, task.solver, prior, given, task.seed)
    elif model.variant == "published" or prior.places is not None:
        start = model._start(task)
    elif not isinstance(model.init, str):
        start = given_start(model, task)
    else:
        # The order is lost, so the likeliest permutation is the best place to begin.
        start = model._start(task)
        start = start._replace(perm=most_likely_permutation(task.problem, start.fitted))
    settled = Drift(task.problem, task.solver, plan.tol, WINDOW) if plan.tol else never
    return Beginning(start, leaps(model, task, plan), settled)


def given_start(model: "StochasticEMRegressor", task: Task) -> State:
    """Given coefficients mean what they say: begin with the noise that belongs to them.

    That around the labels as they happen to stand would wash them out, and that around the best
    match to them is too small wherever rows can exchange labels. However labels stand, inside their
    group they vary by what the fitted values vary and by the noise.
    """
    problem, solver, start = task.problem, task.solver, model._start(task)
    matched = most_likely_permutation(problem, start.fitted)
    residual = problem.y[matched] - start.fitted
    noise = noise_scale(problem, solver, float(residual @ residual))
    excess = problem.squares_inside(problem.y) - problem.squares_inside(start.fitted)
    if excess > 0.0:
        noise = max(noise, math.sqrt(excess / (problem.n_movable - problem.n_blocks)))
    perm = draw_permutation(problem, start.fitted, noise, task.seed)
    return start._replace(perm=perm, noise_scale=noise)


def begin_on_sample(task: Task, tol: float) -> Beginning:
    """Begin where EM settles on a sample of the groups, and go on by Newton's steps."""
    problem, solver = task.problem, task.solver
    few = problem.thinned(sample_step(problem.n_movable))
    found = fit_sample(
        few, fit_intercept=solver.fit_intercept, seed=task.seed, workers=task.workers
    )
    return Beginning(*newton_from(problem, solver, found, task.seed, task.workers, tol))


def leaps(model: "StochasticEMRegressor", task: Task, plan: Plan) -> Leap | None:
    """Longer steps, for exact EM until it settles.

    Where the order is mostly right a chain scatters more than its steps shrink, and leaps cost more
    iterations than they spare.
    """
    if model.variant == "published" or plan.tol == 0:
        return None
    if plan.prior.mostly_right and model.alignment == "chain":
        return None
    window = WINDOW_OF_LEAPS if model.alignment == "chain" else 1
    return Leaps(task.problem, task.solver, window, with_rate=plan.prior.estimates)
