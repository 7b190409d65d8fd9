"""What each method makes of real tables with labels out of place.

Errors are measured against least squares with the known order: nothing else is known of real data.
"""

import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, LinearRegression

from unshuffle import MixtureRegressor, ShuffledRegressor, UnidentifiableWarning

from .real_cases import GROUP_SIZE, PARTS
from .real_tables import r_squared
from .verdict_sets import radius
from .verdict_thresholds import SOUND

GIVEN, KNOWN, MEANS, OURS = "OLS as given", "OLS, known order", "group means", "ShuffledRegressor"


def fit_means(case):
    """Least squares on the means of groups, which no shuffle inside them changes."""
    X, y = (v.reshape(-1, GROUP_SIZE, *v.shape[1:]).mean(axis=1) for v in (case.X, case.given))
    return LinearRegression().fit(X, y)


def methods(case):
    """Name and fit of every method of a case."""
    found = {
        KNOWN: lambda: LinearRegression().fit(case.X, case.ordered),
        GIVEN: lambda: LinearRegression().fit(case.X, case.given),
    }
    ours = ShuffledRegressor(random_state=0)
    if case.groups is not None:
        return found | {
            MEANS: lambda: fit_means(case),
            OURS: lambda: ours.fit(case.X, case.given, groups=case.groups),
        }
    return found | {
        "Huber": lambda: HuberRegressor(max_iter=1000).fit(case.X, case.given),
        "MixtureRegressor": lambda: MixtureRegressor().fit(case.X, case.given),
        OURS: lambda: ours.fit(case.X, case.given),
    }


class Reference(NamedTuple):
    """Least squares with known order: what errors are measured against."""

    X: np.ndarray
    coef: np.ndarray
    radius: float


def reference(X, y):
    """The reference of a table, X centred; the noise is that of its residuals."""
    n_rows, n_features = X.shape
    centred = X - X.mean(axis=0)
    coef = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    left = np.linalg.norm(y - y.mean() - centred @ coef) / np.sqrt(n_rows - n_features - 1)
    return Reference(centred, coef, radius(left, n_features))


def accuracy(coef, ref):
    """Relative error, and whether it lies below twice the 95 % radius of the reference."""
    length = np.linalg.norm(ref.X @ (coef - ref.coef))
    return {
        "error": float(length / np.linalg.norm(ref.X @ ref.coef)),
        "sound": bool(length / ref.radius < SOUND),
    }


def coverage(model, coef):
    """How many slopes have an interval, and how many intervals hold the slope of known order."""
    slopes = model.conf_int()[-len(coef) :]
    there = np.isfinite(slopes).all(axis=1)
    inside = (slopes[there, 0] <= coef[there]) & (coef[there] <= slopes[there, 1])
    share = float(inside.mean()) if len(inside) else None
    return {"intervals": int(there.sum()), "covered": int(inside.sum()), "coverage": share}


def scalars(model):
    """Every public fitted attribute that is one number or word; what later versions add is in."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    values = {name: getattr(model, name) for name in names if hasattr(model, name)}
    one = bool | int | float | str | np.generic
    return {name: plain(value) for name, value in values.items() if isinstance(value, one)}


def plain(value):
    """A value that JSON can hold; numbers that are not finite become None."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def judgement(model, coef):
    """What the default estimator says of its own fit."""
    verdict = model.verdict_
    reasons = {reason.check: reason.level for reason in verdict.reasons if reason.level != "trust"}
    found = {"level": verdict.level, "reasons": reasons, **scalars(model)}
    found |= attempt(lambda: coverage(model, coef), "coverage_failed")
    return found | attempt(lambda: {"suspects": len(model.suspects())}, "suspects_failed")


def attempt(call, name):
    """What `call` returns, or the text of its error under `name`: a benchmark must go on."""
    try:
        return call()
    except Exception as error:
        return {name: f"{type(error).__name__}: {error}"}


def measure(case):
    """One row per method."""
    ref = reference(case.X, case.ordered)
    return [
        {**case.about, "method": name, **attempt(lambda fit=fit: _measure(fit, ref), "failed")}
        for name, fit in methods(case).items()
    ]


def _measure(fit, ref):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UnidentifiableWarning)
        begin = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - begin
        row = {**accuracy(model.coef_, ref), "seconds": round(seconds, 4)}
        return row | judgement(model, ref.coef) if hasattr(model, "verdict_") else row


def measure_table(table, parts):
    """Every row of one table."""
    n_rows, n_features = table.X.shape
    r2 = float(r_squared(table.X, table.y))
    about = {"table": table.name, "n": n_rows, "d": n_features, "r2": r2}
    cases = [case for part in parts for case in PARTS[part](table)]
    return [{**about, **row} for case in cases for row in measure(case)]
