r"""Slopes between and within blocks of rows.

With :math:`\bar x_g, \bar y_g` the means of a block g of :math:`n_g` rows, the slopes *between* are
those of least squares of :math:`\bar y_g` on :math:`\bar x_g` with weights :math:`n_g`, the slopes
*within* those of :math:`y_i - \bar y_g` on :math:`x_i - \bar x_g`. Labels exchanged inside blocks
leave all means as they are. They change the slopes within only.

The covariance of both together is that of leaving out one block at a time (HC3 for the means, CR3
for the rows),

.. math::

    \widehat{\mathrm{Cov}}
    = \sum_g (\hat\theta_{-g} - \hat\theta)(\hat\theta_{-g} - \hat\theta)^\top, \qquad
    \theta = (\beta_B, \beta_W).

It holds for noise of any variance and for noise that the rows of a block share, and it errs on the
side of caution where there are few blocks.
"""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from ..kernels.types import BoolArray, FloatArray, IntArray
from .settings import BLOCKS, BlockSettings


class BlockSlopes(NamedTuple):
    """Slopes of the features that vary both between and within blocks.

    Attributes
    ----------
    compared : array of shape (k,)
        Columns of X that are compared.
    units : array of shape (k,)
        What the slopes are multiplied by to be in the units of y and X. Here they are in standard
        deviations of both, so that the tests do not depend on units.
    between, within : arrays of shape (k,)
    covariance : array of shape (2 k, 2 k)
        Of the slopes between and, after them, those within.
    freedom : int
        Blocks less coefficients of the regression of means.
    n_alone : int
        Blocks of one row; they take part between blocks only.
    lowest_factor : float
        Expected ratio of slopes within to those between if no row of a block keeps its label:
        -1 / (m - 1) in blocks of m rows.
    """

    compared: IntArray
    units: FloatArray
    between: FloatArray
    within: FloatArray
    covariance: FloatArray
    freedom: int
    n_alone: int
    lowest_factor: float


class _Slopes(NamedTuple):
    """Slopes, and by how much each changes if a block is left out, shape (n_blocks, k)."""

    values: FloatArray
    changes: FloatArray


def block_slopes(
    X: FloatArray,
    y: FloatArray,
    codes: IntArray,
    features: Sequence[str],
    blocks: Sequence[object],
    settings: BlockSettings = BLOCKS,
) -> BlockSlopes:
    """Slopes between and within blocks; what cannot be compared is refused.

    `codes` number the blocks 0, 1, ...; `features` and `blocks` are names for messages.
    """
    sizes = np.bincount(codes)
    if len(sizes) == 1:
        raise ValueError("all rows are in one block, so that there is nothing to compare it with")
    if sizes.max() == 1:
        raise ValueError(
            "every block has one row only, so that no label can have moved inside one; give a "
            "column that several rows share"
        )
    (features_of_rows, scale), (labels, label_scale) = map(_standardise, (X, y[:, None]))
    means, label_means = (_block_means(v, codes, sizes) for v in (features_of_rows, labels))
    inside = features_of_rows - means[codes]
    in_means = _varies(means * np.sqrt(sizes)[:, None], len(y), settings)
    in_rows = _varies(inside, len(y), settings)
    compared = np.flatnonzero(in_means & in_rows)
    _check_enough(len(sizes), int(in_means.sum()), len(compared), settings)
    of_means, of_rows = (list(compress(features, kept)) for kept in (in_means, in_rows))
    between = _between(means[:, in_means], label_means[:, 0], sizes, of_means, blocks, settings)
    labels_inside = (labels - label_means[codes])[:, 0]
    within = _within(inside[:, in_rows], labels_inside, codes, of_rows, blocks, settings)
    # Features that vary only between blocks, or only within, are held constant and not compared.
    first, second = in_rows[in_means], in_means[in_rows]
    changes = np.hstack([between.changes[:, first], within.changes[:, second]])
    covariance = changes.T @ changes
    _check_noise(covariance)
    return BlockSlopes(
        compared,
        label_scale / scale[compared],
        between.values[first],
        within.values[second],
        covariance,
        len(sizes) - 1 - int(in_means.sum()),
        int((sizes == 1).sum()),
        -float((sizes > 1).sum() / (sizes - 1).sum()),
    )


def _standardise(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns around their means in units of their standard deviations, and these."""
    centred = values - values.mean(axis=0)
    scale = np.sqrt((centred**2).mean(axis=0))
    scale[scale == 0.0] = 1.0
    return centred / scale, scale


def _block_means(values: FloatArray, codes: IntArray, sizes: IntArray) -> FloatArray:
    sums = [np.bincount(codes, column, minlength=len(sizes)) for column in values.T]
    means: FloatArray = np.stack(sums, axis=1) / sizes[:, None]
    return means


def _varies(values: FloatArray, n_rows: int, settings: BlockSettings) -> BoolArray:
    """Which standardised features have more than rounding of their variance here."""
    varies: BoolArray = (values**2).sum(axis=0) > settings.smallest_share * n_rows
    return varies


def _check_enough(n_blocks: int, n_between: int, k: int, settings: BlockSettings) -> None:
    if k == 0:
        raise ValueError(
            "no feature varies both between and within blocks, so that there are no slopes to "
            "compare"
        )
    needed = settings.fewest_freedom + n_between + k
    if n_blocks < needed:
        noun = "feature" if n_between == 1 else "features"
        raise ValueError(
            f"there are {n_blocks} blocks, and slopes of {n_between} {noun} need at least "
            f"{needed}; choose fewer features, or a column with more and smaller blocks"
        )


def _between(
    means: FloatArray,
    labels: FloatArray,
    sizes: IntArray,
    features: Sequence[str],
    blocks: Sequence[object],
    settings: BlockSettings,
) -> _Slopes:
    root = np.sqrt(sizes)
    design = np.column_stack([np.ones(len(sizes)), means]) * root[:, None]
    basis, upper = np.linalg.qr(design)
    _check_rank(upper, ["the intercept", *features], "between")
    theta = basis.T @ (labels * root)
    leverage = (basis**2).sum(axis=1)
    _check_leverage(leverage, blocks, "between", settings)
    residual = (labels * root - basis @ theta) / (1.0 - leverage)
    changes = np.linalg.solve(upper, (basis * -residual[:, None]).T).T
    return _Slopes(np.linalg.solve(upper, theta)[1:], changes[:, 1:])


def _within(
    inside: FloatArray,
    labels: FloatArray,
    codes: IntArray,
    features: Sequence[str],
    blocks: Sequence[object],
    settings: BlockSettings,
) -> _Slopes:
    basis, upper = np.linalg.qr(inside)
    _check_rank(upper, features, "within")
    theta = basis.T @ labels
    scores = basis * (labels - basis @ theta)[:, None]
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    by_block = np.split(order, ends[:-1])
    changes = np.empty((len(by_block), basis.shape[1]))
    for first in range(0, len(by_block), settings.blocks_at_once):
        some = by_block[first : first + settings.blocks_at_once]
        products = np.stack([basis[rows].T @ basis[rows] for rows in some])
        leverage = np.linalg.eigvalsh(products)[:, -1]
        _check_leverage(leverage, blocks[first:], "within", settings)
        left = np.eye(basis.shape[1]) - products
        sums = np.stack([scores[rows].sum(axis=0) for rows in some])
        changes[first : first + len(some)] = -np.linalg.solve(left, sums[:, :, None])[:, :, 0]
    return _Slopes(np.linalg.solve(upper, theta), np.linalg.solve(upper, changes.T).T)


def _check_rank(upper: FloatArray, names: Sequence[str], where: str) -> None:
    """Refuse a design without full rank; `upper` is its triangular factor."""
    if np.linalg.matrix_rank(upper) == len(names):
        return
    ranks = [np.linalg.matrix_rank(upper[:, : k + 1]) for k in range(len(names))]
    dependent = next(k for k, rank in enumerate(ranks) if rank <= k)
    raise ValueError(
        f"{where} blocks the feature {names[dependent]!r} is a linear combination of the features "
        "before it, so that it has no slope of its own; leave it out"
    )


def _check_leverage(
    leverage: FloatArray, blocks: Sequence[object], where: str, settings: BlockSettings
) -> None:
    alone = np.flatnonzero(leverage > settings.most_leverage)
    if len(alone):
        raise ValueError(
            f"block {blocks[int(alone[0])]!r} alone determines a slope {where} blocks, so that "
            "the slope has no standard error; leave out the feature that varies in this block "
            "only, or the block"
        )


def _check_noise(covariance: FloatArray) -> None:
    # In standard deviations; what is left of exact labels is rounding.
    if np.diag(covariance).min() < np.finfo(np.float64).eps ** 2:
        raise ValueError(
            "the labels are an exact linear function of the features between or within blocks: "
            "without noise there is nothing to test; check that y is not computed from X"
        )
