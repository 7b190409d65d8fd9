"""Coefficients against the share of exchanged labels: numbers and tables."""

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from ..inference.intervals import Estimates
from ..io.frames import make_frame
from ..io.html import html_table
from ..kernels.types import FloatArray
from ..show.markup import number

TITLE = "Coefficients if a share of the labels was exchanged at random inside groups"
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class SensitivityResult:
    r"""Coefficients for given shares of exchanged labels, as `mismatch_sensitivity` finds them.

    Attributes
    ----------
    names : list of str
        Intercept (when there is one) and features.
    rates : array of shape (n_rates,)
        Shares of exchanged labels, among those that can move.
    coef, standard_errors : arrays of shape (n_rates, k)
        Least squares on averaged features, and sandwich (HC1) standard errors.
    freedom : int
        Rows less coefficients: the degrees of freedom of the intervals.
    fitted : Estimates
        The fit itself: `values` and `standard_errors`, of shape (k,).
    fitted_rate : float
        The rate that belongs to the fit, on the scale of `rates`; nan where it has none.
    library : str or None
        Data frame library of `to_frame`: "pandas" (or None), "polars" or "pyarrow".

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     300, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    ... )
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> result = model.mismatch_sensitivity(rates=(0, 0.1, 0.2))
    >>> result.interval(0.95).shape  # rates, coefficients, ends
    (3, 3, 2)
    >>> result.to_frame().columns.tolist()
    ['coefficient', 'rate', 'coef', 'std err', 'low', 'high']
    """

    names: list[str]
    rates: FloatArray
    coef: FloatArray
    standard_errors: FloatArray
    freedom: int
    fitted: Estimates
    fitted_rate: float
    library: str | None = None

    def interval(self, level: float = LEVEL) -> FloatArray:
        """Confidence intervals at each rate, as if that rate were known.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.

        Returns
        -------
        interval : array of shape (n_rates, k, 2)
            Lower and upper ends.
        """
        both = zip(self.coef, self.standard_errors, strict=True)
        return np.array(
            [Estimates(coef, errors, self.freedom).interval(level) for coef, errors in both]
        )

    def to_frame(self, level: float = LEVEL) -> Any:
        """A data frame with one line per coefficient and rate.

        Parameters
        ----------
        level : float, default=0.95
            Of the intervals, `low` to `high`.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays.
        """
        ends = self.interval(level)
        columns = {
            "coefficient": np.repeat(self.names, len(self.rates)),
            "rate": np.tile(self.rates, len(self.names)),
            "coef": self.coef.T.ravel(),
            "std err": self.standard_errors.T.ravel(),
            "low": ends[:, :, 0].T.ravel(),
            "high": ends[:, :, 1].T.ravel(),
        }
        return make_frame(columns, self.library)

    @property
    def heads(self) -> list[str]:
        """Titles of the columns of numbers of the printed table: each rate, and the fit."""
        own = "this fit" if isnan(self.fitted_rate) else f"this fit ({percent(self.fitted_rate)})"
        return [*map(percent, self.rates), own]

    def lines(self) -> list[list[str]]:
        """One line per coefficient: its name, its value at each rate, and that of the fit."""
        values = np.vstack([self.coef, self.fitted.values]).T
        return [[n, *map(number, line)] for n, line in zip(self.names, values, strict=True)]

    def __str__(self) -> str:
        lines = [["", *self.heads], *self.lines()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        shown = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in lines
        ]
        return "\n".join([TITLE, *shown])

    def _repr_html_(self) -> str:
        return f"<p>{TITLE}</p>{html_table(['', *self.heads], self.lines())}"


def percent(rate: float) -> str:
    """A share for a reader."""
    return f"{100.0 * rate:.3g} %"
