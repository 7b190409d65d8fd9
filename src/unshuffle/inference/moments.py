r"""Estimating equations for linked labels, which need no law of the noise.

Row i holds its own label with probability :math:`1 - q_i`, and otherwise that of another row of its
block, drawn in proportion to the probabilities :math:`q_j` with which those have lost theirs. With
X the features, the labels as given have the mean

.. math::

    E[y \mid X] = E[A] (b + X w), \qquad
    (E[A] X)_i = (1 - q_i) x_i + q_i h_i, \qquad
    h_i = \frac{\sum_{j \ne i} q_j x_j}{\sum_{j \ne i} q_j},

where j runs over the block of row i. With one rate r in a block of m rows :math:`h_i` is the mean
over the other rows, and E[A] the matrix of exchangeable linkage errors, 1 - r on its diagonal and
r / (m - 1) elsewhere. For any instruments Z that are functions of X

.. math:: Z^\top (y - b - E[A] X w) = 0

is an unbiased equation: :math:`Z = E[A] X` is Lahiri and Larsen's, :math:`Z = X` Chambers', and X
less its block means uses differences inside blocks alone.
"""

from dataclasses import dataclass

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .settings import MOMENTS, MomentSettings


@dataclass(frozen=True, eq=False)
class Exchange:
    """Who may hold whose label.

    Attributes
    ----------
    blocks : array of shape (n,)
        Number of the block inside which a row's label was exchanged.
    lost : array of shape (n,)
        Probability that a row does not hold its own label; zero in blocks of one row.
    strata : array of shape (n,)
        Number of the rate that holds for a row; -1 where its probability is known by itself.
    variances : array of shape (n_rates,)
        Of the rates: zero where they are known.
    """

    blocks: IntArray
    lost: FloatArray
    strata: IntArray
    variances: FloatArray


def make_exchange(
    blocks: IntArray, lost: FloatArray, strata: IntArray, variances: FloatArray
) -> Exchange:
    """Rows that are alone in their block keep their label."""
    alone = np.bincount(blocks)[blocks] < 2
    return Exchange(blocks, np.where(alone, 0.0, lost), np.where(alone, -1, strata), variances)


def others_mean(values: FloatArray, exchange: Exchange) -> FloatArray:
    """Mean of `values` (n, k) over the rows whose label a row may hold, itself left out."""
    codes, lost = exchange.blocks, exchange.lost
    weight = lost[:, None] * values
    total = _block_sums(lost, codes)[codes] - lost
    mean = _block_sums(weight, codes)[codes] - weight
    # Where no other row of the block can have lost its label, any of them may be meant.
    nobody = total <= MOMENTS.nothing * np.maximum(lost, MOMENTS.nothing)
    if nobody.any():
        size = np.bincount(codes)[codes] - 1.0
        plain = (_block_sums(values, codes)[codes] - values)[nobody]
        mean[nobody], total[nobody] = plain, np.maximum(size[nobody], 1.0)
        mean[nobody & (size == 0.0)] = values[nobody & (size == 0.0)]
    averaged: FloatArray = mean / total[:, None]
    return averaged


def expected_features(X: FloatArray, exchange: Exchange) -> FloatArray:
    """E[A] X."""
    lost = exchange.lost[:, None]
    return X + lost * (others_mean(X, exchange) - X)


def instruments(method: str, X: FloatArray, expected: FloatArray, exchange: Exchange) -> FloatArray:
    """Z of a method."""
    if method == "lahiri-larsen":
        return expected
    if method == "chambers":
        return X
    sizes = np.bincount(exchange.blocks)
    means = _block_sums(X, exchange.blocks) / sizes[:, None]
    within: FloatArray = X - means[exchange.blocks]
    return within


def rate_slopes(Z: FloatArray, fitted: FloatArray, exchange: Exchange) -> FloatArray:
    """Derivative of Z' E[y] by each rate, shape (n_rates, k); `fitted` are the rows' own means."""
    codes, lost, strata = exchange.blocks, exchange.lost, exchange.strata
    n_rates = len(exchange.variances)
    slopes = np.zeros((n_rates, Z.shape[1]))
    inside = strata >= 0
    if not inside.any():
        return slopes
    h = others_mean(fitted[:, None], exchange)[:, 0]
    np.add.at(slopes, strata[inside], (Z * (h - fitted)[:, None])[inside])
    # The rates of the other rows of the block decide whose label is meant.
    total = _block_sums(lost, codes)[codes] - lost
    share = np.where(total > MOMENTS.nothing, lost / np.where(total > 0.0, total, 1.0), 0.0)
    first = _block_sums(Z * share[:, None], codes)
    second = _block_sums(Z * (share * h)[:, None], codes)
    cells, cell = np.unique(codes[inside] * n_rates + strata[inside], return_inverse=True)
    block, rate = cells // n_rates, cells % n_rates
    sums = np.bincount(cell, fitted[inside])
    counts = np.bincount(cell)
    np.add.at(slopes, rate, sums[:, None] * first[block] - counts[:, None] * second[block])
    np.subtract.at(slopes, strata[inside], (Z * (share * (fitted - h))[:, None])[inside])
    return slopes


@dataclass(frozen=True)
class Units:
    """The independent units of the standard errors.

    Attributes
    ----------
    by_block : bool
        Whether they are blocks, or rows.
    number : int
        How many there are.
    factor : float
        What sums of squares over units are multiplied by.
    freedom : int
        Degrees of freedom.
    """

    by_block: bool
    number: int
    factor: float
    freedom: int


def choose_units(
    n_rows: int,
    n_blocks: int,
    squared_sizes: float,
    n_parameters: int,
    settings: MomentSettings = MOMENTS,
) -> Units:
    """Blocks where there are enough of like size, else rows."""
    n, spare = n_rows, n_rows - n_parameters
    worth = n**2 / squared_sizes
    if worth < settings.fewest_blocks + n_parameters:
        return Units(False, n, n / spare, spare)
    factor = n_blocks / (n_blocks - 1) * (n - 1) / spare
    return Units(True, n_blocks, factor, min(spare, int(worth) - 1))


def score_products(scores: FloatArray, blocks: IntArray, units: Units) -> FloatArray:
    """Products of the scores of the units, added up."""
    sums = _block_sums(scores, blocks) if units.by_block else scores
    products: FloatArray = sums.T @ sums
    return products


def with_rates(
    found: FloatArray,
    slopes: FloatArray,
    counts: FloatArray,
    rates: FloatArray,
    variances: FloatArray,
) -> FloatArray:
    """Covariance of Z'(y - E[y]) with what is not known of the rates.

    Squared residuals count each mismatch as a draw of its own. Where the share of mismatches among
    `counts` rows is what a rate says, the variance of that share is taken off again. `slopes` are
    the derivatives by the rates, of shape (n_rates, k).
    """
    if not len(slopes):
        return found
    drawn = rates * (1.0 - rates) / np.maximum(counts, 1)
    given = found - slopes.T @ (drawn[:, None] * slopes)
    if np.linalg.eigvalsh(given).min() > 0.0:
        found = given
    added: FloatArray = found + slopes.T @ (variances[:, None] * slopes)
    return added


def _block_sums(values: FloatArray, codes: IntArray) -> FloatArray:
    """Sums over the rows of each block, shape (n_blocks, ...)."""
    if values.ndim == 1:
        return np.bincount(codes, values).astype(np.float64, copy=False)
    columns = [np.bincount(codes, column) for column in values.T]
    sums: FloatArray = np.stack(columns, axis=1) if columns else np.zeros((codes.max() + 1, 0))
    return sums
