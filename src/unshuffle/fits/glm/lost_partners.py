"""Whose labels rows may hold, where the order inside groups is lost.

Yes/no labels that are equal cannot be told apart: a row has its own kind of label, or one of the
other kind, each of these with the same probability. For others a chain runs at the fitted
parameters, and counts which labels a row holds.
"""

import numpy as np

from ...alignment.hard import most_likely_permutation
from ...alignment.sampled import NOBODY
from ...alignment.sweeps import Sweeps
from ...data.threads import Workers
from ...families.bernoulli import BERNOULLI
from ...families.exponential import LabelFamily
from ...inference.sampling_settings import PARTNERS, PartnerSettings
from ...kernels.streams import FIRST_PARTNERS
from ...kernels.swap import Schedule
from ...kernels.types import FloatArray, IntArray
from .data import GlmData
from .results import FamilyFit

NO_COSTS = np.empty(0)


def partners_where_lost(
    data: GlmData,
    family: LabelFamily,
    fit: FamilyFit,
    rows: IntArray,
    n_partners: int,
    seed: int,
) -> tuple[IntArray, FloatArray]:
    """Other rows whose labels these rows most likely hold, and how probable that is.

    Both of shape (len(rows), n_partners), in the user's numbers; -1 and nan where there are fewer,
    or nothing was fitted.
    """
    found = np.full((len(rows), n_partners), -1, dtype=np.int64)
    proba = np.full(found.shape, np.nan)
    problem = data.problem
    arranged = problem.arranged_rows(rows)
    movable = np.flatnonzero(arranged < data.n_movable)
    if fit.expected_labels is None or n_partners == 0 or len(movable) == 0:
        return found, proba
    inside = arranged[movable]
    if family is BERNOULLI:
        held = _of_the_other_kind(data, fit, inside, n_partners)
    else:
        held = _counted(data, family, fit, inside, seed)
    for k, (labels, share) in zip(movable, held, strict=True):
        n = min(n_partners, len(labels))
        found[k, :n], proba[k, :n] = problem.user_rows(labels[:n]), share[:n]
    return found, proba


def _of_the_other_kind(
    data: GlmData, fit: FamilyFit, rows: IntArray, n_partners: int
) -> list[tuple[IntArray, FloatArray]]:
    assert fit.expected_labels is not None
    starts, y = data.problem.starts, data.y
    ones = data.problem.arrange(fit.expected_labels)
    held = []
    for row in rows:
        block = int(np.searchsorted(starts, row, side="right")) - 1
        first, last = int(starts[block]), int(starts[block + 1])
        others = first + np.flatnonzero(y[first:last] != y[row])
        of_other = float(ones[row] if y[row] == 0.0 else 1.0 - ones[row])
        share = np.full(min(n_partners, len(others)), of_other / max(len(others), 1))
        held.append((others, share))
    return held


def _counted(
    data: GlmData,
    family: LabelFamily,
    fit: FamilyFit,
    rows: IntArray,
    seed: int,
    settings: PartnerSettings = PARTNERS,
) -> list[tuple[IntArray, FloatArray]]:
    """Labels of other rows, the most probable first, from snapshots of a chain."""
    problem = data.problem
    eta = problem.arrange(fit.linear_predictor)
    steps = max(settings.sweeps * data.n_movable, settings.fewest_proposals)
    sweeps = Sweeps(problem, Schedule(steps, 0, 1), seed, Workers(1))
    drawn = family.simulate(eta, fit.precision, np.random.default_rng(seed))
    perm = most_likely_permutation(problem, drawn)  # nearly a draw
    interaction = family.interaction(eta, fit.precision)
    n_first = settings.snapshots // 10  # until it is one
    seen = np.empty((settings.snapshots, len(rows)), dtype=np.int64)
    for k in range(-n_first, settings.snapshots):
        number = FIRST_PARTNERS + n_first + k
        sweeps.run(interaction, data.y, perm, number, NO_COSTS, NOBODY)
        if k >= 0:
            seen[k] = perm[rows]
    held = []
    for row, column in zip(rows, seen.T, strict=True):
        labels, counts = np.unique(column[column != row], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        held.append((labels[order], counts[order] / settings.snapshots))
    return held
