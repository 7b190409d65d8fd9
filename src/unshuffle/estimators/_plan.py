"""What the parameters of Stochastic EM mean on given data: prior, schedule, tolerance."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..alignment.chain import Chain
from ..alignment.exact import ExactAlignment
from ..alignment.priors import Prior
from ..alignment.sampled import PublishedAlignment, SampledAlignment
from ..alignment.sinkhorn import SinkhornAlignment
from ..alignment.state import Align
from ..alignment.tempered import TemperedAlignment
from ..em.newton import NEWTON_BURN_IN, NEWTON_SWEEPS
from ..em.sample import TOLERANCE, worth_a_sample
from ..kernels.swap import Schedule
from ..search.mostly_right import FIRST_GUESS
from ._base import Task

if TYPE_CHECKING:
    from .stochastic import StochasticEMRegressor

# Proposals of one iteration of the exact variant: so many per row, and never fewer than a
# millisecond's worth, since on small data a steadier chain costs nothing.
SWEEPS, BURN_IN = 4, 0.2
FEWEST_STEPS = 100_000
FEWEST_STEPS_MOSTLY_RIGHT = 300_000  # doubtful rows come and go, so averages need longer


class Plan(NamedTuple):
    """How a fit is made.

    Attributes
    ----------
    prior : Prior
    schedule : Schedule
        Proposals of one iteration.
    tol : float
        0 runs all iterations.
    by_newton : bool
        Whether to begin on a sample of the groups and go on by Newton's steps.
    """

    prior: Prior
    schedule: Schedule
    tol: float
    by_newton: bool = False


def plan_of(model: "StochasticEMRegressor", task: Task) -> Plan:
    """Give every "auto" its value, and refuse what does not go together."""
    if model.variant == "published":
        refuse_extensions(model, task)
    prior = prior_of(model, task)
    tol = 0.0 if model.variant == "published" else TOLERANCE
    tol = tol if model.tol == "auto" else float(model.tol)
    newton = tol > 0.0 and by_newton(model, task, prior)
    return Plan(prior, schedule_of(model, task.problem.n_movable, prior, newton), tol, newton)


def by_newton(model: "StochasticEMRegressor", task: Task, prior: Prior) -> bool:
    """Whether the order is lost inside so many groups that a sample of them leads the way."""
    return (
        model.variant == "exact"
        and model._follows_model
        and isinstance(model.init, str)
        and not prior.mostly_right
        and prior.places is None
        and worth_a_sample(task.problem.n_movable, task.problem.n_blocks)
    )


def schedule_of(model: "StochasticEMRegressor", n: int, prior: Prior, newton: bool) -> Schedule:
    """Proposals of one iteration over `n` rows that can move."""
    published = model.variant == "published"
    fewest = FEWEST_STEPS_MOSTLY_RIGHT if prior.mostly_right else FEWEST_STEPS
    sweeps = NEWTON_SWEEPS if newton else SWEEPS
    steps = max(sweeps * n, fewest)
    steps = math.ceil(n * math.log(max(n, 2))) if published else steps
    n_steps = steps if model.n_steps == "auto" else int(model.n_steps)
    burn_in = int(n_steps * (NEWTON_BURN_IN if newton else BURN_IN))
    burn_in = min(n, n_steps - 1) if published else burn_in
    burn_in = burn_in if model.burn_in == "auto" else int(model.burn_in)
    thin = max(1, n // 10) if published else 1
    thin = thin if model.thin == "auto" else int(model.thin)
    if n and burn_in + thin > n_steps:
        raise ValueError(
            f"burn_in={burn_in} and thin={thin} leave none of n_steps={n_steps} proposals to "
            "average; lower burn_in or thin, or raise n_steps"
        )
    return Schedule(n_steps, burn_in, thin)


def refuse_extensions(model: "StochasticEMRegressor", task: Task) -> None:
    """Keep the paper's algorithm as it was published."""
    if (
        model.mismatch_rate is not None
        or model.max_shift is not None
        or model.alignment != "chain"
        or model.temper != 1.0
        or model.ridge != 0.0
        or task.match_prob is not None
    ):
        raise ValueError(
            "variant='published' is the paper's algorithm and takes neither mismatch_rate nor "
            "match_prob nor max_shift nor temper nor ridge nor another alignment; use "
            "variant='exact'"
        )


def prior_of(model: "StochasticEMRegressor", task: Task) -> Prior:
    """What the parameters say about permutations."""
    problem, places = task.problem, None
    if model.max_shift is not None:
        own = np.arange(problem.n_rows, dtype=np.int64)
        places = own if problem.order is None else problem.order
    estimates = model.mismatch_rate == "estimate"
    rate = FIRST_GUESS if estimates else model.mismatch_rate
    return Prior(
        None if rate is None else float(rate),
        estimates and task.match_prob is None,
        task.match_prob,
        places,
        model.max_shift or 0,
    )


def aligner(model: "StochasticEMRegressor", chain: Chain, prior: Prior) -> Align:
    """The E-step that was asked for."""
    if model.variant == "published":
        return PublishedAlignment(chain)
    align: Align = SampledAlignment(chain, prior)
    if model.alignment == "exact":
        align = ExactAlignment(chain.problem, prior)
    if model.alignment == "sinkhorn":
        align = SinkhornAlignment(chain.problem, prior)
    return align if model.temper == 1.0 else TemperedAlignment(align, model.temper)
