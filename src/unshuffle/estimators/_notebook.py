"""What a notebook shows of an estimator."""

from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


class NotebookMethods:
    """Fitted estimators show what they found; others show scikit-learn's diagram."""

    coef_: Any
    intercept_: float

    def _repr_html_inner(self) -> str:
        """Answer of `_repr_html_`, which scikit-learn offers unless diagrams are turned off."""
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return _found(self, diagram) if _is_fitted(self) else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle and _is_fitted(self):
            bundle["text/html"] = _found(self, bundle["text/html"])
        return bundle


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _found(estimator: Any, diagram: str) -> str:
    """Verdict and coefficients, and the diagram for those who unfold it."""
    if hasattr(estimator, "standard_errors_"):
        found = estimator.summary()._repr_html_()
    else:
        found = _plain_table(estimator)
    name = escape(type(estimator).__name__)
    return f"<div>{found}<details><summary>{name}: parameters</summary>{diagram}</details></div>"


def _plain_table(estimator: Any) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{j}" for j in range(len(estimator.coef_))] if names is None else list(names)
    values = list(zip(names, estimator.coef_, strict=True))
    if estimator.fit_intercept:
        values.insert(0, ("(intercept)", estimator.intercept_))
    rows = "".join(
        f"<tr><td>{escape(str(name))}</td><td>{value:.4g}</td></tr>" for name, value in values
    )
    return f"<table><thead><tr><th></th><th>coef</th></tr></thead><tbody>{rows}</tbody></table>"
