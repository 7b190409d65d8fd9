"""Several fits side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..io.frames import feature_names
from ..io.html import html_table
from ..io.visible import visible
from .markup import number
from .summary import latex_table
from .text_table import terminal_width, text_table

INTERCEPT = "(intercept)"
FACTS = ("rows", "groups", "noise", "R squared", "mismatched", "standard errors")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Coefficients of several fits, as text, HTML, LaTeX or data frame. Made by `compare`.

    Attributes
    ----------
    titles : list of str
        One per fit.
    names : list of str
        Intercept and features of all fits.
    coefficients, standard_errors : arrays of shape (n_names, n_fits)
        nan where a fit has no such coefficient, or no standard error.
    facts : dict of lists of str
        Further lines: verdict, rows, noise and so on; one entry per fit.
    """

    titles: list[str]
    names: list[str]
    coefficients: np.ndarray[Any, Any]
    standard_errors: np.ndarray[Any, Any]
    facts: dict[str, list[str]]

    def to_frame(self) -> Any:
        """A pandas data frame with columns (fit, "coef" or "std err")."""
        import pandas as pd

        columns = {}
        for k, title in enumerate(self.titles):
            columns[title, "coef"] = self.coefficients[:, k]
            columns[title, "std err"] = self.standard_errors[:, k]
        return pd.DataFrame(columns, index=pd.Index(self.names, name="coefficient"))

    def to_latex(self) -> str:
        """A booktabs table."""
        return latex_table(["", *self.titles], self._lines())

    def __str__(self) -> str:
        lines = [[visible(cell) for cell in line] for line in self._lines()]
        heads = ["", *(visible(title) for title in self.titles)]
        return "\n".join(text_table(heads, lines, terminal_width()))

    def _repr_html_(self) -> str:
        heads = ["", *(escape(title, quote=False) for title in self.titles)]
        return html_table(heads, self._lines())

    def _lines(self) -> list[list[str]]:
        lines = []
        for j, name in enumerate(self.names):
            cells = zip(self.coefficients[j], self.standard_errors[j], strict=True)
            lines.append([name, *(_cell(value, error) for value, error in cells)])
        return lines + [[name, *values] for name, values in self.facts.items()]


def compare(*models: Any, titles: Sequence[str] | None = None) -> Comparison:
    """Put the coefficients of several fits side by side, with standard errors in brackets.

    Parameters
    ----------
    *models : fitted estimators
        Of this package, or any other linear model with `coef_` and `intercept_`.
    titles : list of str, optional
        One per model; the names of their classes by default, numbered where they are the same.

    Returns
    -------
    comparison : Comparison
        Prints as text, shows as HTML in a notebook; has `to_frame` and `to_latex`.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from unshuffle import ShuffledRegressor, compare
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     200, 2, noise=0.3, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> known = LinearRegression().fit(data.X, data.y_ordered)
    >>> both = compare(model, known, titles=["unshuffle", "known order"])
    >>> both.names
    ['(intercept)', 'x0', 'x1']
    """
    if not models:
        raise ValueError("compare needs at least one fitted model")
    for model in models:
        if not hasattr(model, "coef_") or np.ndim(model.coef_) != 1:
            raise ValueError(
                f"{type(model).__name__} has no coefficients of one label; fit it first, or leave "
                "it out"
            )
    titles = _titles(models) if titles is None else [str(title) for title in titles]
    if len(titles) != len(models):
        raise ValueError(f"there are {len(models)} models but {len(titles)} titles")
    parts = [_coefficients(model) for model in models]
    names = list(dict.fromkeys(name for part in parts for name in part))
    missing = (np.nan, np.nan)
    both = np.array([[part.get(name, missing) for part in parts] for name in names])
    return Comparison(titles, names, both[..., 0], both[..., 1], _facts(models))


def _titles(models: Sequence[Any]) -> list[str]:
    classes = [type(model).__name__ for model in models]
    numbers = [classes[: k + 1].count(name) for k, name in enumerate(classes)]
    return [
        f"{name} {number}" if classes.count(name) > 1 else name
        for name, number in zip(classes, numbers, strict=True)
    ]


def _coefficients(model: Any) -> dict[str, tuple[float, float]]:
    """Value and standard error by name."""
    names = feature_names(getattr(model, "feature_names_in_", None), len(model.coef_))
    values = list(model.coef_)
    if getattr(model, "fit_intercept", True):
        names, values = [INTERCEPT, *names], [model.intercept_, *values]
    errors = getattr(model, "standard_errors_", None)
    errors = [np.nan] * len(values) if errors is None else errors
    pairs = zip(values, errors, strict=True)
    return {name: (float(v), float(e)) for name, (v, e) in zip(names, pairs, strict=True)}


def _facts(models: Sequence[Any]) -> dict[str, list[str]]:
    """Lines below the coefficients, those that any fit has."""
    summaries = [model.summary() if _has_summary(model) else None for model in models]
    lines = {
        "verdict": ["" if t is None or t.verdict is None else t.verdict.level for t in summaries]
    }
    for name in FACTS:
        lines[name] = ["" if t is None else t.facts.get(name, "") for t in summaries]
    return {name: values for name, values in lines.items() if any(values)}


def _has_summary(model: Any) -> bool:
    """Fits without standard errors have none."""
    errors = getattr(model, "standard_errors_", None)
    return hasattr(model, "summary") and errors is not None


def _cell(value: float, error: float) -> str:
    if np.isnan(value):
        return ""
    return number(value) if np.isnan(error) else f"{number(value)} ({number(error, '.2g')})"
