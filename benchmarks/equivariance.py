"""What a change of units, zero, order or names changes: estimators x alignments x transforms.

A fit to transformed data is brought back into the units of the original data. The table shows the
largest change of a coefficient in standard errors, and whether the verdict is the same. Fits
without standard errors take those of least squares with known order.

The order of rows is listed, but not promised where random numbers are drawn: they are drawn by the
number of a row, so that another order of the rows is another seed.
"""

import sys
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unshuffle import HardEMRegressor, MixtureRegressor, ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression

SEED = {"random_state": 0}
ESTIMATE = {"mismatch_rate": "estimate", **SEED}


class Data(NamedTuple):
    """Rows, labels and groups, and how coefficients lead back to the original units."""

    X: np.ndarray
    y: np.ndarray
    groups: Any
    columns: np.ndarray  # the original columns, at their places of now
    units: np.ndarray  # multiplied by it, a coefficient is in the original units


@dataclass(frozen=True)
class Case:
    """An estimator on data; `draws` says whether random numbers are drawn by row."""

    kind: Any
    parameters: dict
    shuffle: dict
    n: int = 200
    d: int = 3
    noise: float = 0.4
    draws: bool = True
    grouped: bool = True

    def data(self):
        """The original data."""
        made = make_shuffled_regression(
            self.n, self.d, noise=self.noise, random_state=5, **self.shuffle
        )
        groups = made.groups if self.grouped else None
        return Data(made.X, made.y, groups, np.arange(self.d), np.ones(self.d))

    def fit(self, data):
        """A fit, with warnings left to the verdict."""
        model = self.kind(**self.parameters)
        more = {} if data.groups is None else {"groups": data.groups}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            return model.fit(data.X, data.y, **more)


GROUPS = {"shuffle": "groups", "n_groups": 20}
PAIRS = {"shuffle": "groups", "n_groups": 40}
FEW, MANY = ({"shuffle": "fraction", "fraction": share} for share in (0.15, 0.45))
FULL = {"shuffle": "full"}

CASES = {
    "default, groups": Case(ShuffledRegressor, SEED, GROUPS),
    "mixture noise, groups": Case(ShuffledRegressor, {"noise": "mixture", **SEED}, GROUPS),
    "t noise, groups": Case(ShuffledRegressor, {"noise": "t", **SEED}, GROUPS),
    "default, fully shuffled": Case(ShuffledRegressor, SEED, FULL, d=2, noise=0.1),
    "default, unrecoverable": Case(ShuffledRegressor, SEED, FULL, n=60, noise=1.0),
    "default, 15 % mismatches": Case(ShuffledRegressor, SEED, FEW),
    "default, 45 % mismatches": Case(ShuffledRegressor, SEED, MANY),
    "default, order kept": Case(ShuffledRegressor, SEED, {"shuffle": "fraction", "fraction": 0.0}),
    "chain, groups": Case(StochasticEMRegressor, SEED, GROUPS),
    "chain, 15 % mismatches": Case(StochasticEMRegressor, ESTIMATE, FEW),
    "chain, 45 % mismatches": Case(StochasticEMRegressor, ESTIMATE, MANY),
    "chain, temper, ridge": Case(
        StochasticEMRegressor, {"temper": 1.5, "ridge": 0.1, **SEED}, GROUPS
    ),
    "published, groups": Case(StochasticEMRegressor, {"variant": "published", **SEED}, GROUPS),
    "sinkhorn, groups": Case(
        StochasticEMRegressor, {"alignment": "sinkhorn", **SEED}, GROUPS, draws=False
    ),
    "sinkhorn, 15 % mismatches": Case(
        StochasticEMRegressor, {"alignment": "sinkhorn", **ESTIMATE}, FEW, draws=False
    ),
    "sinkhorn, 45 % mismatches": Case(
        StochasticEMRegressor, {"alignment": "sinkhorn", **ESTIMATE}, MANY, draws=False
    ),
    "sinkhorn on a grid": Case(
        StochasticEMRegressor, {"alignment": "sinkhorn", **ESTIMATE}, FEW, n=1200, draws=False
    ),
    "exact, groups": Case(
        StochasticEMRegressor, {"alignment": "exact", **SEED}, PAIRS, draws=False
    ),
    "exact, mismatches": Case(
        StochasticEMRegressor, {"alignment": "exact", **ESTIMATE}, PAIRS, draws=False
    ),
    "hard EM, groups": Case(HardEMRegressor, {"n_init": 8, **SEED}, GROUPS),
    "mixture, normal": Case(MixtureRegressor, {}, FEW, draws=False, grouped=False),
    "mixture, t": Case(MixtureRegressor, {"noise": "t"}, FEW, draws=False, grouped=False),
    "mixture, mixture": Case(
        MixtureRegressor, {"noise": "mixture"}, FEW, draws=False, grouped=False
    ),
}


def labels_times(data, factor):
    return data._replace(y=factor * data.y, units=data.units / factor)


def labels_plus(data, shift):
    return data._replace(y=data.y + shift)


def features_times(data, factor):
    return data._replace(X=data.X * factor, units=data.units * factor)


def features_plus(data, shift):
    return data._replace(X=data.X + shift)


def columns_in(data, order):
    return data._replace(X=data.X[:, order], columns=np.argsort(order))


def rows_in(data, order):
    groups = None if data.groups is None else np.asarray(data.groups)[order]
    return data._replace(X=data.X[order], y=data.y[order], groups=groups)


def with_column(data, column):
    return data._replace(X=np.column_stack([data.X, column]))


def renamed(data):
    if data.groups is None:
        return data
    return data._replace(groups=[f"group {97 - 7 * g}" for g in data.groups])


def some_order(n):
    return np.random.default_rng(11).permutation(n)


# What must not matter at all, and what may matter where random numbers are drawn by row or column.
TRANSFORMS = {
    "y * 2^20": lambda data: labels_times(data, 2.0**20),
    "y * 1e8": lambda data: labels_times(data, 1e8),
    "y * 1e-8": lambda data: labels_times(data, 1e-8),
    "y * 1e40": lambda data: labels_times(data, 1e40),
    "y + 1e2": lambda data: labels_plus(data, 1e2),
    "y + 1e6": lambda data: labels_plus(data, 1e6),
    "X * 1e8": lambda data: features_times(data, 1e8),
    "X * 1e-8": lambda data: features_times(data, 1e-8),
    "units by column": lambda data: features_times(data, 10.0 ** np.arange(-8, 9, 8)[: len(data.units)]),
    "X + 1e3": lambda data: features_plus(data, 1e3),
    "names of groups": renamed,
    "order of columns": lambda data: columns_in(data, np.arange(len(data.units))[::-1]),
    "constant column": lambda data: with_column(data, np.full(len(data.y), 3.7)),
    "duplicated column": lambda data: with_column(data, data.X[:, 0]),
    "order of rows": lambda data: rows_in(data, some_order(len(data.y))),
}  # fmt: skip


class Change(NamedTuple):
    """Largest change of a coefficient in standard errors; whether the verdict is the same."""

    errors: float
    same_verdict: bool


def compare(case, data, model, transform):
    """Fit transformed data, and lead the coefficients back."""
    changed = transform(data)
    other = case.fit(changed)
    coef = other.coef_[changed.columns] * changed.units
    if len(other.coef_) > len(coef):  # a repeated column takes a part of the first coefficient
        coef[0] += other.coef_[-1] * np.array_equal(changed.X[:, 0], changed.X[:, -1])
    errors = standard_errors(model, data)
    same = verdict_of(model) == verdict_of(other)
    return Change(float(np.max(np.abs(coef - model.coef_) / errors)), same)


def verdict_of(model):
    """Level of the verdict, where there is one."""
    verdict = getattr(model, "verdict_", None)
    return None if verdict is None else verdict.level


def standard_errors(model, data):
    """Those of the fit, or of least squares at its noise."""
    given = getattr(model, "standard_errors_", None)
    if given is not None and np.all(np.isfinite(given)):
        return np.asarray(given)[-len(model.coef_) :]
    inner = data.X - data.X.mean(axis=0)
    return model.noise_scale_ * np.sqrt(np.diag(np.linalg.inv(inner.T @ inner)))


def run(names=None):
    """One row per case: what each transform changes."""
    table = []
    for name, case in CASES.items():
        if names and not any(word in name for word in names):
            continue
        data = case.data()
        model = case.fit(data)
        changes = {
            title: compare(case, data, model, transform) for title, transform in TRANSFORMS.items()
        }
        table.append((name, verdict_of(model), changes))
    return table


def main():
    """Print the table: one line for each case and transform that changed anything."""
    for name, verdict, changes in run(sys.argv[1:]):
        print(f"\n{name}" + (f" ({verdict})" if verdict else ""))
        for title, change in changes.items():
            note = "" if change.same_verdict else "   other verdict"
            print(f"  {title:18s} {change.errors:9.1e}{note}")


if __name__ == "__main__":
    main()
