"""How far apart the partners of a sweep are: scales from the noise, distances, their chances."""

import math

import numpy as np

from .jit import kernel
from .rng import draw, mix, to_unit
from .types import FloatArray

_U27 = np.uint64(27)
_LOW_24 = np.uint64(0xFFFFFF)
_LOW_5 = np.uint64(31)


@kernel
def sweep_key(key: np.uint64, number: int) -> np.uint64:
    """Key of the draws of one sweep."""
    return mix(key ^ mix(np.uint64(number)))


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
    within = np.searchsorted(mu, middle + noise) - np.searchsorted(mu, middle - noise)
    last = 1
    while 3 * (1 << last) < within and (1 << last) < size:
        last += 1
    return max(1, last - 6), last


@kernel
def draw_distance(bits: np.uint64, low: int, high: int) -> int:
    """Distance on a random scale, from the lower half of 64 random bits.

    From the top: 5 bits of scale, 1 of direction, 2 unused, 24 of distance.
    """
    scale = low + (int((bits >> _U27) & _LOW_5) * (high - low + 1)) // 32
    return 1 + ((int(bits & _LOW_24) << scale) >> 24)


@kernel
def draw_shell(bits: np.uint64, low: int, high: int) -> tuple[int, int]:
    """Distance and its scale k: uniform on 2**(k-1)+1 .. 2**k, on 1 .. 2**low for the first.

    The same bits as in `draw_distance`.
    """
    scale = low + (int((bits >> _U27) & _LOW_5) * (high - low + 1)) // 32
    nearest = 0 if scale == low else 1 << (scale - 1)
    beyond = (int(bits & _LOW_24) * ((1 << scale) - nearest)) >> 24
    return nearest + 1 + beyond, scale


@kernel
def log_chances(low: int, high: int) -> FloatArray:
    """Entry k: log of the chance of one given neighbour at a distance of scale k."""
    table = np.full(high + 1, -np.inf)
    for scale in range(low, high + 1):
        n_scales, k = high - low + 1, scale - low
        values = -(-32 * (k + 1) // n_scales) + (-32 * k // n_scales)
        width = 1 << scale if scale == low else 1 << (scale - 1)
        table[scale] = math.log(values / 32.0 * 0.5 / np.float64(width))
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
