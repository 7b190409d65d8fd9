import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.kernels.ranking import new_ranking, rank_block

number = st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e-310])


def is_sorted(values, order, first, last):
    block = order[first:last]
    return sorted(block) == list(range(first, last)) and np.all(np.diff(values[block]) >= 0)


@settings(deadline=None)  # the first call may compile
@given(st.lists(number, min_size=1, max_size=60), st.lists(number, min_size=60, max_size=60))
def test_any_values_are_sorted_afresh_and_again(values, others):
    values = np.array(values)
    space = new_ranking(len(values))
    rank_block(values, 0, len(values), space, False)
    assert is_sorted(values, space.order, 0, len(values))
    for changed in (values, np.array(others)[: len(values)]):
        rank_block(changed, 0, len(values), space, True)
        assert is_sorted(changed, space.order, 0, len(values))


@pytest.mark.parametrize("kind", ["normal", "heavy", "two values", "equal", "reversed"])
def test_blocks_inside_a_longer_array(kind):
    rng = np.random.default_rng(0)
    n = 500
    values = {
        "normal": rng.normal(size=n),
        "heavy": np.exp(30 * rng.normal(size=n)),
        "two values": rng.integers(0, 2, size=n).astype(float),
        "equal": np.full(n, 3.0),
        "reversed": -np.arange(n, dtype=float),
    }[kind]
    space = new_ranking(n)
    for first, last in ((0, 200), (200, 201), (201, 490)):
        rank_block(values, first, last, space, False)
        assert is_sorted(values, space.order, first, last)
        rank_block(-values, first, last, space, True)
        assert is_sorted(-values, space.order, first, last)
    assert np.array_equal(space.order[490:], np.arange(490, n))


@pytest.mark.parametrize("kind", ["heavy", "two values", "some not numbers"])
def test_equal_values_stand_in_the_order_given_and_nan_last(kind):
    rng = np.random.default_rng(1)
    values = {
        "heavy": np.exp(100 * rng.normal(size=333)),
        "two values": rng.integers(0, 2, size=333).astype(float),
        "some not numbers": np.where(rng.random(333) < 0.1, np.nan, rng.normal(size=333)),
    }[kind]
    space = new_ranking(len(values))
    rank_block(values, 0, len(values), space, False)
    assert np.array_equal(space.order, np.argsort(values, kind="stable"))
