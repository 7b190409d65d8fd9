"""Real tables with labels out of place.

A case is a table whose labels are permuted in a share of its rows, or shuffled inside groups of
eight.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from unshuffle.datasets.simulated import shuffle_inside

SHARES = (0.0, 0.1, 0.3)
RANDOM, SORTED = "random", "by the first feature"
GROUP_SIZE = 8


class Case(NamedTuple):
    """Features, labels as given and in their own order, and groups where labels stay in some."""

    X: np.ndarray
    given: np.ndarray
    ordered: np.ndarray
    groups: np.ndarray | None
    about: dict


def stream(*words):
    """A random stream named by words: the same in every process and version of Python."""
    digest = hashlib.sha256("/".join(map(str, words)).encode()).digest()
    return np.random.RandomState(np.frombuffer(digest[:16], dtype="<u4"))


def permute(rng, n_rows, share):
    """Where each label comes from: a random subset of the rows has its labels permuted."""
    source = np.arange(n_rows)
    rows = rng.choice(n_rows, size=round(share * n_rows), replace=False)
    source[rows] = rng.permutation(rows)
    return source


def mostly_right(table, share):
    """The table with a share of its labels permuted."""
    source = permute(stream(table.name, share), len(table.y), share)
    about = {"part": "mostly-right", "share": share, "case": f"{100 * share:.0f} % permuted"}
    return Case(table.X, table.y[source], table.y, None, about)


def grouped(table, kind):
    """The table with its labels shuffled inside groups of eight; rows that fill no group are out."""
    rng = stream(table.name, kind)
    n_rows = len(table.y)
    order = np.argsort(table.X[:, 0], kind="stable") if kind == SORTED else rng.permutation(n_rows)
    order = order[: n_rows // GROUP_SIZE * GROUP_SIZE]
    groups = np.arange(len(order)) // GROUP_SIZE
    X, y = table.X[order], table.y[order]
    about = {"part": "groups", "groups": kind, "case": f"groups of {GROUP_SIZE}, {kind}"}
    return Case(X, y[shuffle_inside(rng, groups)], y, groups, about)


PARTS = {
    "mostly-right": lambda table: [mostly_right(table, share) for share in SHARES],
    "groups": lambda table: [grouped(table, kind) for kind in (RANDOM, SORTED)],
}
