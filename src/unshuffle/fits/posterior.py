"""Draws from the posterior over coefficients, noise, permutation and rate of mismatches."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..families.least_squares import LeastSquares
from ..inference.parameter_prior import weakly_informative
from ..inference.posterior import Posterior, collect, diagnose, dispersed_starts, run_chains
from ..inference.posterior_chain import PosteriorChain
from ..inference.posterior_model import Model
from ..inference.sampling_settings import POSTERIOR
from ..kernels.limits import SMALLEST_RATE
from ..kernels.types import FloatArray
from .bootstrap import check_normal_noise
from .curve_data import away_from_plane, noise_around_plane, with_curve
from .data import InMemory
from .progress import Progress, Reporting, quiet
from .results import StochasticFit


def sample_posterior(
    data: InMemory,
    fit: StochasticFit,
    solutions: FloatArray,
    names: list[str],
    *,
    n_chains: int,
    n_draws: int,
    n_warmup: int,
    thin: int,
    seed: int,
    reporting: Reporting = quiet,
) -> Posterior:
    """Run chains from the solutions of a search, or from around the fit.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit
    solutions : array of shape (n_solutions, d)
        Coefficients of distinct optima, between which chains jump.
    names : list of str
        Names of the features.
    n_chains, n_draws, n_warmup, thin, seed : int
    reporting : callable
        Opens a report of the draws.

    Returns
    -------
    posterior : Posterior
    """
    known = fit.permutations
    if known is None or fit.uncertainty is None:
        raise ValueError(
            "variant='published' is the paper's algorithm and has no posterior; fit variant='exact'"
        )
    check_normal_noise(fit, "posterior()")
    if fit.curve is not None:
        return _around_curve(
            data, fit, solutions, names, n_chains=n_chains, n_draws=n_draws, n_warmup=n_warmup,
            thin=thin, seed=seed, reporting=reporting,
        )  # fmt: skip
    prior = known.prior
    if prior.estimates and prior.places is not None:
        raise ValueError(
            "the posterior of the rate of mismatches is not available together with max_shift; "
            "give mismatch_rate a number, or leave out max_shift"
        )
    problem = replace(data.problem, starts=known.problem.starts)  # no block where order is known
    solver = LeastSquares(problem.X, fit_intercept=fit.design.fit_intercept)
    model = Model(problem, solver, prior, weakly_informative(problem))
    optima = np.array([model.coordinates(coef) for coef in solutions])
    kept = np.fmax(fit.uncertainty.fraction_kept, POSTERIOR.smallest_fraction)
    rate = 0.5 if fit.mismatch_rate is None else fit.mismatch_rate
    starts = dispersed_starts(
        model,
        optima,
        fit.noise_scale,
        known.state.perm,
        float(np.clip(rate, SMALLEST_RATE, 0.99)),
        n_chains=n_chains,
        spread=POSTERIOR.dispersion / np.sqrt(kept),
        seed=seed,
    )
    chains = [
        PosteriorChain(
            model,
            start,
            seed,
            number,
            n_warmup=n_warmup,
            n_draws=n_draws,
            thin=thin,
            jumps=optima,
        )
        for number, start in enumerate(starts)
    ]
    total = chains[0].n_iterations
    with reporting(total, "draws") as report:
        run_chains(chains, data.workers, lambda done: report(Progress(done, total)))
    side_by_side = fit.matches is not None and fit.matches.match_proba is not None
    return collect(model, chains, names, side_by_side)


def _around_curve(
    data: InMemory,
    fit: StochasticFit,
    solutions: FloatArray,
    names: list[str],
    *,
    seed: int,
    **options: Any,
) -> Posterior:
    """Draws of the curve that labels were aligned around; the plane of each is kept."""
    assert fit.curve is not None
    curve, d = fit.curve.fit, len(fit.coef)
    solver = LeastSquares(data.problem.X, fit_intercept=fit.design.fit_intercept)
    n_columns = len(curve.coef) - d
    columns = [f"(curve {k})" for k in range(n_columns)]
    # Optima of the search are those of planes; the curve that was found takes the first place.
    others = np.hstack([solutions[1:], np.zeros((len(solutions[1:]), n_columns))])
    starts, everything = np.vstack([curve.coef, others]), with_curve(data, solver)
    found = sample_posterior(everything, curve, starts, [*names, *columns], seed=seed, **options)
    assert found.noise_scale is not None
    plane = replace(
        found,
        coef=found.coef[..., :d],
        noise_scale=noise_around_plane(curve, d, found.coef, found.noise_scale),
        names=[name for name in found.names if name not in columns],
        feature_names=names,
        r_hat={},
        ess_bulk={},
        ess_tail={},
    )
    mixed = diagnose(plane)  # of the chains: what is added does not depend on them
    shape = mixed.intercept.shape
    away = away_from_plane(fit.curve, mixed.intercept.size, seed).reshape(*shape, 1 + d)
    return replace(mixed, coef=mixed.coef + away[..., 1:], intercept=mixed.intercept + away[..., 0])
