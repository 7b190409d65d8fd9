r"""Sums over partial matchings by message passing: Sinkhorn's scaling with a partner for nobody.

The weight of a matching is the product over its pairs of w(i, j), as in `partial_chain`. Rows tell
labels, and labels rows, how much weight their other pairs and staying alone have,

.. math::

    a_{ij} = \frac{w_{ij}}{1 + \sum_{k \ne j} w_{ik} b_{ik}}, \qquad
    b_{ij} = \frac{1}{1 + \sum_{k \ne i} a_{kj}},

until nothing changes. The ones are the null partners. Then a pair has the probability
:math:`a b / (1 + a b)`, and the logarithm of the sum over all matchings is

.. math::

    \sum_i \log (1 + \sum_j w_{ij} b_{ij}) + \sum_j \log (1 + \sum_i a_{ij})
    - \sum_{ij} \log (1 + a_{ij} b_{ij}),

Bethe's approximation: exact for one row or one label, and never above the sum itself. Unlike a
chain it has no Monte Carlo error, so that sums at different coefficients can be compared.

Sums without one term are kept as the largest term and the sum of the others, because the difference
of a sum and its largest term would be rounding.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .skip_match import find_windows
from .types import FloatArray, IntArray

NEGLIGIBLE = 23.0  # log of the weight of being alone over that of a pair that is left out


class BetheSums(NamedTuple):
    """Expectations of each row and label; see `partial_chain.PartialState`."""

    holds: FloatArray
    held: FloatArray
    held_squares: FloatArray
    is_held: FloatArray


@kernel
def sum_matchings(
    mu: FloatArray,
    y: FloatArray,
    gain: FloatArray,
    precision: float,
    n_iter: int,
    stop: float,
    sums: BetheSums,
) -> float:
    """Write the expectations of one group into `sums`; return the log of the sum over matchings.

    `y` is ascending. Messages are passed up to `n_iter` times, until none changes by `stop`.
    """
    r, size = len(mu), len(y)
    order = np.argsort(mu, kind="mergesort")
    low, high = np.empty(r, dtype=np.int64), np.empty(r, dtype=np.int64)
    reach = math.sqrt(2.0 * max(NEGLIGIBLE + gain.max(), 0.0) / precision)
    cells = find_windows(mu[order], y, reach, low, high)
    weight, from_row, from_label = np.empty(cells), np.empty(cells), np.ones(cells)
    cell = 0
    for k in range(r):
        value = mu[order[k]]
        for j in range(low[k], high[k]):
            apart = y[j] - value
            weight[cell] = math.exp(gain[j] - 0.5 * precision * apart * apart)
            cell += 1
    largest, others, owner = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    for _ in range(n_iter):
        _ask_rows(weight, from_label, low, high, from_row)
        _gather(from_row, low, high, largest, others, owner)
        if _ask_labels(from_row, low, high, largest, others, owner, from_label) < stop:
            break
    log_sum, cell = 0.0, 0
    for j in range(size):
        log_sum += math.log(1.0 + others[j] + largest[j])
        sums.is_held[j] = 0.0
    for k in range(r):
        i, total = order[k], 1.0
        sums.holds[i] = sums.held[i] = sums.held_squares[i] = 0.0
        for j in range(low[k], high[k]):
            total += weight[cell] * from_label[cell]
            both = from_row[cell] * from_label[cell]
            log_sum -= math.log(1.0 + both)
            share = both / (1.0 + both)
            sums.holds[i] += share
            sums.held[i] += share * y[j]
            sums.held_squares[i] += share * y[j] * y[j]
            sums.is_held[j] += share
            cell += 1
        log_sum += math.log(total)
    return log_sum


@kernel
def _ask_rows(
    weight: FloatArray, from_label: FloatArray, low: IntArray, high: IntArray, out: FloatArray
) -> None:
    """What rows tell labels."""
    first = 0
    for k in range(len(low)):
        last = first + high[k] - low[k]
        largest, others, owner = 0.0, 0.0, -1
        for cell in range(first, last):
            term = weight[cell] * from_label[cell]
            if term > largest:
                others, largest, owner = others + largest, term, cell
            else:
                others += term
        for cell in range(first, last):
            rest = others
            if cell != owner:
                rest += largest - weight[cell] * from_label[cell]
            out[cell] = weight[cell] / (1.0 + max(rest, 0.0))
        first = last


@kernel
def _gather(
    from_row: FloatArray,
    low: IntArray,
    high: IntArray,
    largest: FloatArray,
    others: FloatArray,
    owner: IntArray,
) -> None:
    """The largest message to each label, the cell it came from, and the sum of the others."""
    largest[:], others[:], owner[:] = 0.0, 0.0, -1
    cell = 0
    for k in range(len(low)):
        for j in range(low[k], high[k]):
            term = from_row[cell]
            if term > largest[j]:
                others[j] += largest[j]
                largest[j], owner[j] = term, cell
            else:
                others[j] += term
            cell += 1


@kernel
def _ask_labels(
    from_row: FloatArray,
    low: IntArray,
    high: IntArray,
    largest: FloatArray,
    others: FloatArray,
    owner: IntArray,
    out: FloatArray,
) -> float:
    """What labels tell rows; returns the largest change."""
    change, cell = 0.0, 0
    for k in range(len(low)):
        for j in range(low[k], high[k]):
            rest = others[j]
            if cell != owner[j]:
                rest += largest[j] - from_row[cell]
            message = 1.0 / (1.0 + max(rest, 0.0))
            change = max(change, abs(message - out[cell]))
            out[cell] = message
            cell += 1
    return change
