"""A fitted model without its data."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...families.catalogue import FAMILIES
from ...inference.match_model import MatchModel
from ...inference.verdict import Verdict
from ...io.frames import library_of
from ...io.tables import ColumnTable, DesignColumn, design_matrix
from ...kernels.types import FloatArray
from ..glm.results import Baseline

if TYPE_CHECKING:
    from ...show.summary import Summary

SCHEMA = 3  # with the baseline hazard of Cox's model
FAMILY_SCHEMA = 2
PLAIN_SCHEMA = 1  # what earlier versions read: normal labels, no column counted by words


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A fitted model without the data it was fitted to.

    Attributes
    ----------
    columns : tuple of DesignColumn
        Columns of a table that it predicts from.
    label : str
        Name of what it predicts.
    coef_ : array of shape (n_terms,)
    intercept_ : float
    covariance_ : array of shape (k, k)
        Of intercept (when there is one) and coefficients.
    covariance_type_ : {"model", "robust"}
        What kind of covariance it is.
    freedom, freedom_as_given : int
        Degrees of freedom of intervals, of the fit and of least squares on the labels as given.
    as_given : array of shape (2, k) or None
        Estimates and standard errors of least squares on the labels as given.
    family : str
        Law of the labels.
    classes : tuple
        The two classes of a model of family "bernoulli", the second one modelled.
    verdict_ : Verdict or None
    version : str
        Version of the library that made it.
    settings : dict
        Anything else that was saved with the fit.
    match_model_ : MatchModel or None
        Who is mismatched, where the fit had clues; without anything per row.
    baseline : Baseline or None
        Baseline hazard of a model of family "cox", where it was kept.
    """

    columns: tuple[DesignColumn, ...]
    label: str
    coef_: FloatArray
    intercept_: float
    fit_intercept: bool
    covariance_: FloatArray
    freedom: int
    as_given: FloatArray | None
    facts: dict[str, str]
    verdict_: Verdict | None
    version: str
    settings: dict[str, Any]
    freedom_as_given: int
    covariance_type_: str = "model"
    family: str = "normal"
    classes: tuple[Any, ...] = ()
    match_model_: MatchModel | None = None
    baseline: Baseline | None = None

    @property
    def feature_names_in_(self) -> list[str]:
        """Names of the coefficients."""
        return [term for column in self.columns for term in column.terms]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the labels of rows.

        Expected labels; the more probable class for family "bernoulli", and the log hazard ratio
        against an average row for family "cox".

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_terms)
            A frame of pandas, polars or pyarrow with `columns`, in any order; or numbers in the
            order of `feature_names_in_`.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        eta = self._linear_predictor(X)
        if self.family == "bernoulli":
            return np.array([self.classes[k] for k in (eta > 0.0).astype(int)])
        return eta if self.family in {"normal", "cox"} else FAMILIES[self.family].mean(eta)

    def predict_survival_function(self, X: Any, times: Any = None) -> FloatArray:
        """Probability of no event up to given times, for family "cox".

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_terms)
            As for `predict`.
        times : array-like of shape (n_times,), optional
            By default the event times of the fit.

        Returns
        -------
        survival : array of shape (n_samples, n_times)
            Constant after the last event of the fit, of which the data say nothing.
        """
        if self.baseline is None:
            raise ValueError(
                f"this model of family {self.family!r} holds no baseline hazard; "
                "ShuffledCoxRegressor has one, and save_model keeps it with baseline=True"
            )
        return self.baseline.survival(self._linear_predictor(X), times)

    def _linear_predictor(self, X: Any) -> FloatArray:
        if library_of(X) is not None:
            X = self._design(X)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.coef_):
            raise ValueError(
                f"X has shape {rows.shape} but the model has {len(self.coef_)} coefficients: "
                f"{', '.join(self.feature_names_in_[:8])}"
            )
        eta: FloatArray = rows @ self.coef_ + self.intercept_
        return eta

    def _design(self, frame: Any) -> FloatArray:
        """Find columns by their names: columns in another order must not be mixed up."""
        import narwhals as nw

        found = nw.from_native(frame, eager_only=True)
        columns: dict[str, NDArray[Any]] = {}
        for column in self.columns:
            name = column.name
            if name not in found.columns:
                raise ValueError(f"the model needs a column {name!r}; X has {found.columns[:8]}")
            if column.is_text:
                columns[name] = np.array([str(v) for v in found[name].to_list()], dtype=object)
                continue
            values = np.asarray(found[name].to_numpy(), dtype=np.float64)
            wrong = np.flatnonzero(~np.isfinite(values))
            if len(wrong):
                raise ValueError(f"X is missing or infinite in row {wrong[0]}, column {name!r}")
            columns[name] = values
        return design_matrix(ColumnTable(Path("X"), columns, len(found), first_row=0), self.columns)

    def summary(self, level: float = 0.95) -> "Summary":
        """Table of coefficients, verdict first."""
        from ...inference.intervals import Estimates
        from ...show.summary import Summary

        values, names = self.coef_, self.feature_names_in_
        if self.fit_intercept:
            values, names = np.append(self.intercept_, values), ["(intercept)", *names]
        errors = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        ours = Estimates(values, errors, self.freedom)
        given = self.as_given
        other = None if given is None else Estimates(given[0], given[1], self.freedom_as_given)
        return Summary(
            names, ours, other, self.facts, self.verdict_, level, match_model=self.match_model_
        )
