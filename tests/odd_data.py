"""Tables that nobody would make on purpose: odd types, shapes, sizes and values, from a seed."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl

SIZES = (3, 6, 9, 12, 12, 20, 20, 30, 40)
UNITS = (1e-300, 1e-160, 1e-154, 1e-60, 1e-49, 1e-8, 1e8, 1e49, 1e60, 1e154, 1e300)
TYPES = ("f2", "f4", "i1", "u1", "i8", "?", "c16", "O", "U", "longdouble", "M8[s]", "m8[s]")


def pick(rng, values):
    """One of `values`, as it is."""
    return values[int(rng.integers(len(values)))]


def perhaps(rng, share, change, value):
    """`value`, changed with probability `share`."""
    return change(rng, value) if rng.random() < share else value


def table(rng):
    """Features, labels, and what else `fit` takes."""
    n, d = pick(rng, SIZES), int(rng.integers(0, 4)) or 1
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + pick(rng, (0.0, 0.0, 0.1, 1.0)) * rng.normal(size=n)
    X, y = perhaps(rng, 0.3, odd_columns, X), perhaps(rng, 0.3, odd_labels, y)
    groups = pick(rng, perhaps(rng, 0.04, lambda _, __: WRONG_GROUPS, GROUPS))(rng, n)
    known = pick(rng, perhaps(rng, 0.04, lambda _, __: WRONG_KNOWN, KNOWN))(rng, n)
    match_prob = pick(rng, perhaps(rng, 0.04, lambda _, __: WRONG_MATCHES, MATCHES))(rng, n)
    if rng.random() < 0.4:  # otherwise the fit is of ordinary values
        X, y = perhaps(rng, 0.4, odd_values, X), perhaps(rng, 0.4, odd_values, y)
        X, y = perhaps(rng, 0.2, odd_shape, X), perhaps(rng, 0.2, odd_shape, y)
    X, y = perhaps(rng, 0.2, odd_container, X), perhaps(rng, 0.2, odd_container, y)
    return {"X": X, "y": y, "groups": groups, "known": known, "match_prob": match_prob}


def odd_columns(rng, X):
    """Columns that are constant, repeated, tied, nearly constant or far from zero."""
    X, j = X.copy(), int(rng.integers(X.shape[1]))
    kind = int(rng.integers(8))
    if kind == 0:
        X[:, j] = 3.0
    elif kind == 1:
        X[:, j] = X[:, 0]
    elif kind == 2:
        X = np.round(X)
    elif kind == 3:
        X[:, j] = 1.0 + 1e-15 * X[:, j]
    elif kind == 4:
        X[:, j] = X[:, j] > 0.0
    elif kind == 5:
        X += 1e9
    elif kind == 6:
        X[0, j] = 1e12
    else:
        X = np.zeros_like(X)
    return X


def odd_labels(rng, y):
    """Labels that are tied, constant, far from zero, or with one far off."""
    kind = int(rng.integers(6))
    if kind == 0:
        return np.round(y)
    if kind == 1:
        return np.full(len(y), 2.5)
    if kind == 2:
        return y + 1e9
    if kind == 3:
        return np.where(np.arange(len(y)) == 1, 1e20, y)
    if kind == 4:
        return (y > 0.0).astype(float)
    return np.zeros(len(y))


def odd_values(rng, values):
    """Another unit, another type, or values that are no finite numbers."""
    kind = int(rng.integers(3))
    if kind == 0:
        with np.errstate(all="ignore"):
            return values * pick(rng, UNITS)
    if kind == 1:
        dtype = pick(rng, TYPES)
        whole = np.clip(values * 10.0, -9.0, 9.0)
        with np.errstate(all="ignore"):
            return (np.abs(whole) if dtype == "u1" else whole).astype(
                "i8" if dtype[0] in "mM" else "f8"
            ).astype(dtype)  # fmt: skip
    objects = values.astype(object)
    objects.flat[int(rng.integers(values.size))] = pick(rng, (
        np.nan, np.inf, -np.inf, None, pd.NA, pd.NaT, "x", "1.5", Decimal("NaN"), Decimal("1.5"),
        Fraction(1, 3), 10**400, 1j, True, -0.0, 5e-324, datetime.date(2020, 1, 1),
        np.datetime64("NaT"), np.ma.masked, [1.0], object(),
    ))  # fmt: skip
    return objects


def odd_shape(rng, values):
    """Too short, too long, flat, deep or empty."""
    kind = int(rng.integers(7))
    shapes = (
        values[:-1], values[:0], values.ravel(), values[None], values[..., None],
        np.concatenate([values, values]), values[0],
    )  # fmt: skip
    return shapes[kind]


def odd_container(rng, values):
    """The same values in something else than a plain array."""
    return pick(rng, CONTAINERS)(rng, values)


def masked(rng, values):
    """An array with a mask, which may hide nothing."""
    return np.ma.masked_array(values, rng.random(np.shape(values)) < pick(rng, (0.0, 0.1)))


def read_only(rng, values):
    """An array that cannot be written to."""
    frozen = np.array(values)
    frozen.flags.writeable = False
    return frozen


def in_pandas(rng, values):
    """A frame or a series, where that is possible."""
    if np.ndim(values) not in (1, 2):
        return values
    frame = pd.DataFrame(np.asarray(values))
    return frame.add_prefix("x") if np.ndim(values) == 2 else frame[0]


def in_polars(rng, values):
    """A frame of numbers, where that is possible."""
    if np.ndim(values) != 2 or np.asarray(values).dtype.kind not in "fi":
        return values
    return pl.DataFrame(np.asarray(values, dtype=float), orient="row")


def _inferred(values):
    """A column of the type that pandas finds; objects where a number is too large for any."""
    try:
        return pd.Series(values).infer_objects()
    except OverflowError:
        return pd.Series(values, dtype=object)


def as_frame(rng, made):
    """Features a, b, ..., labels y and groups g as columns of one pandas frame, as they come."""
    X = np.atleast_2d(np.asarray(made["X"], dtype=object))
    columns = {chr(97 + j): _inferred(X[:, j]) for j in range(X.shape[1])}
    columns["y"] = _inferred(np.ravel(np.asarray(made["y"], dtype=object)))
    if made["groups"] is not None:
        columns["g"] = pd.Series(list(made["groups"]))
    return pd.DataFrame(columns)


CONTAINERS = (
    lambda rng, values: np.asarray(values).tolist(),
    lambda rng, values: np.asfortranarray(values),
    lambda rng, values: np.flip(values),
    masked,
    read_only,
    in_pandas,
    in_polars,
)
GROUPS = (
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: np.arange(n) // 3,
    lambda rng, n: np.arange(n) // 2,
    lambda rng, n: rng.integers(0, 4, size=n),
    lambda rng, n: [f"g{k}" for k in rng.integers(0, 3, size=n)],
    lambda rng, n: np.arange(n),
    lambda rng, n: [pick(rng, ("a", 1, 1.5, True, (1, "b"), Decimal(2))) for _ in range(n)],
    lambda rng, n: pd.Categorical(rng.integers(0, 2, size=n)),
)
WRONG_GROUPS = (
    lambda rng, n: [pick(rng, ("a", None, float("nan"), pd.NaT, (1, float("nan")))) for _ in range(n)],
    lambda rng, n: np.zeros(n + 1),
    lambda rng, n: np.zeros((n, 2)),
    lambda rng, n: "g",
    lambda rng, n: [[1]] * n,
)  # fmt: skip
KNOWN = (
    *[lambda rng, n: None] * 4,
    lambda rng, n: rng.random(n) < 0.3,
    lambda rng, n: np.ones(n, dtype=bool),
    lambda rng, n: [True] * (n - 1) + [False],
)
WRONG_KNOWN = (
    lambda rng, n: rng.integers(0, 2, size=n),
    lambda rng, n: np.zeros(n + 1, dtype=bool),
    lambda rng, n: np.ma.masked_array(np.ones(n, dtype=bool), np.arange(n) == 0),
)
MATCHES = (
    *[lambda rng, n: None] * 6,
    lambda rng, n: rng.random(n),
    lambda rng, n: np.ones(n),
    lambda rng, n: np.zeros(n),
    lambda rng, n: np.full(n, 1e-300),
)
WRONG_MATCHES = (
    lambda rng, n: np.full(n, np.nan),
    lambda rng, n: np.full(n, 1.5),
)
