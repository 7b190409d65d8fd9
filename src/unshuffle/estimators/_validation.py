"""User data to a `Problem`: small checks, each with a message that says what to do."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_array, validate_data

from ..data.groups import check_known, encode_groups
from ..data.numbers import (
    LARGEST,
    SMALLEST,
    as_floats,
    as_numbers,
    describe_dates,
    refuse_sizes,
)
from ..data.problem import Problem, make_problem
from ..io.categories import encode_categories
from ..io.frames import NamedMatrix, column_of_dates, library_of, plain_column
from ..kernels.types import FloatArray


def build_problem(
    estimator: BaseEstimator, X: Any, y: Any, groups: Any, known: Any, match_prob: Any = None
) -> tuple[Problem, FloatArray | None]:
    """Check everything a user handed to ``fit``; return the problem and the match probabilities.

    `estimator` is the one scikit-learn records feature names on. A row that surely holds its own
    label is known.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    y, groups, known, match_prob = map(plain_column, (y, groups, known, match_prob))
    check_lengths(X, y, groups)
    X, y = check_features_and_labels(estimator, X, y)
    codes = encode_groups(groups, len(y))
    pinned, probability = check_known(known, len(y)), check_match_prob(match_prob, len(y))
    if probability is not None:
        pinned = pinned | (probability == 1.0)
    problem = make_problem(X, y, codes, pinned)
    return problem, None if probability is None else problem.arrange(probability)


def check_features_and_labels(
    estimator: BaseEstimator, X: Any, y: Any
) -> tuple[FloatArray, FloatArray]:
    """X as a finite float matrix, y as a finite float vector that varies."""
    given = X.values if isinstance(X, NamedMatrix) else X
    refuse_no_numbers(given, "X")
    as_numbers(y, "y")
    try:
        checked, y = validate_data(
            estimator, given, y, dtype=np.float64, order="C", y_numeric=True, ensure_min_samples=2
        )
        y = np.ascontiguousarray(y, dtype=np.float64)
        # scikit-learn looks at objects before they become numbers.
        if not np.isfinite(y).all():
            raise ValueError(f"Input y contains {'NaN' if np.isnan(y).any() else 'infinity'}")
    except TypeError as error:
        if "float() argument" in str(error):
            raise TypeError(f"{describe_text(X, y)} ({error})") from error
        raise
    except OverflowError as error:  # an integer of Python beyond double precision
        raise ValueError(describe_text(X, y)) from error
    except ValueError as error:
        if "could not convert" in str(error):
            raise ValueError(describe_text(X, y)) from error
        if "contains NaN" in str(error) or "contains infinity" in str(error):
            raise ValueError(describe_not_finite(str(error), X, y)) from error
        raise
    check_sizes(checked, y, column_names(X))
    if np.all(y == y[0]):
        raise ValueError(
            f"all {len(y)} labels equal {y[0]:g}: there is nothing to fit; "
            "check that y is the right column"
        )
    if isinstance(X, NamedMatrix):
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    return checked, y


def check_sizes(X: FloatArray, y: FloatArray, names: list[Any] | None) -> None:
    """Labels and columns in units with which numbers can be computed."""
    names = list(range(X.shape[1])) if names is None else names
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    refuse_sizes(
        np.append(np.abs(y).max(), largest), ["y", *(f"column {name!r} of X" for name in names)]
    )


def check_rows(estimator: BaseEstimator, X: Any) -> FloatArray:
    """Rows to predict, with the columns of the fit."""
    design = getattr(estimator, "design_columns_", None)
    if design is not None and library_of(X) is not None:
        X = encode_categories(X, design)
    if isinstance(X, NamedMatrix):
        if list(X.columns) != list(getattr(estimator, "feature_names_in_", X.columns)):
            raise ValueError(
                f"the columns are {list(X.columns)[:8]}, but the model was fitted to "
                f"{list(estimator.feature_names_in_)[:8]}"
            )
        rows: FloatArray = check_array(X.values, dtype=np.float64)
        return rows
    refuse_no_numbers(X, "X")
    checked: FloatArray = validate_data(estimator, X, dtype=np.float64, reset=False)
    return checked


def refuse_no_numbers(X: Any, name: str) -> None:
    """Dates and masked values, which would be taken for numbers."""
    if library_of(X) is not None and column_names(X) is not None:
        found = column_of_dates(X)
        if found is not None:
            raise ValueError(describe_dates(found[1], f"column {found[0]!r} of {name}"))
    elif isinstance(X, list | tuple) or hasattr(X, "__array__"):
        as_numbers(X, name)


def describe_text(X: Any, y: Any) -> str:
    """Name the first entry that is not a number."""
    names = column_names(X)
    table = np.asarray(X, dtype=object)
    for j in range(table.shape[1] if table.ndim == 2 else 0):
        for i, value in enumerate(table[:, j]):
            if not _is_number(value):
                column = f"column {names[j]!r}" if names is not None else f"column {j}"
                found = f"{column} of X holds {value!r} in row {i}, which is not a number"
                if not isinstance(value, str):
                    return f"{found}; drop those rows on both sides or fill them in"
                return (
                    f"{found}; encode the column (for example with OneHotEncoder) or leave it out"
                )
    for i, value in enumerate(np.asarray(y, dtype=object).ravel()):
        if not _is_number(value):
            return f"y holds {value!r} in row {i}, which is not a number"
    return "X or y holds something that is not a number"


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame; None for anything else."""
    names = X.column_names if library_of(X) == "pyarrow" else getattr(X, "columns", None)
    return None if names is None else list(names)


def describe_not_finite(message: str, X: Any, y: Any) -> str:
    """Name the first entry that is missing or infinite, and what to do about it."""
    found = message.splitlines()[0].rstrip(".")
    in_labels = found.startswith("Input y")
    table = np.asarray(y if in_labels else X, dtype=np.float64)
    places = np.argwhere(~np.isfinite(table))
    if not len(places):  # not a number of double precision
        return f"{found}; drop those rows on both sides or fill them in"
    place = places[0]
    where = f"row {place[0]}"
    if not in_labels:
        names = column_names(X)
        where += f", column {place[1] if names is None else repr(names[place[1]])}"
    count = int(np.sum(~np.isfinite(table)))
    if in_labels and np.isnan(table[tuple(place)]):
        return (
            f"{found}: {count} such value(s), the first in {where}; drop those rows on both sides "
            "(a label without its row belongs to nobody) or fill them in, or fit with "
            "ShuffledRegressor and unmatched='model', which takes NaN for a lost label"
        )
    return (
        f"{found}: {count} such value(s), the first in {where}; drop those rows on both sides "
        "(a label without its row belongs to nobody) or fill them in"
    )


def check_lengths(X: Any, y: Any, groups: Any) -> None:
    """As many labels as rows, in every group."""
    n_rows, n_labels = _num_samples(X), _num_samples(y)
    if n_rows == n_labels:
        return
    if groups is not None and _num_samples(groups) == max(n_rows, n_labels):
        codes = encode_groups(groups, max(n_rows, n_labels))
        rows = np.bincount(codes[:n_rows], minlength=codes.max() + 1)
        labels = np.bincount(codes[:n_labels], minlength=codes.max() + 1)
        short = int(np.flatnonzero(rows != labels)[0])
        name = list(groups)[int(np.argmax(codes == short))]
        raise ValueError(
            f"group {name!r} has {rows[short]} rows but {labels[short]} labels; "
            "each group needs as many labels as rows"
        )
    raise ValueError(
        f"X has {n_rows} rows but y has {n_labels} labels; there must be as many labels as rows "
        "(Found input variables with inconsistent numbers of samples)"
    )


def check_match_prob(match_prob: Any, n_rows: int) -> FloatArray | None:
    """Probability of each row that its own label is right."""
    if match_prob is None:
        return None
    probability = as_floats(match_prob, "match_prob")
    if probability.shape != (n_rows,):
        raise ValueError(
            f"match_prob has shape {probability.shape} but there are {n_rows} rows; "
            "give one probability per row"
        )
    wrong = np.flatnonzero(~((probability >= 0.0) & (probability <= 1.0)))
    if len(wrong):
        raise ValueError(
            f"match_prob must lie between 0 and 1, but row {wrong[0]} has "
            f"{probability[wrong[0]]:g}; turn match weights into probabilities first"
        )
    return probability


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_init(init: Any, n_features: int) -> FloatArray | None:
    """Starting coefficients as a finite vector of the right length; None for "ols"."""
    if isinstance(init, str):
        return None
    coef = as_floats(init, "init")
    if coef.shape != (n_features,):
        raise ValueError(
            f"init has shape {coef.shape} but X has {n_features} features; "
            f"give 'ols' or {n_features} starting coefficients"
        )
    if not np.all(np.isfinite(coef)):
        raise ValueError("init holds NaN or infinity; starting coefficients must be finite")
    if np.abs(coef).max() > LARGEST / SMALLEST:
        raise ValueError(
            f"init holds {np.abs(coef).max():.2g}; labels and features of any size that can be "
            f"fitted have coefficients below {LARGEST / SMALLEST:g}"
        )
    return coef


def open_setting(value: Any) -> Any:
    """A parameter as a setting: "auto" leaves the choice to the fit, which is None there."""
    return None if isinstance(value, str) and value == "auto" else value
