"""What the first passes over the data learn: size, means, and the products least squares needs."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from ..kernels.exact_sum import exponent_above, from_steps
from ..kernels.types import FloatArray, IntArray
from . import passes
from .numbers import refuse_sizes
from .passes import Totals

Answer = TypeVar("Answer")


class Parts(Protocol):
    """Parts of the data, wherever they live."""

    def map(self, function: Callable[..., Answer], *arguments: object, name: str) -> list[Answer]:
        """Ask every part; `name` is what people see while they wait."""


class Survey(NamedTuple):
    """Facts about the whole table.

    Attributes
    ----------
    n_rows, n_movable, n_groups, n_blocks, largest_block : int
    centre : array of shape (d,)
        Means of the columns; zero without an intercept.
    label_centre : float
        Mean of the labels.
    reach : array of shape (d + 1,)
        Largest distance from the centre, the label last.
    gram : array of shape (d, d)
        Products of the columns, from the centre.
    moments : array of shape (d,)
        Products of the columns with the labels; labels from their mean where there is an intercept.
    label_ss : float
        Sum of squares of the labels, from their mean.
    digest : str
        Fingerprint of the data; it does not depend on the partition.
    """

    n_rows: int
    n_movable: int
    n_groups: int
    n_blocks: int
    largest_block: int
    centre: FloatArray
    label_centre: float
    reach: FloatArray
    gram: FloatArray
    moments: FloatArray
    label_ss: float
    digest: str


def survey(parts: Parts, fit_intercept: bool) -> Survey:
    """Read the data three times: for limits, for means, and for products."""
    found = parts.map(passes.ranges, name="limits")
    n = sum(each.n_rows for each in found)
    low = np.min([each.low for each in found], axis=0)
    high = np.max([each.high for each in found], axis=0)
    if low[-1] == high[-1]:
        raise ValueError(
            f"all {n} labels equal {low[-1]:g}: there is nothing to fit; check that the label is "
            "the right column"
        )
    d = len(low) - 1
    largest = np.maximum(np.abs(low), np.abs(high))
    refuse_sizes(largest, [*(f"column {j} of X" for j in range(d)), "y"])
    exponents = exponents_above(largest)
    columns, column_steps = add_up(
        parts.map(passes.column_sums, exponents, name="means"), exponents
    )
    means = columns / n
    centre = means[:d] if fit_intercept else np.zeros(d)
    label_centre = float(means[d])
    everything = np.append(centre, label_centre)
    reach = np.maximum(high - everything, everything - low)
    single = exponents_above(reach)
    upper = np.triu_indices(d + 1)
    exponents = single[upper[0]] + single[upper[1]]
    answers = parts.map(passes.products, centre, label_centre, exponents, name="products")
    values, product_steps = add_up(answers, exponents)
    table = np.zeros((d + 1, d + 1))
    table[upper] = values
    table.T[upper] = values
    moments = table[:d, d] if fit_intercept else table[:d, d] + label_centre * columns[:d]
    facts = (
        n,
        sum(each.grouping for each in found) % 2**64,
        column_steps,
        product_steps,
    )
    return Survey(
        n,
        sum(each.n_movable for each in found),
        sum(each.n_groups for each in found),
        sum(each.n_blocks for each in found),
        max(each.largest_block for each in found),
        centre,
        label_centre,
        reach,
        table[:d, :d],
        moments,
        float(table[d, d]),
        hashlib.sha256(repr(facts).encode()).hexdigest(),
    )


def add_up(answers: Sequence[Totals], exponents: IntArray) -> tuple[FloatArray, list[int]]:
    """The sums over all parts, as floats and in steps."""
    steps = [sum(column) for column in zip(*(each.steps for each in answers), strict=True)]
    values = [from_steps(s, e) for s, e in zip(steps, exponents, strict=True)]
    return np.array(values), steps


def exponents_above(bounds: FloatArray) -> IntArray:
    """Powers of two above some bounds."""
    return np.array([exponent_above(float(bound)) for bound in bounds], dtype=np.int64)
