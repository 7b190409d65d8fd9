"""Formulas to model matrices (formulaic does the work)."""

import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from ..data.numbers import as_floats, describe_dates
from ..kernels.types import FloatArray
from .frames import column_names, column_of_dates, library_of, plain_column

INTERCEPT = "Intercept"


class FormulaData(NamedTuple):
    """What a formula makes of a data frame.

    Attributes
    ----------
    X : data frame
        The terms, without the intercept.
    y : array of shape (n,), or (n, 2) for events and times
    intercept : bool
        Whether the formula has one.
    terms : formulaic.ModelSpec
        The right-hand side, with the categories that were found.
    """

    X: Any
    y: FloatArray
    intercept: bool
    terms: Any


def apply_formula(formula: str, data: Any) -> FormulaData:
    """Labels and terms of a formula; missing values are refused."""
    if library_of(data) is None:
        raise ValueError(
            f"data must be a data frame of pandas, polars or pyarrow, got {type(data).__name__}"
        )
    _refuse_fixed_effects(formula)
    times = _times_of(formula)
    if times is not None:
        return _apply_times(formula, times, data)
    parsed = _parse(formula)
    if not hasattr(parsed, "lhs"):
        raise ValueError(f"the formula names no label; write 'y ~ {formula}'")
    both = _matrix(parsed, data)
    names = _names(both.lhs)
    if len(names) != 1:
        raise ValueError(f"the left-hand side must be one column of numbers, got {names}")
    X = _without_intercept(both.rhs)
    if not _names(X):
        raise ValueError(f"the formula names no features: {formula!r}")
    y = as_floats(both.lhs, f"the label {names[0]!r}")[:, 0]
    return FormulaData(X, y, INTERCEPT in _names(both.rhs), both.rhs.model_spec)


def _refuse_fixed_effects(formula: str) -> None:
    """``y ~ x | zone`` means fixed effects in other packages, and nothing here."""
    model, bar, effects = formula.partition("|")
    if bar and "~" in model:
        name = effects.strip() or "zone"
        raise ValueError(
            f"fixed effects after '|' are not part of formulas here; write "
            f"'{model.strip()} + C({name})' for a coefficient of each {name}, and groups={name!r} "
            f"if labels were shuffled inside {name}"
        )


def _times_of(formula: str) -> tuple[str, str, str] | None:
    """Time, event and right-hand side of ``Surv(time, event) ~ ...``; None for other formulas."""
    left, sign, right = formula.partition("~")
    found = re.fullmatch(r"\s*Surv\s*\(([^(),]+),([^(),]+)\)\s*", left)
    if found is None:
        if left.strip().startswith("Surv"):
            raise ValueError(
                f"the label {left.strip()!r} cannot be read; write Surv(time, event), two columns"
            )
        return None
    if not sign:
        raise ValueError(f"the formula names no features: {formula!r}")
    time, event = (name.strip().strip("`") for name in found.groups())
    return time, event, right


def _apply_times(formula: str, times: tuple[str, str, str], data: Any) -> FormulaData:
    """Terms of a formula for times; y has the columns event and time."""
    time, event, right = times
    terms = _matrix(_parse(right), data)
    X = _without_intercept(terms)
    if not _names(X):
        raise ValueError(f"the formula names no features: {formula!r}")
    columns = [
        as_floats(plain_column(named_column(data, name)), f"column {name!r}")
        for name in (event, time)
    ]
    return FormulaData(X, np.column_stack(columns), False, terms.model_spec)


def apply_terms(terms: Any, data: Any) -> Any:
    """The terms of a fitted formula for new rows, without the intercept."""
    return _without_intercept(_matrix(terms, data))


def named_column(data: Any, given: Any) -> Any:
    """A column of a data frame where a name is given; anything else as it is."""
    if not isinstance(given, str):
        return given
    if given not in column_names(data):
        raise ValueError(f"data has no column {given!r}; the columns are {column_names(data)}")
    return data[given]


def named_clues(data: Any, given: Any, used: set[str]) -> Any:
    """Columns of a data frame where names are given; anything else as it is."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
        return given
    for name in names:
        if name in used:
            raise ValueError(
                f"{name!r} is a match feature and stands in the formula as well; leave it out of "
                "one of the two"
            )
    return {name: named_column(data, name) for name in names}


def used_columns(terms: Any) -> set[str]:
    """Names of the columns that a right-hand side reads."""
    return {str(name) for name in terms.required_variables}


def _parse(formula: str) -> Any:
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'formulas need formulaic: pip install "unshuffle[formula]"', name="formulaic"
        ) from error
    try:
        return formulaic.Formula(formula)
    except FormulaicError as error:
        found = str(error).partition("\n")[0]
        raise ValueError(f"the formula {formula!r} cannot be read: {found}") from error


def _matrix(parsed: Any, data: Any) -> Any:
    from formulaic.errors import DataMismatchWarning, FactorEvaluationError, FormulaicError

    try:
        with warnings.catch_warnings():
            # A category that was not in the fit would silently count as the first one.
            warnings.simplefilter("error", DataMismatchWarning)
            return parsed.get_model_matrix(data, na_action="raise")
    except DataMismatchWarning as error:
        raise ValueError(str(error).partition(". ")[0]) from error
    except FactorEvaluationError as error:
        raise ValueError(f"{error}; the columns are {column_names(data)}") from error
    except FormulaicError as error:
        raise ValueError(str(error)) from error
    except OverflowError as error:
        raise ValueError(
            "a column of the formula holds a whole number beyond the largest number of 64 bits "
            "(about 1e308); give the column in other units"
        ) from error
    except TypeError as error:
        dates = column_of_dates(data)
        if dates is None:
            raise
        raise ValueError(describe_dates(dates[1], f"column {dates[0]!r}")) from error
    except ValueError as error:
        if "null" not in str(error).lower() and "missing" not in str(error).lower():
            raise
        raise ValueError(
            f"{error}; fill the values in, or drop each such row together with its own label"
        ) from error


def _without_intercept(terms: Any) -> Any:
    import narwhals as nw

    frame = nw.from_native(_unwrapped(terms), eager_only=True)
    return frame.select([name for name in frame.columns if name != INTERCEPT]).to_native()


def _names(terms: Any) -> list[str]:
    return column_names(_unwrapped(terms))


def _unwrapped(terms: Any) -> Any:
    """The data frame in a model matrix of formulaic."""
    return getattr(terms, "__wrapped__", terms)
