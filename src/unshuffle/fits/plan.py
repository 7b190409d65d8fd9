"""What the settings of Stochastic EM mean on given data: prior, schedule, tolerance."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..alignment.chain import Chain
from ..alignment.exact import ExactAlignment
from ..alignment.priors import Prior
from ..alignment.sampled import PublishedAlignment, SampledAlignment
from ..alignment.sinkhorn import SinkhornAlignment
from ..alignment.state import Align
from ..alignment.tempered import TemperedAlignment
from ..data.problem import Problem
from ..data.survey import Survey
from ..em.sample import worth_a_sample
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.settings import DEFAULT as SEARCH
from .settings import StochasticSettings


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
        Whether to start on a sample of the groups and continue by Newton's steps.
    """

    prior: Prior
    schedule: Schedule
    tol: float
    by_newton: bool


def plan_in_memory(
    settings: StochasticSettings, problem: Problem, match_prob: FloatArray | None
) -> Plan:
    """Give every open setting its value, and refuse what does not go together."""
    if settings.variant == "published":
        refuse_extensions(settings, match_prob)
    places = None
    if settings.max_shift is not None:
        own = np.arange(problem.n_rows, dtype=np.int64)
        places = own if problem.order is None else problem.order
    prior = prior_of(settings)
    prior = replace(
        prior,
        estimates=prior.estimates and match_prob is None,
        match_prob=match_prob,
        places=places,
        reach=min(settings.max_shift or 0, problem.n_rows),
    )
    tol = tolerance_of(settings)
    newton = by_newton(settings, prior, problem.n_movable, problem.n_blocks)
    schedule = schedule_of(settings, problem.n_movable, prior, newton)
    return Plan(prior, schedule, tol, newton)


def plan_in_passes(settings: StochasticSettings, facts: Survey) -> Plan:
    """Give every open setting its value, and refuse what needs all rows at once."""
    wrong = {
        "variant": settings.variant != "exact",
        "max_shift": settings.max_shift is not None,
        "alignment": settings.alignment != "chain",
        "thin": settings.thin not in (None, 1),
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(
                f"{name}={getattr(settings, name)!r} is not for data that are read in passes; "
                "leave it out, or fit a sample in memory"
            )
    prior = prior_of(settings)
    newton = by_newton(settings, prior, facts.n_movable, facts.n_blocks)
    return Plan(prior, schedule_in_passes(settings, facts), tolerance_of(settings), newton)


def tolerance_of(settings: StochasticSettings) -> float:
    """The tolerance; the published variant runs all iterations."""
    if settings.tol is not None:
        return settings.tol
    return 0.0 if settings.variant == "published" else settings.em.iteration.tolerance


def by_newton(settings: StochasticSettings, prior: Prior, n_movable: int, n_blocks: int) -> bool:
    """Whether the order is lost inside so many groups that a sample of them gives the start."""
    return (
        tolerance_of(settings) > 0.0
        and settings.variant == "exact"
        and settings.maximises_likelihood
        and settings.init is None
        and not prior.mostly_right
        and prior.places is None
        and worth_a_sample(n_movable, n_blocks, settings.em)
    )


def schedule_of(settings: StochasticSettings, n: int, prior: Prior, newton: bool) -> Schedule:
    """Proposals of one iteration over `n` rows that can move, for a chain that continues."""
    published, numbers = settings.variant == "published", settings.em.iteration
    fewest = numbers.fewest_steps_mostly_right if prior.mostly_right else numbers.fewest_steps
    sweeps = settings.em.newton.sweeps if newton else numbers.sweeps
    steps = max(sweeps * n, fewest)
    steps = math.ceil(n * math.log(max(n, 2))) if published else steps
    n_steps = steps if settings.n_steps is None else settings.n_steps
    burn_in = int(n_steps * (settings.em.newton.burn_in if newton else numbers.burn_in))
    burn_in = min(n, n_steps - 1) if published else burn_in
    thin = max(1, n // 10) if published else 1
    return checked_schedule(settings, n, n_steps, burn_in, thin)


def schedule_in_passes(settings: StochasticSettings, facts: Survey) -> Schedule:
    """Proposals of one iteration, for chains that restart in every pass."""
    n, numbers = max(facts.n_movable, 1), settings.em.restart
    n_steps = round(numbers.sweeps * n) if settings.n_steps is None else settings.n_steps
    return checked_schedule(settings, n, n_steps, int(numbers.burn_in * n_steps), 1)


def checked_schedule(
    settings: StochasticSettings, n: int, n_steps: int, burn_in: int, thin: int
) -> Schedule:
    """The schedule, with what the settings give in place of the automatic values."""
    burn_in = burn_in if settings.burn_in is None else settings.burn_in
    thin = thin if settings.thin is None else settings.thin
    if n and burn_in + thin > n_steps:
        raise ValueError(
            f"burn_in={burn_in} and thin={thin} leave none of n_steps={n_steps} proposals to "
            "average; lower burn_in or thin, or raise n_steps"
        )
    return Schedule(n_steps, burn_in, thin)


def refuse_extensions(settings: StochasticSettings, match_prob: FloatArray | None) -> None:
    """Keep the paper's algorithm as it was published."""
    if (
        settings.mismatch_rate is not None
        or settings.max_shift is not None
        or settings.alignment != "chain"
        or not settings.maximises_likelihood
        or match_prob is not None
    ):
        raise ValueError(
            "variant='published' is the paper's algorithm and takes neither mismatch_rate nor "
            "match_prob nor max_shift nor temper nor ridge nor another alignment; use "
            "variant='exact'"
        )


def prior_of(settings: StochasticSettings) -> Prior:
    """What the settings say about the order given."""
    if settings.mismatch_rate == "estimate":
        return Prior(SEARCH.mostly_right.first_rate, True)
    return Prior(None if settings.mismatch_rate is None else float(settings.mismatch_rate))


def aligner(settings: StochasticSettings, chain: Chain, prior: Prior) -> Align:
    """The E-step that was asked for."""
    if settings.variant == "published":
        return PublishedAlignment(chain)
    align: Align = SampledAlignment(chain, prior, settings.family)
    if settings.alignment == "exact":
        align = ExactAlignment(chain.problem, prior, settings.family)
    if settings.alignment == "sinkhorn":
        align = SinkhornAlignment(chain.problem, prior, settings.family)
    return align if settings.temper == 1.0 else TemperedAlignment(align, settings.temper)
