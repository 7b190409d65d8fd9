import numpy as np
import pytest

from unshuffle.kernels.rng import draw, high_index, low_index, stream_key, to_unit


def splitmix64(state, count):
    """The sequential generator as published, with Python's unbounded integers."""
    mask, out = 2**64 - 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_counter_reads_the_sequence_of_splitmix64(seed):
    ours = [int(draw(np.uint64(seed), c)) for c in range(1, 20)]
    assert ours == splitmix64(seed, 19)


def test_units_and_indices_stay_in_range():
    top = np.uint64(2**64 - 1)
    assert 0.0 == to_unit(np.uint64(0)) < to_unit(top) < 1.0
    assert high_index(top, np.uint64(7)) == low_index(top, np.uint64(7)) == 6
    assert high_index(np.uint64(0), np.uint64(7)) == 0


def test_indices_are_uniform():
    key, n, size = np.uint64(3), 60_000, 6
    bits = [np.uint64(draw(key, c)) for c in range(n)]
    table = np.zeros((size, size))
    for b in bits:
        table[int(high_index(b, np.uint64(size))), int(low_index(b, np.uint64(size)))] += 1
    chi2 = np.sum((table - n / size**2) ** 2 / (n / size**2))
    assert chi2 < 35 + 4.5 * np.sqrt(2 * 35)


def test_streams_of_neighbouring_keys_differ():
    keys = {
        int(stream_key(np.uint64(s), i, g)) for s in range(4) for i in range(20) for g in range(20)
    }
    assert len(keys) == 1600
