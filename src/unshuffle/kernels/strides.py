"""How far apart the rows of a proposal are: scales from the noise, distances, probabilities.

A scale k from `low` to `high` is read off five random bits, and a distance from those below. There
are two rules, each with its probabilities: `draw_distance` is uniform on 1 .. 2**k, whatever the
scale; `draw_shell` on the distances that smaller scales do not reach, so that the distance alone
determines the scale and one logarithm per scale is enough.
"""

import math

import numpy as np

from .jit import inlined, kernel
from .rng import draw, mix, to_unit
from .types import FloatArray

_U26, _U27 = np.uint64(26), np.uint64(27)
_LOW_24 = np.uint64(0xFFFFFF)
_LOW_5, _LOW_1 = np.uint64(31), np.uint64(1)


@inlined
def sweep_key(key: np.uint64, number: int) -> np.uint64:
    """Key of the draws of one sweep."""
    return mix(key ^ mix(np.uint64(number)))


@inlined
def count_below(ascending: FloatArray, value: float) -> int:
    """How many of the ascending numbers are below `value`; quicker to compile than NumPy's."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def stride_scales(mu: FloatArray, precision: float) -> tuple[int, int]:
    """First and last of the scales 2, 4, 8, ... of slots on which strides are drawn.

    The useful exchanges are between rows that lie a fraction of the noise apart. How many slots
    that is, is counted around the median, where they are densest; in the tails the same distance
    is fewer slots, which the smaller scales are for. Measured (`benchmarks/scale.py`): strides
    up to a third of the slots within the noise, on seven scales.
    """
    size = len(mu)
    middle = mu[size // 2]
    noise = 1.0 / math.sqrt(precision)
    within = count_below(mu, middle + noise) - count_below(mu, middle - noise)
    last = 1
    while 3 * (1 << last) < within and (1 << last) < size:
        last += 1
    return max(1, last - 6), last


@kernel
def draw_scale(bits: np.uint64, low: int, high: int) -> int:
    """Scale from the lower half of 64 random bits.

    From the top: 5 bits of scale, 1 of direction, 2 for the caller, 24 of distance.
    """
    return low + (int((bits >> _U27) & _LOW_5) * (high - low + 1)) // 32


@kernel
def scale_probability(scale: int, low: int, high: int) -> float:
    """Probability that `draw_scale` gives `scale`: so many of 32 values of its bits."""
    n_scales, k = high - low + 1, scale - low
    return (-(-32 * (k + 1) // n_scales) + (-32 * k // n_scales)) / 32.0


@kernel
def is_upward(bits: np.uint64) -> bool:
    """Direction, from the same bits."""
    return bool((bits >> _U26) & _LOW_1)


@kernel
def draw_distance(bits: np.uint64, low: int, high: int) -> int:
    """Distance, uniform on 1 .. 2**scale."""
    return 1 + ((int(bits & _LOW_24) << draw_scale(bits, low, high)) >> 24)


@kernel
def log_distance_probabilities(low: int, high: int) -> FloatArray:
    """Entry d: log probability that `draw_distance` leads to one given row at distance d."""
    table = np.full((1 << high) + 1, -np.inf)
    probability = 0.0
    for scale in range(high, -1, -1):
        if scale >= low:
            probability += scale_probability(scale, low, high) * 0.5 / np.float64(1 << scale)
        nearest = 1 if scale == 0 else (1 << (scale - 1)) + 1
        table[nearest : (1 << scale) + 1] = math.log(probability)
    return table


@kernel
def draw_shell(bits: np.uint64, low: int, high: int) -> tuple[int, int]:
    """Distance and its scale k: uniform on 2**(k-1)+1 .. 2**k, on 1 .. 2**low for the first."""
    scale = draw_scale(bits, low, high)
    nearest = 0 if scale == low else 1 << (scale - 1)
    beyond = (int(bits & _LOW_24) * ((1 << scale) - nearest)) >> 24
    return nearest + 1 + beyond, scale


@inlined
def log_shell_probabilities(low: int, high: int) -> FloatArray:
    """Entry k: log probability that `draw_shell` leads to one given row on scale k."""
    table = np.empty(high + 1)
    for scale in range(low):
        table[scale] = -np.inf
    for scale in range(low, high + 1):
        width = 1 << scale if scale == low else 1 << (scale - 1)
        table[scale] = math.log(scale_probability(scale, low, high) * 0.5 / np.float64(width))
    return table


@kernel
def scale_of(distance: int, low: int) -> int:
    """Scale of a distance of 1 or more."""
    return max(low, math.frexp(np.float64(distance - 1))[1])


@kernel
def draw_stride(key: np.uint64, size: int, low: int, high: int) -> tuple[int, int]:
    """Stride and offset of a sweep over pairs."""
    bits = draw(key, 2 * size)  # the slots use the counters before
    stride = 1 + (draw_distance(bits, low, high) - 1) % (size - 1)
    offset = int(to_unit(draw(key, 2 * size + 1)) * (2 * stride))
    return stride, offset
