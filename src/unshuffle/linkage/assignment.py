"""One-to-one links from candidate pairs: an assignment inside connected components.

The links maximise the sum of their probabilities, which is the expected number of right links. No
matrix of all pairs is made. Pairs that are at least as probable as the best other pairs of their
two records together belong to a best assignment, so they are taken first; what is left falls into
small components.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from ..kernels.types import BoolArray, FloatArray, IntArray
from .settings import LINKAGE, LinkageSettings


@dataclass(frozen=True, eq=False)
class Assignment:
    """Links chosen among candidate pairs.

    Attributes
    ----------
    chosen : array of int
        Numbers of the pairs that are links, ascending.
    tied : array of bool, as long as `chosen`
        Whether another pair of one of the two records is as probable.
    n_components : int
        Components of the graph of candidate pairs.
    largest : int
        Records of the largest one.
    n_greedy : int
        Links in components too large for the best assignment, which were taken greedily.
    """

    chosen: IntArray
    tied: BoolArray
    n_components: int
    largest: int
    n_greedy: int


def assign(
    left: IntArray, right: IntArray, value: FloatArray, settings: LinkageSettings = LINKAGE
) -> Assignment:
    """Choose links.

    Parameters
    ----------
    left, right : arrays of shape (n_pairs,)
        Numbers of the records of each pair; no pair stands twice.
    value : array of shape (n_pairs,)
        What a link is worth, positive: its probability.
    """
    n_components, largest = _components(left, right)[1:]
    certain = take_certain(left, right, value)
    rest = np.flatnonzero(_free(left, right, certain))
    parts, n_greedy = [certain], 0
    for pairs in _component_pairs(left[rest], right[rest]):
        found, greedy = _solve(left, right, value, rest[pairs], settings)
        parts.append(found)
        n_greedy += len(found) if greedy else 0
    chosen = np.sort(np.concatenate(parts))
    tied = _tied(left, value, chosen) | _tied(right, value, chosen)
    return Assignment(chosen, tied, n_components, largest, n_greedy)


def take_certain(left: IntArray, right: IntArray, value: FloatArray) -> IntArray:
    """Pairs worth at least the best others of both of their records: some best answer has them."""
    found: list[IntArray] = []
    rest: IntArray = np.arange(len(value))
    while len(rest):
        i, j, v = left[rest], right[rest], value[rest]
        sure = np.flatnonzero(v >= _best_other(i, v) + _best_other(j, v))
        sure = sure[np.sort(np.unique(i[sure], return_index=True)[1])]
        sure = sure[np.sort(np.unique(j[sure], return_index=True)[1])]
        if not len(sure):
            break
        found.append(rest[sure])
        rest = rest[_free(i, j, sure)]
    return np.concatenate([*found, np.empty(0, dtype=np.int64)]).astype(np.int64)


def take_greedily(left: IntArray, right: IntArray, value: FloatArray) -> IntArray:
    """Pairs in the order of their worth, each if both records are still free."""
    order = np.argsort(-value, kind="stable")
    used_left, used_right = np.zeros((2, max(left.max(), right.max()) + 1), dtype=bool)
    chosen = []
    for k in order.tolist():
        if not used_left[left[k]] and not used_right[right[k]]:
            used_left[left[k]] = used_right[right[k]] = True
            chosen.append(k)
    return np.array(chosen, dtype=np.int64)


def _best_other(record: IntArray, value: FloatArray) -> FloatArray:
    """For each pair the worth of the best other pair of its record; zero where there is none."""
    order = np.lexsort((-value, record))
    sorted_record, sorted_value = record[order], value[order]
    first = np.append(True, sorted_record[1:] != sorted_record[:-1])
    group = np.cumsum(first) - 1
    best = sorted_value[first]
    starts = np.flatnonzero(first)
    has_second = np.append(np.diff(starts), len(order) - starts[-1]) > 1
    second = np.zeros(len(best))
    second[has_second] = sorted_value[starts[has_second] + 1]
    other = np.empty(len(value))
    other[order] = np.where(first, second[group], best[group])
    return other


def _free(left: IntArray, right: IntArray, taken: IntArray) -> BoolArray:
    """Pairs none of whose records is in a pair that was taken."""
    used_left = np.zeros(left.max(initial=-1) + 1, dtype=bool)
    used_right = np.zeros(right.max(initial=-1) + 1, dtype=bool)
    used_left[left[taken]] = True
    used_right[right[taken]] = True
    free: BoolArray = ~(used_left[left] | used_right[right])
    return free


def _components(left: IntArray, right: IntArray) -> tuple[IntArray, int, int]:
    """Component of each pair, their number, and the records of the largest."""
    if not len(left):
        return np.empty(0, dtype=np.int64), 0, 0
    rows, i = np.unique(left, return_inverse=True)
    columns, j = np.unique(right, return_inverse=True)
    size = len(rows) + len(columns)
    graph = coo_array((np.ones(len(i), dtype=bool), (i, j + len(rows))), shape=(size, size))
    number, labels = connected_components(graph.tocsr(), directed=False)
    return labels[i], int(number), int(np.bincount(labels).max())


def _component_pairs(left: IntArray, right: IntArray) -> list[IntArray]:
    """Numbers of the pairs of each component."""
    labels = _components(left, right)[0]
    if not len(labels):
        return []
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _solve(
    left: IntArray, right: IntArray, value: FloatArray, pairs: IntArray, settings: LinkageSettings
) -> tuple[IntArray, bool]:
    """Links of one component, and whether they were taken greedily."""
    rows, i = np.unique(left[pairs], return_inverse=True)
    columns, j = np.unique(right[pairs], return_inverse=True)
    n, m = len(rows), len(columns)
    if n * m <= settings.dense_cells:
        worth, number = np.zeros((n, m)), np.full((n, m), -1)
        worth[i, j], number[i, j] = value[pairs], np.arange(len(pairs))
        found = number[linear_sum_assignment(worth, maximize=True)]
        return pairs[found[found >= 0]], False
    if min(n, m) > settings.largest_exact:
        return pairs[take_greedily(i, j, value[pairs])], True
    if n > m:
        n, m, i, j = m, n, j, i
    # Each record of the smaller side may also stay alone, which is worth nothing. Costs are
    # positive: a cost of zero would count as no pair.
    top = 2.0 * float(value[pairs].max())
    costs = np.append(top - value[pairs], np.full(n, top))
    places = (np.append(i, np.arange(n)), np.append(j, m + np.arange(n)))
    matched = min_weight_full_bipartite_matching(csr_array((costs, places), shape=(n, m + n)))
    partner = np.empty(n, dtype=np.int64)
    partner[matched[0]] = matched[1]
    return pairs[np.flatnonzero(partner[i] == j)], False


def _tied(record: IntArray, value: FloatArray, chosen: IntArray) -> BoolArray:
    """Whether a record of a link has another pair that is worth the same."""
    order = np.lexsort((value, record))
    same = (np.diff(record[order]) == 0) & (np.diff(value[order]) == 0.0)
    tied = np.zeros(len(value), dtype=bool)
    tied[order[1:][same]] = True
    tied[order[:-1][same]] = True
    return tied[chosen]
