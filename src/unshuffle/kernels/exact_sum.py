r"""Sums that do not depend on the order or the grouping of their terms.

Floating-point addition is not associative, so a sum over partitions depends on the cut. Here every
term v with :math:`|v| < 2^e` is rounded to a fixed grid, in two folds of 30 bits:

.. math::

    h = 2^{e-30} \operatorname{rint}(v\, 2^{30-e}), \qquad
    l = 2^{e-60} \operatorname{rint}((v - h)\, 2^{60-e}).

Up to :math:`2^{22}` of either add up exactly in a float; then they are carried over to integers.
Integers add up exactly whatever the order, so partial sums of any partition give the same bits. A
term is off by at most :math:`2^{e-61}`, and the whole sum by no more than that per term.

Rounding to a grid is an addition and a subtraction of ``1.5 · 2^52`` grid steps, which compiled
code does for several columns at once (Demmel & Nguyen 2013 take the same way to reproducible sums).
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray

FOLD = 30
TERMS_PER_CARRY = 1 << 22
SMALLEST_EXPONENT, LARGEST_EXPONENT = -900, 900


class Sums(NamedTuple):
    """Running sums of k quantities.

    Attributes
    ----------
    exponents : array of shape (k,)
        Terms of quantity j are below ``2**exponents[j]``.
    coarse, fine : arrays of shape (k,)
        What rounds to the two grids.
    high, low : arrays of shape (k,)
        Sums since the last carry.
    total_high, total_low : arrays of shape (k,)
        Sums before it, in grid steps.
    since : array of shape (1,)
        Terms since the last carry.
    """

    exponents: IntArray
    coarse: FloatArray
    fine: FloatArray
    high: FloatArray
    low: FloatArray
    total_high: IntArray
    total_low: IntArray
    since: IntArray


def exponent_above(bound: float) -> int:
    """Smallest allowed e with ``bound < 2**e``."""
    if not math.isfinite(bound) or bound >= 2.0**LARGEST_EXPONENT:
        raise ValueError(f"numbers as large as {bound:g} cannot be added up; rescale the columns")
    return max(math.frexp(bound)[1], SMALLEST_EXPONENT)


def new_sums(exponents: IntArray) -> Sums:
    """Sums of nothing yet, for terms below ``2**exponents``."""
    e = np.asarray(exponents, dtype=np.int64)
    k = len(e)
    return Sums(
        e,
        np.ldexp(1.5, 52 - FOLD + e),
        np.ldexp(1.5, 52 - 2 * FOLD + e),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k, dtype=np.int64),
        np.zeros(k, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def add(sums: Sums, k: int, value: float) -> None:
    """Add one term to quantity k; call `count_terms` before."""
    h = (value + sums.coarse[k]) - sums.coarse[k]
    sums.high[k] += h
    sums.low[k] += ((value - h) + sums.fine[k]) - sums.fine[k]


@kernel
def count_terms(sums: Sums, n: int) -> None:
    """Carry, if needed, before n more terms of each quantity, n being at most `TERMS_PER_CARRY`."""
    if sums.since[0] + n > TERMS_PER_CARRY:
        carry(sums)
    sums.since[0] += n


@kernel
def carry(sums: Sums) -> None:
    """Move the running sums to the integers."""
    for k in range(len(sums.high)):
        e = int(sums.exponents[k])
        sums.total_high[k] += np.int64(math.ldexp(sums.high[k], FOLD - e))
        sums.total_low[k] += np.int64(math.ldexp(sums.low[k], 2 * FOLD - e))
        sums.high[k] = 0.0
        sums.low[k] = 0.0
    sums.since[0] = 0


def in_steps(sums: Sums) -> list[int]:
    """The sums so far as integers, in steps of ``2**(exponent - 60)``; they may be added freely."""
    carry(sums)
    return [
        (int(high) << FOLD) + int(low)
        for high, low in zip(sums.total_high, sums.total_low, strict=True)
    ]


def from_steps(steps: int, exponent: int) -> float:
    """The nearest float to a sum given in steps."""
    return math.ldexp(float(steps), int(exponent) - 2 * FOLD)
