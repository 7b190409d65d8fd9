"""Models written as formulas."""

from typing import Any

from ..io.formula import apply_formula, apply_terms, named_clues, named_column, used_columns
from ..io.frames import library_of
from ..kernels.types import FloatArray
from .cox import ShuffledCoxRegressor
from .shuffled import ShuffledRegressor


class FormulaCoxRegressor(ShuffledCoxRegressor):
    """A `ShuffledCoxRegressor` that predicts from data frames with the columns of its formula.

    Made by `fit_formula`.

    Attributes
    ----------
    formula_ : formulaic.ModelSpec
        The right-hand side, with the categories that were seen.
    """

    formula_: Any

    def predict(self, X: Any) -> FloatArray:
        """Risk score of rows.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            A frame with the columns that the formula names, or the terms themselves.

        Returns
        -------
        risk : array of shape (n_samples,)
        """
        if hasattr(self, "formula_") and library_of(X) is not None:
            X = apply_terms(self.formula_, X)
        return super().predict(X)


class FormulaRegressor(ShuffledRegressor):
    """A `ShuffledRegressor` that predicts from data frames with the columns of its formula.

    Made by `fit_formula`.

    Attributes
    ----------
    formula_ : formulaic.ModelSpec
        The right-hand side, with the categories that were seen.
    """

    formula_: Any

    def predict(
        self, X: Any, interval: float | None = None, *, offset: Any = None, exposure: Any = None
    ) -> Any:
        """Predict the labels of rows.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            A frame with the columns that the formula names, or the terms themselves.
        interval : float, optional
            As in `ShuffledRegressor.predict`.
        offset, exposure : array-like of shape (n_samples,), optional
            Of these rows, for fits that were given one.

        Returns
        -------
        y : array of shape (n_samples,)
        ends : array of shape (n_samples, 2)
            Only if `interval` is given.
        """
        if hasattr(self, "formula_") and library_of(X) is not None:
            X = apply_terms(self.formula_, X)
        return super().predict(X, interval, offset=offset, exposure=exposure)


def fit_formula(
    formula: str,
    data: Any,
    groups: Any = None,
    *,
    known: Any = None,
    match_prob: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    match_features: Any = None,
    **settings: Any,
) -> FormulaRegressor | FormulaCoxRegressor:
    """Fit a `ShuffledRegressor`, or for times a `ShuffledCoxRegressor`, to a formula.

    Parameters
    ----------
    formula : str
        Such as ``"y ~ a + C(b) + a:d"``. Columns of text are categories, ``C(...)`` makes any
        column one; ``- 1`` leaves out the intercept. ``"Surv(time, event) ~ a"`` is Cox's model.
    data : data frame
        pandas, polars or pyarrow. Rows with missing values are refused: dropping a row would keep
        a label that belongs to no row, and drop one that may belong to another.
    groups, known, match_prob : str or array-like, optional
        As in `ShuffledRegressor.fit`; a str names a column of `data`.
    sample_weight, offset, exposure : str or array-like, optional
        The same.
    match_features : str, list of str, or data frame or array-like, optional
        As in `ShuffledRegressor.fit`; names are columns of `data`, and not of the formula.
    **settings
        Anything `ShuffledRegressor` takes, such as ``random_state=0``.

    Returns
    -------
    model : FormulaRegressor
        A fitted estimator whose summary names the terms, and whose `predict` takes
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
    if "fit_intercept" in settings:
        raise ValueError("the formula declares the intercept; write '- 1' to leave it out")
    made = apply_formula(formula, data)
    model: FormulaRegressor | FormulaCoxRegressor
    if made.y.ndim == 2:
        model = FormulaCoxRegressor(**settings)
    else:
        model = FormulaRegressor(**settings, fit_intercept=made.intercept)
    columns = [named_column(data, given) for given in (groups, known, match_prob)]
    given = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
    beside = {k: named_column(data, v) for k, v in given.items() if v is not None}
    if match_features is not None:
        beside["match_features"] = named_clues(data, match_features, used_columns(made.terms))
    model.fit(made.X, made.y, *columns, **beside)
    model.formula_ = made.terms
    model._library = library_of(data)
    return model
