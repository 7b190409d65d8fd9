"""Data of the recorded fits: arguments of ``fit``, from fixed seeds.

They are simulated here and not by `unshuffle.datasets`, so that a change there cannot change them.
"""

from functools import cache

import numpy as np


def _linear(rng, n, d, noise):
    X = rng.normal(size=(n, d))
    coef = np.linspace(-1.0, 2.0, d) + 0.1
    return X, 0.7 + X @ coef + noise * rng.normal(size=n)


def _inside(rng, groups):
    """Indices of labels after a random permutation inside groups."""
    by_group = np.argsort(groups, kind="stable")
    source = np.empty(len(groups), dtype=np.int64)
    source[by_group] = np.lexsort((rng.random(len(groups)), groups))
    return source


def _by_rank(key, n_groups):
    return np.argsort(np.argsort(key, kind="stable"), kind="stable") * n_groups // len(key)


@cache
def groups(n=400, d=4, n_groups=40, noise=0.3, seed=0, with_known=False):
    """Labels permuted inside random groups of unequal sizes, rows in random order.

    With known rows, every fifth keeps its label.
    """
    rng = np.random.default_rng(seed)
    X, y = _linear(rng, n, d, noise)
    codes = rng.integers(n_groups, size=n)
    if not with_known:
        return {"X": X, "y": y[_inside(rng, codes)], "groups": codes}
    known = np.arange(n) % 5 == 0
    source = _inside(rng, np.where(known, n_groups + np.arange(n), codes))
    return {"X": X, "y": y[source], "groups": codes, "known": known}


@cache
def zones(n=400, d=4, n_groups=4, noise=0.3, seed=1, by_label=False):
    """Labels permuted inside groups of equal size, cut by the first feature or by the labels."""
    rng = np.random.default_rng(seed)
    X, y = _linear(rng, n, d, noise)
    codes = _by_rank(y if by_label else X[:, 0], n_groups)
    return {"X": X, "y": y[_inside(rng, codes)], "groups": codes}


@cache
def full(n=300, d=2, noise=0.1, seed=2):
    """All labels permuted."""
    rng = np.random.default_rng(seed)
    X, y = _linear(rng, n, d, noise)
    return {"X": X, "y": rng.permutation(y)}


@cache
def swapped(n=500, d=4, noise=0.5, fraction=0.2, seed=3, group_size=None):
    """A random fraction of the labels permuted among themselves, inside groups if there are any."""
    rng = np.random.default_rng(seed)
    X, y = _linear(rng, n, d, noise)
    rows = np.sort(rng.choice(n, size=round(fraction * n), replace=False))
    codes = np.arange(n) // (group_size or n)
    y[rows] = y[rows[_inside(rng, codes[rows])]]
    return {"X": X, "y": y} | ({"groups": codes} if group_size else {})


def swapped_in_groups():
    return swapped(group_size=25)


def ordered():
    """The same labels in the right order."""
    return swapped(fraction=0.0)


@cache
def shifted(n=300, d=3, noise=0.4, width=3, seed=4):
    """Labels permuted inside runs of `width` neighbouring rows."""
    rng = np.random.default_rng(seed)
    X, y = _linear(rng, n, d, noise)
    return {"X": X, "y": y[_inside(rng, np.arange(n) // width)]}


def small_groups():
    """Groups small enough to enumerate their permutations."""
    return swapped(n=120, d=2, fraction=0.3, seed=5, group_size=5)


def dependent(of=groups):
    """A column that is the sum of two others, and a constant column."""
    made = dict(of())
    X = made["X"]
    return made | {"X": np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)])}


def swapped_known(of=swapped):
    """Every fifth row is known to hold its own label, which the permuted labels leave out."""
    made, right = of(), ordered()["y"]
    known = np.arange(len(right)) % 5 == 0
    return made | {"known": known & (made["y"] == right)}


def many_known():
    """Half of the rows known, all other labels permuted."""
    rng = np.random.default_rng(6)
    X, y = _linear(rng, 200, 8, 2.0)
    known = np.arange(200) < 100
    y[~known] = rng.permutation(y[~known])
    return {"X": X, "y": y, "known": known}


def many_means():
    """Group means that differ much, and large groups."""
    rng = np.random.default_rng(7)
    codes = np.repeat(np.arange(60), 20)
    X = rng.normal(size=(1200, 12)) + 2.0 * rng.normal(size=(60, 12))[codes]
    y = X @ np.linspace(-1.0, 1.0, 12) + 3.0 * rng.normal(size=1200)
    return {"X": X, "y": y[_inside(rng, codes)], "groups": codes}


def linked(of=swapped):
    """Probabilities of right links, as a linkage tool gives them."""
    made, rng = of(), np.random.default_rng(8)
    return made | {"match_prob": rng.uniform(0.55, 0.99, size=len(made["y"]))}


def singles():
    """Every group holds one row."""
    return ordered() | {"groups": np.arange(500)}


def frame(of=groups):
    """A pandas data frame with names, and groups that are text."""
    import pandas as pd

    made = dict(of())
    X = pd.DataFrame(made["X"], columns=list("abcdefgh")[: made["X"].shape[1]])
    made |= {"X": X, "y": pd.Series(made["y"], name="price")}
    if "groups" in made:
        made["groups"] = pd.Series([f"zone {code}" for code in made["groups"]])
    return made


def single_precision(of=groups):
    made = of()
    return made | {"X": made["X"].astype(np.float32)}


def counts():
    """Whole numbers with many ties."""
    made = groups()
    return made | {"X": np.rint(2 * made["X"]).astype(int), "y": np.rint(made["y"]).astype(int)}


@cache
def boston(label="MEDV", by="INDUS", n_zones=4, seed=9):
    """Boston housing, labels permuted inside zones of a column."""
    from unshuffle.datasets import load_boston

    table = load_boston()
    y = table.column(label)
    codes = _by_rank(table.column(by), n_zones)
    shuffled = y[_inside(np.random.default_rng(seed), codes)]
    return {"X": table.without(label), "y": shuffled, "groups": codes}


def two_tables(of=groups):
    """Rows and labels in separate orders, with the group of each."""
    made, rng = of(), np.random.default_rng(10)
    order = rng.permutation(len(made["y"]))
    tables = {"X": made["X"], "y": made["y"][order]}
    if "groups" in made:
        tables |= {"groups_X": made["groups"], "groups_y": made["groups"][order]}
    return tables


def large():
    """Enough rows and groups for the sample of groups and Newton's steps."""
    return groups(n=220_000, d=3, n_groups=1500, noise=0.5, seed=11)
