"""Sums whose bits depend neither on the order nor on the grouping of their terms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.kernels import exact_sum
from unshuffle.kernels.block_em import PartRows
from unshuffle.kernels.columns import add_columns
from unshuffle.kernels.exact_sum import TERMS_PER_CARRY, exponent_above, from_steps, new_sums

finite = st.floats(-1e6, 1e6, allow_subnormal=False)


def steps_of(values, exponent):
    y = np.asarray(values, dtype=np.float64)
    places, sums = np.arange(len(y), dtype=np.int32), new_sums(np.array([exponent]))
    nothing = np.empty(0, dtype=np.int64)
    # The labels are the last of the columns, and here the only one.
    add_columns(np.empty((len(y), 0)), PartRows(places, y, places, nothing, nothing), sums)
    return exact_sum.in_steps(sums)[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(finite, min_size=1, max_size=200), st.randoms(use_true_random=False))
def test_any_partition_and_order_give_the_same_bits(values, random):
    exponent = exponent_above(max(abs(v) for v in values))
    whole = steps_of(values, exponent)
    shuffled = values.copy()
    random.shuffle(shuffled)
    cuts = sorted(random.randrange(len(values) + 1) for _ in range(3))
    pieces = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    assert sum(steps_of(piece, exponent) for piece in pieces) == whole
    # Every term is off by at most half a step.
    step = 2.0 ** (exponent - 60)
    assert abs(from_steps(whole, exponent) - math.fsum(values)) <= (
        0.5 * step * len(values) + math.ulp(math.fsum(values))
    )


def test_plain_addition_would_not_do():
    values = np.random.default_rng(0).normal(size=1000)
    plain = {float(sum(values[:k]) + sum(values[k:])) for k in range(0, 1000, 50)}
    assert len(plain) > 1
    exact = {steps_of(values[:k], 3) + steps_of(values[k:], 3) for k in range(0, 1000, 50)}
    assert len(exact) == 1


def test_carrying_in_the_middle_changes_nothing():
    values = np.random.default_rng(1).uniform(-1, 1, size=TERMS_PER_CARRY + 10)
    halves = steps_of(values[: 1 << 20], 0) + steps_of(values[1 << 20 :], 0)
    assert steps_of(values, 0) == halves
    assert from_steps(halves, 0) == pytest.approx(math.fsum(values), abs=1e-9)
    # The largest terms that there may be fill the running sums and do not spill over.
    full = np.full(TERMS_PER_CARRY, math.nextafter(1.0, 0.0))
    assert from_steps(steps_of(full, 0), 0) == math.fsum(full)


@pytest.mark.parametrize("bound", [1.0, 0.75, 1e-300, 1e200, 0.0])
def test_exponents_lie_strictly_above(bound):
    assert bound < 2.0 ** exponent_above(bound)


@pytest.mark.parametrize("bound", [math.inf, math.nan, 1e300])
def test_numbers_too_large_to_add_up_are_refused(bound):
    with pytest.raises(ValueError, match="rescale"):
        exponent_above(bound)
