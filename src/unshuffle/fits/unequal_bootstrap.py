"""Bootstrap of fits to rows and labels in unequal numbers."""

from dataclasses import replace

import numpy as np

from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..em.loop import average_last
from ..em.partial import PartialTable
from ..families.least_squares import LeastSquares
from ..inference.bootstrap import Draw
from ..inference.sampling_settings import BOOTSTRAP
from ..inference.unequal_bootstrap import UnequalBootstrapResult, draw_groups, simulate
from ..kernels.streams import FIRST_REPLICATE, numbered_generator
from .auto_results import AutoFit
from .progress import Progress, Reporting, quiet
from .unequal_em import UnequalSettings, chain_of_iteration, iterate

FEWEST_GROUPS = 20  # drawn with replacement; fewer say little of how groups differ


def bootstrap_unequal(
    problem: UnequalProblem,
    workers: Workers,
    found: AutoFit,
    settings: UnequalSettings,
    *,
    resample: str,
    n_boot: int,
    seed: int,
    reporting: Reporting = quiet,
) -> UnequalBootstrapResult:
    """Fit replicates from the coefficients found, `n_boot` times.

    Parameters
    ----------
    problem : UnequalProblem
        The data of the fit.
    workers : Workers
    found : AutoFit
    settings : UnequalSettings
        Of the fit.
    resample : {"labels", "groups"}
        Simulate labels from the fit, or draw groups with replacement.
    n_boot, seed : int
    reporting : callable
        Opens a report of the replicates.

    Returns
    -------
    result : UnequalBootstrapResult
    """
    fit, unmatched = found.fit, found.unmatched
    assert unmatched is not None
    if resample == "groups" and problem.n_groups < FEWEST_GROUPS:
        raise ValueError(
            f"resample='groups' draws groups again, and there are {problem.n_groups}, fewer than "
            f"{FEWEST_GROUPS}; use resample='labels', which simulates labels from the fit"
        )
    fitted = problem.X @ fit.coef + fit.intercept

    def one(number: int) -> Draw:
        rng = numbered_generator(seed, FIRST_REPLICATE + number)
        if resample == "groups":
            drawn = draw_groups(problem, rng)
        else:
            drawn = simulate(problem, fitted, fit.noise_scale, unmatched.match_share, rng)
        return _refit(drawn, found, replace(settings, seed=int(rng.integers(2**62))))

    draws: list[Draw] = []
    with reporting(n_boot, "replicates") as report:
        size = BOOTSTRAP.replicates_at_once * workers.n_jobs
        for first in range(0, n_boot, size):
            draws += workers.map(one, range(first, min(first + size, n_boot)))
            report(Progress(len(draws), n_boot))
    without = 0 if fit.design.fit_intercept else 1
    return UnequalBootstrapResult(
        np.append(fit.intercept, fit.coef)[without:],
        np.array([draw.coef[without:] for draw in draws]),
        fit.noise_scale,
        np.array([draw.noise_scale for draw in draws]),
        float("nan"),
        np.full(n_boot, np.nan),
        sum(not draw.settled for draw in draws),
        unmatched.match_share,
        np.array([1.0 - draw.rate for draw in draws]),
    )


def _refit(problem: UnequalProblem, found: AutoFit, settings: UnequalSettings) -> Draw:
    """EM on a replicate, from the parameters of the fit; `rate` is that of rows without a label."""
    fit, unmatched = found.fit, found.unmatched
    assert unmatched is not None
    centre = float(problem.y.mean()) if settings.fit_intercept else 0.0
    problem = problem.with_labels(problem.y - centre)
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    chain = chain_of_iteration(problem, Workers(1), settings)
    table = PartialTable(problem, solver, settings.match_share, chain)
    fitted = problem.X @ fit.coef + fit.intercept - centre
    theta = np.asarray(np.linalg.lstsq(table.Z, fitted, rcond=None)[0], dtype=np.float64)
    nobody = np.full(problem.n_rows, -1, dtype=np.int64)
    nobody[problem.n_open_rows :] = np.arange(problem.n_open_labels, problem.n_labels)
    result = iterate(
        table, table.start(theta, fit.noise_scale, unmatched.match_share, nobody), settings
    )
    state = average_last(table, result, 2 * settings.em.iteration.window)
    return Draw(
        np.append(state.intercept + centre, state.coef),
        state.noise_scale,
        state.mismatch_rate,
        result.converged,
    )
