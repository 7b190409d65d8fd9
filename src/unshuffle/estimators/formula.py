"""Models written as formulas (formulaic does the work)."""

import warnings
from typing import Any

import numpy as np

from ..io.frames import library_of
from ..kernels.types import FloatArray
from .shuffled import ShuffledRegressor

INTERCEPT = "Intercept"


class FormulaRegressor(ShuffledRegressor):
    """A `ShuffledRegressor` that predicts from data frames with the columns of its formula.

    Made by `fit_formula`.

    Attributes
    ----------
    formula_ : formulaic.ModelSpec
        The right-hand side, with the categories that were seen.
    """

    formula_: Any

    def predict(self, X: Any) -> FloatArray:
        """Predict the labels of rows.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            A frame with the columns that the formula names, or the terms themselves.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        if hasattr(self, "formula_") and library_of(X) is not None:
            X = _without_intercept(_matrix(self.formula_, X))
        return super().predict(X)


def fit_formula(
    formula: str,
    data: Any,
    groups: Any = None,
    *,
    known: Any = None,
    match_prob: Any = None,
    **settings: Any,
) -> FormulaRegressor:
    """Fit a `ShuffledRegressor` to a formula.

    Parameters
    ----------
    formula : str
        Such as ``"y ~ a + C(b) + a:d"``. Columns of text are categories, ``C(...)`` makes any
        column one; ``- 1`` leaves out the intercept.
    data : data frame
        pandas, polars or pyarrow. Rows with missing values are refused, because dropping a row
        would leave its label to somebody else.
    groups, known, match_prob : str or array-like, optional
        As in `ShuffledRegressor.fit`; a str names a column of `data`.
    **settings
        Anything `ShuffledRegressor` takes, such as ``random_state=0``.

    Returns
    -------
    model : FormulaRegressor
        A fitted `ShuffledRegressor` whose summary names the terms, and whose `predict` takes
        data frames.

    Examples
    --------
    >>> import pandas as pd
    >>> from unshuffle import fit_formula
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> made = make_shuffled_regression(300, 2, noise=0.1, random_state=0)
    >>> data = pd.DataFrame(made.X, columns=["a", "b"]).assign(y=made.y)
    >>> model = fit_formula("y ~ a + b", data, random_state=0)
    >>> list(model.feature_names_in_)
    ['a', 'b']
    """
    if library_of(data) is None:
        raise ValueError(
            f"data must be a data frame of pandas, polars or pyarrow, got {type(data).__name__}"
        )
    if "fit_intercept" in settings:
        raise ValueError("the formula says whether there is an intercept; write '- 1' to leave it")
    parsed = _parse(formula)
    if not hasattr(parsed, "lhs"):
        raise ValueError(f"the formula names no label; write 'y ~ {formula}'")
    both = _matrix(parsed, data)
    label, terms = both.lhs, both.rhs
    if label.shape[1] != 1:
        raise ValueError(f"the left-hand side must be one column of numbers, got {_names(label)}")
    spec = terms.model_spec
    features = _without_intercept(terms)
    if not _names(features):
        raise ValueError(f"the formula names no features: {formula!r}")
    model = FormulaRegressor(**settings, fit_intercept=INTERCEPT in _names(terms))
    model.fit(
        features,
        np.asarray(label, dtype=np.float64)[:, 0],
        _column(data, groups),
        _column(data, known),
        _column(data, match_prob),
    )
    model.formula_ = spec
    model._library = library_of(data)
    return model


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
            # A category that the fit never saw would silently count as the first one.
            warnings.simplefilter("error", DataMismatchWarning)
            return parsed.get_model_matrix(data, na_action="raise")
    except DataMismatchWarning as error:
        raise ValueError(str(error).partition(". ")[0]) from error
    except FactorEvaluationError as error:
        raise ValueError(f"{error}; the columns are {_names(data)}") from error
    except FormulaicError as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        if "null" not in str(error).lower() and "missing" not in str(error).lower():
            raise
        raise ValueError(
            f"{error}; drop those rows on both sides (a label without its row belongs to nobody) "
            "or fill them in"
        ) from error


def _without_intercept(terms: Any) -> Any:
    import narwhals as nw

    frame = nw.from_native(getattr(terms, "__wrapped__", terms), eager_only=True)
    return frame.select([name for name in frame.columns if name != INTERCEPT]).to_native()


def _names(frame: Any) -> list[str]:
    import narwhals as nw

    native: Any = getattr(frame, "__wrapped__", frame)
    return list(nw.from_native(native, eager_only=True).columns)


def _column(data: Any, given: Any) -> Any:
    if not isinstance(given, str):
        return given
    if given not in _names(data):
        raise ValueError(f"data has no column {given!r}; the columns are {_names(data)}")
    return data[given]
