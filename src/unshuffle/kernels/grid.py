"""Sums over Gaussian kernels in O(n): values are put on a grid, smoothed there, and read off.

Putting on and reading off are linear between two nodes. Each widens the kernel by a variance of
``h²/6`` on average, where h is the distance of the nodes, so the kernel on the grid is that much
narrower. All terms are positive: small sums are as accurate as large ones.
"""

from .jit import kernel
from .types import FloatArray, IntArray


@kernel
def put_on_grid(cell: IntArray, part: FloatArray, values: FloatArray, grid: FloatArray) -> None:
    """Share each value between node ``cell`` (weight ``1 - part``) and the next."""
    grid[:] = 0.0
    for i in range(len(cell)):
        ahead = part[i] * values[i]
        grid[cell[i]] += values[i] - ahead
        grid[cell[i] + 1] += ahead


@kernel
def smooth(grid: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Convolve with the symmetric kernel whose right half is `weights`."""
    n = len(grid)
    for k in range(n):
        out[k] = weights[0] * grid[k]
    for step in range(1, min(len(weights), n)):
        weight = weights[step]
        for k in range(step, n):
            out[k] += weight * grid[k - step]
        for k in range(n - step):
            out[k] += weight * grid[k + step]


@kernel
def read_off(cell: IntArray, part: FloatArray, grid: FloatArray, out: FloatArray) -> None:
    """Interpolate between the nodes."""
    for i in range(len(cell)):
        here = grid[cell[i]]
        out[i] = here + part[i] * (grid[cell[i] + 1] - here)
