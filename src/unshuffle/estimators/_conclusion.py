"""The end of Stochastic EM: averages, match probabilities, uncertainty."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..alignment.soft import SoftAlignment
from ..alignment.state import Align, Alignment, State
from ..em.information import (
    Snapshots,
    chance_of_information,
    louis_covariance,
    score_snapshots,
    snapshots_needed,
    sweeps_between,
    with_chance,
)
from ..em.loop import EMResult, settle_on_average, solve
from ..em.newton import Averaged, NewtonSteps
from ..em.sample import WINDOW
from ..inference.permutations import PermutationPosterior, likely_permutation, without_features
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ._base import Outcome, Task
from ._beginning import Beginning
from ._inference import labels_as_given, told_of_uncertainty
from ._plan import Plan

if TYPE_CHECKING:
    from .stochastic import StochasticEMRegressor

# Match probabilities are read off one by one, so they are averaged for longer than coefficients.
FINAL_STEPS = 4_000_000
MOST_FINAL_RUNS = 30
FEWEST_RECORDED = 5  # snapshots from the way, which lie far apart
# Information that is less than so many times its own error is looked at again.
MOST_LOOKS, DOUBTFUL = 4, 2.0


def conclude(
    model: "StochasticEMRegressor",
    task: Task,
    plan: Plan,
    align: Align,
    result: EMResult,
    beginning: Beginning,
) -> Outcome:
    """Average the last iterations, look around there, and tell what was seen."""
    problem, solver = task.problem, task.solver
    # Probabilities of a chain gain from every state that it passes through; others are exact.
    sampled = plan.prior.mostly_right and model.alignment == "chain"
    n_runs = final_runs(model, task, plan) if sampled else 1
    if plan.by_newton:  # the last iteration was long, and where the average is
        n_runs = 0
    n_last = min(2 * WINDOW, (len(result.steps) + 1) // 2)
    result = settle_on_average(problem, solver, result, align, n_last, n_runs)
    state, uncertainty = result.state._replace(perm=result.alignment.perm), None
    if model._follows_model:
        first = len(result.steps) + n_runs
        recorded = recorded_by(beginning, result)
        if len(recorded) >= FEWEST_RECORDED:
            seen = snapshots_of(recorded, state.noise_scale)
        else:
            seen = look_around(task, plan, state, first, result.alignment, averages=sampled)
        if sampled:
            seen = look_longer(task, plan, result, first, seen)
            found = join(task, plan, result, n_runs * plan.schedule.n_steps, seen)
            # One more step, on labels averaged for longer than those of any step on the way: it
            # forgets most of the chance of the chain, and of where EM began.
            result = replace(result, state=solve(problem, solver, found), alignment=found)
        uncertainty = louis_covariance(
            problem, solver, state.noise_scale, seen.scores, rate_of(task, plan, result.alignment)
        )
        if isinstance(beginning.settled, Averaged) and result.converged:
            uncertainty = with_chance(uncertainty, *beginning.settled.added(result.steps))
    matched = np.asarray(result.alignment.match_proba)
    state = result.state._replace(perm=result.alignment.perm, match_proba=matched)
    rate = float(1.0 - matched.mean())
    extras: dict[str, Any] = {
        "match_proba_": problem.restore(matched),
        "mismatch_rate_": rate,
        "_pairing": PermutationPosterior(without_features(problem), plan.prior, state, task.seed),
        "_freedom": problem.n_rows - solver.n_parameters,
        "_as_given": labels_as_given(task),
    }
    extras |= told_of_uncertainty(
        uncertainty, state.noise_scale, rate, model.fit_intercept, problem.X.shape[1]
    )
    return Outcome(result, likely_permutation(problem, plan.prior, state), extras)


def steps_between(task: Task, plan: Plan) -> int:
    """Proposals from one snapshot to the next."""
    sweeps = sweeps_between(snapshots_needed(task.problem), plan.prior.mostly_right)
    return max(sweeps * task.problem.n_movable // 2, 1)


def walk_length(task: Task, plan: Plan) -> int:
    """Proposals of the walk that looks around."""
    return snapshots_needed(task.problem) * steps_between(task, plan)


def final_runs(model: "StochasticEMRegressor", task: Task, plan: Plan) -> int:
    """Runs whose average, with that of the walk that follows, gives match probabilities."""
    missing = FINAL_STEPS - (walk_length(task, plan) if model._follows_model else 0)
    return min(max(1, missing // plan.schedule.n_steps), MOST_FINAL_RUNS)


def look_around(
    task: Task, plan: Plan, state: State, stream: int, alignment: Alignment, *, averages: bool
) -> Snapshots:
    """Snapshots of the chain at the end of the fit."""
    problem, n_snapshots = task.problem, snapshots_needed(task.problem)
    chain = Chain(problem, Schedule(steps_between(task, plan), 0, 1), task.seed, task.workers)
    return score_snapshots(
        problem,
        task.solver,
        state,
        SampledAlignment(chain, plan.prior),
        n_snapshots,
        stream,
        alignment.expected,
        averages=averages,
    )


def look_longer(
    task: Task, plan: Plan, result: EMResult, stream: int, seen: Snapshots
) -> Snapshots:
    """Look again, and again, where the information left may be little or none.

    It is a difference of two numbers, one of which is known by chance alone.
    """
    problem, alignment = task.problem, result.alignment
    state = result.state._replace(perm=alignment.perm)
    rate = rate_of(task, plan, alignment)
    for _ in range(MOST_LOOKS - 1):
        known = louis_covariance(problem, task.solver, state.noise_scale, seen.scores, rate)
        if not known.information_left < DOUBTFUL * chance_of_information(problem, seen, known):
            break
        stream += len(seen.scores)
        seen = seen.and_more(look_around(task, plan, state, stream, alignment, averages=True))
    return seen


def recorded_by(beginning: Beginning, result: EMResult) -> Sequence[FloatArray]:
    """Scores from the way here, the last included, which spare the walk."""
    newton = beginning.leap
    if not isinstance(newton, NewtonSteps):
        return ()
    if result.converged:
        newton.record(result.state)
    return newton.scores


def snapshots_of(recorded: Sequence[FloatArray], noise_scale: float) -> Snapshots:
    """Scores that were recorded on the way, in the units of the end."""
    scores = np.array(recorded)
    scores[:, :, :-1] /= noise_scale**2
    return Snapshots(scores)


def join(task: Task, plan: Plan, result: EMResult, made: int, seen: Snapshots) -> Alignment:
    """Average two walks at one state by their lengths, in proposals."""
    alignment, length = result.alignment, len(seen.scores) * steps_between(task, plan)
    if seen.expected is None or seen.match_proba is None or alignment.match_proba is None:
        return alignment
    share = length / (made + length)
    return SoftAlignment(task.problem, plan.prior).conclude(
        result.state,
        alignment.expected + share * (seen.expected - alignment.expected),
        alignment.match_proba + share * (seen.match_proba - alignment.match_proba),
        alignment.perm,
        alignment.acceptance_rate,
    )


def rate_of(task: Task, plan: Plan, alignment: Alignment) -> float | None:
    """Rate of mismatches among the rows that can move, where it was estimated."""
    n = task.problem.n_movable
    if not plan.prior.estimates or n == 0:
        return None
    return float(1.0 - np.asarray(alignment.match_proba)[:n].mean())
