r"""The observed information of a fit with its own law of the noise, from snapshots of the chain.

The complete-data score of a row has the parts :math:`\psi(u_i) x_i` for the coefficients, with
:math:`\psi` the derivative of the log density by the fitted value, and the derivatives of the log
density by the parameters of the law. Louis' formula takes the covariance of their sums over
permutations off the complete-data information, which is the sum of the products of the rows'
scores. Groups are independent, so the covariances of their sums add up.
"""

from typing import NamedTuple

import numpy as np

from ..alignment.law_chain import LawChain
from ..alignment.state import State
from ..families.law_tables import neighbours, read_at, standard_deviation, tables_of
from ..families.least_squares import LeastSquares
from ..kernels.law_sweep import ResidualTable
from ..kernels.streams import FIRST_LAW_WALK
from ..kernels.types import FloatArray
from .information import Covariance
from .law import LawTable
from .partial import coefficient_covariance
from .scores import INFORMATION, snapshots_needed, sweeps_between

STEP = 1e-3  # of the derivatives by the parameters of the law


class LawScores(NamedTuple):
    """What snapshots of the chain give.

    Attributes
    ----------
    complete : array of shape (k, k)
        Mean sum of products of the rows' scores.
    missing : array of shape (k, k)
        Covariance of the sum of the scores over permutations.
    units : array of shape (n_units, k)
        Mean score of each group, and of each pinned row.
    """

    complete: FloatArray
    missing: FloatArray
    units: FloatArray


class LawCovariance(NamedTuple):
    """Covariance of the estimates by the model, and by the sandwich over groups."""

    model: Covariance
    robust: Covariance


def law_covariance(table: LawTable, state: State) -> LawCovariance:
    """Covariance of coefficients and noise at the end of a fit."""
    scores = follow(table, state)
    root = np.linalg.cholesky(scores.complete + _tiny(scores.complete))
    whitened = np.linalg.solve(root, np.linalg.solve(root, scores.missing).T)
    values, axes = np.linalg.eigh(np.eye(len(root)) - 0.5 * (whitened + whitened.T))
    back = np.linalg.solve(root.T, axes)
    inverse = (back / np.maximum(values, INFORMATION.smallest_fraction)) @ back.T
    influence = scores.units @ inverse
    n_units = len(influence)
    robust = influence.T @ influence * (n_units / max(n_units - 1, 1))
    known = np.linalg.inv(root @ root.T)
    kept = float(values.min())
    return LawCovariance(
        _covariance(table, state, inverse, known, kept),
        _covariance(table, state, robust, known, kept),
    )


def follow(table: LawTable, state: State) -> LawScores:
    """Scores at the permutations that the chain passes."""
    problem = table.problem
    n_snapshots = snapshots_needed(problem)
    sweeps = sweeps_between(n_snapshots, mostly_right=False, settings=INFORMATION)
    chain = LawChain(problem, int(table.chain.seed), sweeps - 1, 1)
    tables, derivatives = _tables(table, state)
    first_rows, n = problem.starts[:-1], problem.n_movable
    n_columns = table.Z.shape[1] + len(derivatives)
    complete, products = np.zeros((2, n_columns, n_columns))
    sums = np.zeros((problem.n_blocks + problem.n_rows - n, n_columns))
    origin: FloatArray | float = 0.0
    for k in range(n_snapshots):
        state = state._replace(perm=chain(state, FIRST_LAW_WALK + k).perm)
        residual = problem.y[state.perm] - state.fitted
        pull = read_at(tables, residual)
        rows = np.column_stack(
            [table.Z * pull[:, None], *(read_at(one, residual) for one in derivatives)]
        )
        complete += rows.T @ rows
        units = np.concatenate([np.add.reduceat(rows[:n], first_rows, axis=0), rows[n:]])
        if k == 0:  # sums of squares around a typical score do not cancel
            origin, units = units, np.zeros_like(units)
        else:
            units = units - origin
        sums += units
        products += units.T @ units
    mean = sums / n_snapshots
    missing = (products - n_snapshots * mean.T @ mean) / max(n_snapshots - 1, 1)
    return LawScores(complete / n_snapshots, missing, mean + origin)


def _tables(table: LawTable, state: State) -> tuple[ResidualTable, list[ResidualTable]]:
    """Derivatives of the log density by the fitted value and by the parameters of the law."""
    assert state.law is not None
    here = table.chain.tables(state.law, state.fitted)
    derivatives = []
    for below, above in neighbours(table.shape, state.law, STEP):
        ends = [tables_of(law, here.nodes).log_density.values for law in (below, above)]
        derivatives.append(here.pull._replace(values=(ends[1] - ends[0]) / (2.0 * STEP)))
    return here.pull, derivatives


def _covariance(
    table: LawTable, state: State, found: FloatArray, known: FloatArray, kept: float
) -> Covariance:
    """Coefficients, and the noise by the delta method."""
    assert state.law is not None
    p, solver = table.Z.shape[1], table.solver
    slopes = [
        (np.log(standard_deviation(above)) - np.log(standard_deviation(below))) / (2.0 * STEP)
        for below, above in neighbours(table.shape, state.law, STEP)
    ]
    noise = float(np.array(slopes) @ found[p:, p:] @ np.array(slopes))
    inflation = float(np.sqrt(np.trace(found[:p, :p]) / np.trace(known[:p, :p])))
    coef = _with_intercept(solver, coefficient_covariance(solver, found[:p, :p], table.n_rows))
    return Covariance(coef, noise, float("nan"), kept, inflation)


def _with_intercept(solver: LeastSquares, covariance: FloatArray) -> FloatArray:
    """A row and a column of zeros where there is no intercept."""
    if solver.fit_intercept:
        return covariance
    padded = np.zeros((len(covariance) + 1, len(covariance) + 1))
    padded[1:, 1:] = covariance
    return padded


def _tiny(matrix: FloatArray) -> FloatArray:
    """What keeps a factor positive where a parameter of the law says nothing."""
    return np.diag(1e-10 * np.diag(matrix) + 1e-300)
