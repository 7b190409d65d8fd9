"""Least squares where the order is known."""

from dataclasses import replace

import numpy as np

from ..alignment.priors import Prior
from ..data.problem import Problem
from ..em.information import complete_covariance
from ..em.memory import MemoryTable
from ..families.least_squares import LeastSquares
from ..inference.permutations import PermutationPosterior, without_features
from ..inference.sampling_settings import SANDWICH
from ..inference.sandwich import nothing_lost
from ..kernels.swap import Schedule
from ..kernels.types import IntArray
from .data import InMemory
from .results import Iterations, StochasticFit, design_of, uncertainty_of
from .robust import with_errors
from .stochastic import labels_as_given, matches_of


def nothing_moves(problem: Problem) -> Problem:
    """The same rows without features, every label pinned to its own row."""
    return replace(without_features(problem), starts=np.zeros(1, dtype=np.int64))


def fit_known(
    data: InMemory, solver: LeastSquares, seed: int, covariance: str = "auto"
) -> StochasticFit:
    """Fit the labels as given by least squares.

    Parameters
    ----------
    data : InMemory
    solver : LeastSquares
    seed : int
        Kept for what samples from the fit later.
    covariance : {"auto", "model", "robust"}
        Of the standard errors.

    Returns
    -------
    fit : StochasticFit
        With one iteration, and every label matched to its own row.
    """
    problem = data.problem
    own: IntArray = np.arange(problem.n_rows, dtype=np.int64)
    matched = np.ones(problem.n_rows)
    table = MemoryTable(problem, solver)
    state = table.ordinary_start()._replace(match_proba=matched, mismatch_rate=0.0)
    complete = complete_covariance(table, solver, state.noise_scale)
    design = design_of(problem.n_rows, problem.n_groups, solver)
    fit = StochasticFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=state.noise_scale,
        mismatch_rate=0.0,
        design=design,
        iterations=Iterations(True, np.array([state.objective]), state.coef[None]),
        acceptance_rate=None,
        tol=0.0,
        schedule=Schedule(0, 0, 1),
        temper=1.0,
        ridge=0.0,
        matches=matches_of(problem, problem.y, own, matched),
        uncertainty=uncertainty_of(complete, state, 0.0, design),
        permutations=PermutationPosterior(nothing_moves(problem), Prior(), state, seed),
        as_given=labels_as_given(data, solver),
    )
    few = problem.n_rows <= SANDWICH.most_rows
    return with_errors(
        data, fit, nothing_lost(problem, solver) if few else None, covariance, solver
    )
