"""A counter-based random generator: draw number c of a stream is a pure function of (key, c).

The generator is SplitMix64 (Steele, Lea & Flood 2014), read at any position instead of one
after the other. Nothing has to be stored to continue a stream, so a chain can be cut anywhere
into pieces, on any number of threads, and give the same bits.
"""

import numpy as np

from .jit import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_U11, _U27, _U30, _U31, _U32 = (np.uint64(k) for k in (11, 27, 30, 31, 32))
_TO_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@kernel
def mix(z: np.uint64) -> np.uint64:
    """Scramble 64 bits, one to one."""
    z = (z ^ (z >> _U30)) * _MIX_1
    z = (z ^ (z >> _U27)) * _MIX_2
    return z ^ (z >> _U31)


@kernel
def stream_key(seed: np.uint64, iteration: int, group: int) -> np.uint64:
    """Key of the stream of one group in one iteration."""
    z = mix(seed + GOLDEN)
    z = mix(z + np.uint64(iteration) * GOLDEN + GOLDEN)
    return mix(z + np.uint64(group) * GOLDEN + GOLDEN)


@kernel
def draw(key: np.uint64, counter: int) -> np.uint64:
    """Draw 64 random bits: number `counter` of stream `key`."""
    return mix(key + np.uint64(counter) * GOLDEN)


@kernel
def to_unit(bits: np.uint64) -> float:
    """Turn 64 random bits into a float in [0, 1)."""
    return np.float64(bits >> _U11) * _TO_UNIT


@kernel
def high_index(bits: np.uint64, size: np.uint64) -> np.uint64:
    """Index in [0, size) from the upper half of 64 random bits."""
    return ((bits >> _U32) * size) >> _U32


@kernel
def low_index(bits: np.uint64, size: np.uint64) -> np.uint64:
    """Index in [0, size) from the lower half of 64 random bits."""
    return ((bits & _LOW_32) * size) >> _U32
