r"""Standard errors where rows and labels are in unequal numbers: Louis' formula along the chain.

Parameters are the coordinates :math:`\theta` of the coefficients, :math:`\log s`, and the logit of
the share :math:`\pi` of rows that have a label with the logarithm of the expected number
:math:`\lambda` of strangers per row. With K of R rows holding a label the score of a partial
matching is

.. math::

    \left( \frac{Z^\top (v - \mu)}{s^2},\; \frac{\|v - \mu\|^2}{s^2} - K,\;
    K - R \pi,\; L - K - R \lambda \right),

where rows without a label have residual zero, and the information of the complete data is that of
:math:`Z^\top P Z / s^2`, :math:`2 E K`, :math:`R \pi (1 - \pi)` and :math:`R \lambda`. The
density of labels of nobody is taken as given.
"""

from typing import NamedTuple

import numpy as np

from ..alignment.partial import PartialChain, gains, shares_of
from ..alignment.state import State
from ..kernels.types import FloatArray, IntArray
from .partial import PartialTable
from .scores import INFORMATION

FEWEST_UNCERTAIN = 0.5  # expected rows or labels of a kind; with fewer its share is not estimated


class PartialSnapshots(NamedTuple):
    """What the chain showed at the fitted values.

    Attributes
    ----------
    label_of : array of shape (n_snapshots, n_rows)
        Label that each row held, or -1.
    missing : array of shape (p + 2, p + 2)
        Covariance of the statistics behind the score: coordinates, noise, rows that hold a label.
    holds, held : arrays of shape (n_rows,)
    is_held : array of shape (n_labels,)
        Averages over the whole walk.
    """

    label_of: IntArray
    missing: FloatArray
    holds: FloatArray
    held: FloatArray
    is_held: FloatArray


class PartialCovariance(NamedTuple):
    """Covariance of the estimates.

    Attributes
    ----------
    theta : array of shape (p, p)
    log_noise, logit_share : float
        Variances; nan where the share was not estimated.
    fraction_kept, inflation : float
        As in `em.information.Covariance`.
    """

    theta: FloatArray
    log_noise: float
    logit_share: float
    fraction_kept: float
    inflation: float


def walk(
    table: PartialTable, state: State, chain: PartialChain, n_snapshots: int, first_stream: int
) -> PartialSnapshots:
    """Continue the chain at `state`, one run for each snapshot."""
    problem, noise = table.problem, state.noise_scale
    rows, p = problem.n_open_rows, table.Z.shape[1]
    kept = np.empty((n_snapshots, problem.n_rows), dtype=np.int64)
    sums = [np.zeros(problem.n_rows), np.zeros(problem.n_rows), np.zeros(problem.n_labels)]
    total = np.zeros((problem.n_groups, p + 2))
    products = np.zeros((p + 2, p + 2))
    gain = gains(problem, state)
    for k in range(n_snapshots):
        found = chain(state, first_stream + k, gain)
        state = state._replace(perm=found.label_of)
        kept[k] = found.label_of
        for k_sum, more in enumerate((found.holds, found.held, found.is_held)):
            sums[k_sum] += more
        label_of = found.label_of[:rows]
        holds = label_of >= 0
        residual = np.where(holds, problem.y[label_of] - state.fitted[:rows], 0.0) / noise
        terms = np.empty((rows, p + 2))
        np.multiply(table.Z[:rows], residual[:, None] / noise, out=terms[:, :p])
        terms[:, p] = residual**2 - holds
        terms[:, p + 1] = holds
        scores = np.add.reduceat(terms, problem.row_starts[:-1], axis=0)
        total += scores
        products += scores.T @ scores
    means = total / n_snapshots
    missing = (products - n_snapshots * means.T @ means) / max(n_snapshots - 1, 1)
    return PartialSnapshots(kept, missing, *(one / n_snapshots for one in sums))


def partial_covariance(
    table: PartialTable, state: State, found: PartialSnapshots, *, estimated: bool
) -> PartialCovariance:
    """Invert the observed information; `estimated` says whether the share of pairs was."""
    problem, noise, p = table.problem, state.noise_scale, table.Z.shape[1]
    rows, share = problem.n_open_rows, 1.0 - state.mismatch_rate
    strangers = shares_of(problem, share).strangers
    complete = np.zeros((p + 4, p + 4))
    complete[:p, :p] = table.information(found.holds) / noise**2
    complete[p, p] = 2.0 * float(found.holds.sum())
    complete[p + 1, p + 1] = rows * share * (1.0 - share)
    complete[p + 2, p + 2] = rows * strangers
    lead = np.zeros((p + 4, p + 2))  # from statistics to scores
    lead[: p + 2, : p + 2] = np.eye(p + 2)
    lead[p + 2, p + 1] = -1.0
    used = list(range(p + 1))
    if estimated and rows * (1.0 - share) > FEWEST_UNCERTAIN:
        used.append(p + 1)
    if estimated and rows * strangers > FEWEST_UNCERTAIN:
        used.append(p + 2)
    observed = lead @ found.missing @ lead.T
    complete, observed = complete[np.ix_(used, used)], observed[np.ix_(used, used)]
    root = np.linalg.cholesky(complete)
    whitened = np.linalg.solve(root, np.linalg.solve(root, observed).T)
    values, axes = np.linalg.eigh(np.eye(len(used)) - 0.5 * (whitened + whitened.T))
    lead_back = np.linalg.solve(root.T, axes)
    inverse = (lead_back / np.maximum(values, INFORMATION.smallest_fraction)) @ lead_back.T
    # Rows that hardly hold a label can leave a direction without any information.
    known = np.linalg.pinv(complete[:p, :p], hermitian=True)
    inflation = float(np.sqrt(np.trace(inverse[:p, :p]) / np.trace(known)))
    at = used.index(p + 1) if p + 1 in used else -1
    return PartialCovariance(
        inverse[:p, :p],
        float(inverse[p, p]),
        float(inverse[at, at]) if at >= 0 else float("nan"),
        float(values.min()),
        inflation,
    )
