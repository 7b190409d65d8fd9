"""How a notebook shows an estimator."""

from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..io.frames import feature_names
from ..io.html import html_table


class NotebookMethods:
    """Fitted estimators show verdict and coefficients; others show scikit-learn's diagram."""

    coef_: Any
    intercept_: float

    def _repr_html_inner(self) -> str:
        """The value of `_repr_html_`, which scikit-learn defines unless diagrams are off."""
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return _with_results(self, diagram) if _is_fitted(self) else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle and _is_fitted(self):
            bundle["text/html"] = _with_results(self, bundle["text/html"])
        return bundle


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _with_results(estimator: Any, diagram: str) -> str:
    """Verdict and coefficients, and the diagram folded away below."""
    has_summary = hasattr(estimator, "standard_errors_")
    found = estimator.summary()._repr_html_() if has_summary else _plain_table(estimator)
    name = escape(type(estimator).__name__)
    return f"<div>{found}<details><summary>{name}: parameters</summary>{diagram}</details></div>"


def _plain_table(estimator: Any) -> str:
    names = feature_names(getattr(estimator, "feature_names_in_", None), len(estimator.coef_))
    rows = list(zip(names, estimator.coef_, strict=True))
    if estimator.fit_intercept:
        rows.insert(0, ("(intercept)", estimator.intercept_))
    return html_table(["", "coef"], [(name, f"{value:.4g}") for name, value in rows])
