r"""Log density of labels of any family whose order inside groups is lost.

Of a group the labels are known as a set, with the density

.. math:: \frac{1}{m!} \sum_\pi \prod_i f(y_{\pi(i)} \mid x_i) = e^{\sum_i a_i + \sum_j b_j}\,
    \frac{1}{m!} \sum_\pi e^{\sum_i u_i v_{\pi(i)}} .

The sum over permutations is that of normal labels v at fitted values u, up to terms that no
permutation changes, so that the same sums serve: exact for small groups, by a chain at several
temperatures for others.
"""

from dataclasses import replace

import numpy as np

from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...inference.predictive import GroupDensities, group_log_densities
from ...kernels.types import FloatArray
from .data import GlmData


def family_densities(
    data: GlmData,
    family: LabelFamily,
    eta: FloatArray,
    precision: float,
    *,
    seed: int,
    workers: Workers,
) -> GroupDensities:
    """Log densities of the labels of each group at (arranged) linear predictors."""
    found, n = family.interaction(eta, precision), data.n_movable
    pinned = family.log_density(data.y[n:], eta[n:], precision)
    if n == 0:
        return GroupDensities(np.empty(0), pinned, 0.0, 1)
    rows, labels = family.row_terms(eta, precision), family.label_terms(data.y, precision)
    u, v = found.weight * found.values, family.statistic(data.y)
    # Centred inside groups and of like size, so that sums of squares do not drown the products.
    u_mean, v_mean = (_block_means(data, values) for values in (u, v))
    u_off, v_off = u[:n] - u_mean, v[:n] - v_mean
    size = (float(u_off @ u_off) / max(float(v_off @ v_off), 1e-300)) ** 0.25 or 1.0
    problem = replace(data.problem, y=np.append(size * v_off, v[n:]))
    normal = group_log_densities(
        problem, np.append(u_off / size, u[n:]), 1.0, seed=seed, workers=workers
    )
    # What the normal density has beyond the products, and what the family has.
    beyond = -0.5 * np.log(2.0 * np.pi) - 0.5 * ((size * v_off) ** 2 + (u_off / size) ** 2)
    own = rows.a[:n] + labels.b[:n] + u_mean * v_mean - beyond
    blocks = normal.blocks + np.add.reduceat(own, data.problem.starts[:-1])
    return replace(normal, blocks=blocks, pinned=pinned)


def _block_means(data: GlmData, values: FloatArray) -> FloatArray:
    """Mean of each movable row's group."""
    starts, sizes = data.problem.starts, np.diff(data.problem.starts)
    sums = np.add.reduceat(values[: data.n_movable], starts[:-1])
    mean: FloatArray = np.repeat(sums / sizes, sizes)
    return mean
