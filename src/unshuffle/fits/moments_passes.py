"""The estimating equations of linked labels for data that are read in passes.

Five readings: three for sizes and products (`data.survey`), one for the equations, one for their
squared scores. Sums over parts are ordinary ones, so that another cut changes the last digits.
"""

from typing import NamedTuple, TypeVar

import numpy as np

from ..data.part import Part
from ..data.survey import Parts, survey
from ..families.normal_equations import NormalEquations
from ..inference.moments import (
    Units,
    choose_units,
    expected_features,
    instruments,
    make_exchange,
    others_mean,
    score_products,
    with_rates,
)
from ..kernels.types import FloatArray, IntArray
from .moments import Equations, MomentFit, conclude, least_squares_as_given, smallest


class Scheme(NamedTuple):
    """What a part must know to form the equations.

    Attributes
    ----------
    centre, to_coef : arrays of shape (d,) and (d, rank)
    label_mean : float
    rate : float
    method : str
    whole : array of shape (rank,) or None
        Where all rows are one block: the mean of all rows. None where parts hold whole blocks.
    n_rows : int
    """

    centre: FloatArray
    to_coef: FloatArray
    label_mean: float
    rate: float
    method: str
    whole: FloatArray | None
    n_rows: int


class PartRows(NamedTuple):
    """The rows of a part in the basis: features, E[A] X, instruments, others, labels, blocks."""

    basis: FloatArray
    expected: FloatArray
    Z: FloatArray
    others: FloatArray
    labels: FloatArray
    blocks: IntArray
    movable: int


class EquationSums(NamedTuple):
    """What the equations add up over rows."""

    products: FloatArray
    Z: FloatArray
    expected: FloatArray
    labels: FloatArray
    n_movable: int
    n_blocks: int
    squared_sizes: float


class ScoreSums(NamedTuple):
    """What the standard errors add up over rows."""

    gradient: FloatArray
    scores: FloatArray
    slope: FloatArray
    own_ss: float
    given: FloatArray


Sums = TypeVar("Sums", EquationSums, ScoreSums)


def fit_moments_in_passes(
    parts: Parts,
    rate: float,
    variance: float,
    method: str,
    *,
    one_block: bool,
    fit_intercept: bool,
) -> MomentFit:
    """Solve the estimating equations for one rate of mismatches.

    Parameters
    ----------
    parts : Parts
        With whole blocks; any cut of the rows where all are one block.
    rate, variance : float
        Rate of mismatches, and its variance.
    method : {"lahiri-larsen", "chambers", "ratio"}
    one_block : bool
        Whether every label may belong to every row.
    fit_intercept : bool

    Returns
    -------
    fit : MomentFit
    """
    facts = survey(parts, fit_intercept)
    n = facts.n_rows
    solver = NormalEquations(facts.gram, facts.centre, n, fit_intercept=fit_intercept, ridge=0.0)
    mean = facts.label_centre if fit_intercept else 0.0
    scheme = Scheme(facts.centre, solver.to_coef, mean, rate, method, None, n)
    if one_block:
        whole = np.sum(parts.map(basis_sums, scheme, name="means"), axis=0) / n
        scheme = scheme._replace(whole=whole)
    sums = _added(EquationSums, parts.map(equation_sums, scheme, name="equations"))
    z_mean, middle = np.zeros((2, solver.rank))
    if fit_intercept:
        z_mean, middle = sums.Z / n, sums.expected / n
    products = sums.products - n * np.outer(z_mean, middle)
    weakest = smallest(products, method)
    theta = np.linalg.solve(products, sums.labels).astype(np.float64, copy=False)
    n_blocks = 1 if one_block else int(sums.n_blocks)
    squared = float(n) ** 2 if one_block else float(sums.squared_sizes)
    units = choose_units(n, n_blocks, squared, solver.n_parameters)
    ordinary = solver.to_coef.T @ facts.moments
    seen = (theta, z_mean, middle, ordinary, fit_intercept, units)
    scored = _added(ScoreSums, parts.map(score_sums, scheme, *seen, name="scores"))
    theta = theta + np.linalg.solve(products, scored.gradient)  # rounding of the first
    n_movable = n if one_block else int(sums.n_movable)
    meat = with_rates(
        units.factor * scored.scores, scored.slope[None], np.array([float(n_movable)]),
        np.array([rate]), np.array([variance]),
    )  # fmt: skip
    label_ss = facts.label_ss + (0.0 if fit_intercept else n * facts.label_centre**2)
    coef = solver.to_coef @ ordinary
    given = np.append(mean - float(facts.centre @ coef), coef)
    return conclude(
        Equations(solver, method, n, n_blocks, theta, products, weakest, mean, middle),
        units,
        meat,
        noise_ss=label_ss - float(scored.own_ss),
        mismatch_rate=rate * n_movable / n,
        mismatch_rate_se=float(np.sqrt(variance)) * n_movable / n,
        as_given=least_squares_as_given(solver, n, given, scored.given),
    )


def basis_sums(part: Part, scheme: Scheme) -> FloatArray:
    """Sum of the rows in the basis."""
    total: FloatArray = _basis(part, scheme).sum(axis=0)
    return total


def equation_sums(part: Part, scheme: Scheme) -> EquationSums:
    """One part of the equations."""
    rows = rows_of(part, scheme)
    sizes = np.bincount(rows.blocks)
    return EquationSums(
        rows.Z.T @ rows.expected, rows.Z.sum(axis=0), rows.expected.sum(axis=0),
        rows.Z.T @ rows.labels, rows.movable, len(sizes), float((sizes**2).sum()),
    )  # fmt: skip


def score_sums(
    part: Part,
    scheme: Scheme,
    theta: FloatArray,
    z_mean: FloatArray,
    middle: FloatArray,
    ordinary: FloatArray,
    fit_intercept: bool,
    units: Units,
) -> ScoreSums:
    """One part of the squared scores, at the solution `theta`."""
    rows = rows_of(part, scheme)
    residual = rows.labels - (rows.expected - middle) @ theta
    own, others = rows.basis @ theta, rows.others @ theta
    Z, given = rows.Z - z_mean, rows.basis
    gradient = Z.T @ residual
    if fit_intercept:
        constant = np.full((len(Z), 1), scheme.n_rows**-0.5)
        Z, given = np.hstack([constant, Z]), np.hstack([constant, given])
    lost = np.arange(len(Z)) < rows.movable
    given = given * (rows.labels - rows.basis @ ordinary)[:, None]
    return ScoreSums(
        gradient, score_products(Z * residual[:, None], rows.blocks, units),
        Z.T @ ((others - own) * lost), float(own @ own), given.T @ given,
    )  # fmt: skip


def rows_of(part: Part, scheme: Scheme) -> PartRows:
    """The rows of a part, with the features that are expected beside their labels."""
    basis, labels = _basis(part, scheme), part.rows.y - scheme.label_mean
    if scheme.whole is not None:
        others = (scheme.n_rows * scheme.whole - basis) / (scheme.n_rows - 1.0)
        expected = basis + scheme.rate * (others - basis)
        Z = {"lahiri-larsen": expected, "chambers": basis}.get(scheme.method, basis - scheme.whole)
        alike: IntArray = np.zeros(len(labels), dtype=np.int64)
        return PartRows(basis, expected, Z, others, labels, alike, len(labels))
    sizes, n = np.diff(part.rows.starts), part.n_movable
    blocks = np.append(
        np.repeat(np.arange(len(sizes)), sizes), len(sizes) + np.arange(len(labels) - n)
    )
    exchange = make_exchange(
        blocks,
        np.full(len(labels), scheme.rate),
        np.zeros(len(labels), dtype=np.int64),
        np.zeros(1),
    )
    expected = expected_features(basis, exchange)
    Z = instruments(scheme.method, basis, expected, exchange)
    return PartRows(basis, expected, Z, others_mean(basis, exchange), labels, blocks, n)


def _basis(part: Part, scheme: Scheme) -> FloatArray:
    rows = np.asarray(part.features()[part.rows.places], dtype=np.float64)
    basis: FloatArray = (rows - scheme.centre) @ scheme.to_coef
    return basis


def _added(kind: type[Sums], answers: list[Sums]) -> Sums:
    return kind(*(sum(column) for column in zip(*answers, strict=True)))
