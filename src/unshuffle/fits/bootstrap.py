"""Parametric bootstrap: fit labels that are simulated from a fit."""

from dataclasses import replace

import numpy as np

from ..alignment.chain import Chain
from ..alignment.priors import Prior
from ..data.problem import Problem
from ..data.threads import Workers
from ..em.loop import average_last, run_em
from ..em.memory import MemoryTable
from ..em.stopping import StopWhenStable, never
from ..families.least_squares import LeastSquares
from ..inference.bootstrap import BootstrapResult, Draw, Refit, Source, replicate
from ..inference.sampling_settings import BOOTSTRAP
from .curve_data import away_from_plane, noise_around_plane, with_curve
from .data import InMemory
from .finish import n_averaged
from .plan import Plan, aligner, plan_in_memory
from .progress import Progress, Reporting, quiet
from .results import StochasticFit
from .settings import StochasticSettings
from .starts import start_of


def bootstrap(
    data: InMemory,
    fit: StochasticFit,
    refitting: StochasticSettings,
    *,
    n_boot: int,
    seed: int,
    reporting: Reporting = quiet,
) -> BootstrapResult:
    """Simulate labels from `fit` and fit them again, `n_boot` times.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit
    refitting : StochasticSettings
        Of the refits; they start from its coefficients.
    n_boot, seed : int
        Replicates, and the seed of their streams.
    reporting : callable
        Opens a report of the replicates.

    Returns
    -------
    result : BootstrapResult
    """
    if fit.curve is not None:
        return _around_curve(data, fit, refitting, n_boot, seed, reporting)
    problem, posterior = data.problem, fit.permutations
    assert posterior is not None
    check_normal_noise(fit, "bootstrap()")
    rate, state = estimated_rate(fit), posterior.state
    prior = posterior.prior if posterior.problem.n_movable else None
    known_rate = np.nan if rate is None else rate
    source = Source(problem, prior, state.fitted, state.noise_scale, known_rate)
    if prior is None:
        refit = _least_squares(problem, fit.design.fit_intercept)
    else:
        refit = _stochastic_em(problem, prior, refitting, BOOTSTRAP.refit_sweeps)
    with reporting(n_boot, "replicates") as report:
        draws = replicate(
            source,
            refit,
            n_boot,
            seed,
            data.workers,
            lambda done: report(Progress(done, n_boot)),
        )
    first = 0 if fit.design.fit_intercept else 1
    share = problem.n_movable / problem.n_rows
    return BootstrapResult(
        np.append(fit.intercept, fit.coef)[first:],
        np.array([draw.coef[first:] for draw in draws]),
        fit.noise_scale,
        np.array([draw.noise_scale for draw in draws]),
        np.nan if rate is None else rate * share,
        np.array([np.nan if rate is None else draw.rate for draw in draws]),
        sum(not draw.settled for draw in draws),
    )


def _around_curve(
    data: InMemory,
    fit: StochasticFit,
    refitting: StochasticSettings,
    n_boot: int,
    seed: int,
    reporting: Reporting,
) -> BootstrapResult:
    """Simulate and refit around the curve that labels were aligned around; keep the plane."""
    assert fit.curve is not None
    curve, d, first = fit.curve.fit, len(fit.coef), int(fit.design.fit_intercept)
    solver = LeastSquares(data.problem.X, fit_intercept=fit.design.fit_intercept)
    found = bootstrap(
        with_curve(data, solver),
        curve,
        replace(refitting, init=curve.coef),
        n_boot=n_boot,
        seed=seed,
        reporting=reporting,
    )
    noise = noise_around_plane(curve, d, found.draws[:, first:], found.noise_scale_draws)
    away = away_from_plane(fit.curve, len(found.draws), seed)
    return replace(
        found,
        estimate=found.estimate[: first + d],
        draws=found.draws[:, : first + d] + away[:, 1 - first :],
        noise_scale=fit.noise_scale,
        noise_scale_draws=noise,
    )


def check_normal_noise(fit: StochasticFit, what: str) -> None:
    """Refuse what simulates normal noise for a fit with another law."""
    if fit.permutations is not None and fit.permutations.state.law is not None:
        raise ValueError(
            f"{what} assumes normal noise, and the order of this fit's labels is lost and its "
            "noise has another law; use conf_int(), or fit with noise='normal'"
        )


def estimated_rate(fit: StochasticFit) -> float | None:
    """Rate of mismatches among the rows that can move; None where it was not estimated."""
    posterior = fit.permutations
    if posterior is None or not posterior.problem.n_movable or not posterior.prior.estimates:
        return None
    matched = np.asarray(posterior.state.match_proba)
    return float(1.0 - matched[: posterior.problem.n_movable].mean())


def _least_squares(problem: Problem, fit_intercept: bool) -> Refit:
    """Refit labels that all stand beside their own row."""
    solver = LeastSquares(problem.X, fit_intercept=fit_intercept)

    def refit(simulated: Problem, seed: int) -> Draw:
        state = MemoryTable(simulated, solver).ordinary_start()
        return Draw(np.append(state.intercept, state.coef), state.noise_scale, 0.0, True)

    return refit


def _stochastic_em(
    problem: Problem, prior: Prior, settings: StochasticSettings, sweeps: int
) -> Refit:
    """Refit with the settings of the fit, without standard errors and long final runs."""
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept, ridge=settings.ridge)
    plan = plan_in_memory(settings, problem, prior.match_prob)
    schedule = plan.schedule
    if settings.n_steps is None and settings.burn_in is None:
        steps = min(schedule.n_steps, sweeps * problem.n_movable)
        schedule = schedule._replace(n_steps=steps, burn_in=steps // 5)
    plan = Plan(prior, schedule, plan.tol, False)

    def refit(simulated: Problem, seed: int) -> Draw:
        own = replace(settings, seed=seed)
        align = aligner(own, Chain(simulated, schedule, seed, Workers(1)), prior)
        table = MemoryTable(simulated, solver, align)
        stop = never
        if plan.tol:
            stop = StopWhenStable(table, plan.tol, settings.em.iteration.window)
        start = start_of(table, plan, own)
        result = run_em(table, start, max_iter=settings.max_iter, stop=stop)
        state = average_last(table, result, n_averaged(result, settings))
        matched = np.asarray(table.align(state, len(result.steps)).match_proba)
        return Draw(
            np.append(state.intercept, state.coef),
            state.noise_scale,
            float(1.0 - matched.mean()),
            result.converged,
        )

    return refit
