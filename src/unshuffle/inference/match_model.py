"""The fitted model of who is mismatched: names, coefficients, standard errors, calibration."""

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..families.match_logit import MatchLogit
from ..io.html import html_table
from ..io.visible import visible
from ..kernels.types import FloatArray, IntArray

INTERCEPT = "(intercept)"
HEADS = ("clue", "coef", "std err", "z", "p")
# A coefficient is not the data's where the ridge gives more than this share of its information.
# Clues that predict perfectly have the share 1 / (1 + |standardised coefficient|), .1 to .2 up to
# the error of the simulation; clues that do not have about .001.
HELD_BY_RIDGE = 0.05


class Calibration(NamedTuple):
    """Rows in bins of the probability that clues give.

    Attributes
    ----------
    predicted, found : arrays of shape (n_bins,)
        Mean probability from the clues, and mean probability that labels are the rows' own once
        labels are seen.
    counts : array of shape (n_bins,)
        Rows in each bin.
    """

    predicted: FloatArray
    found: FloatArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class MatchModel:
    """Probability that a row holds its own label, logistic in clues.

    A positive coefficient means: the larger the clue, the likelier is the label the row's own.
    Rows that are known to hold their own label take no part. Where `match_prob` was given, its
    logit is an offset.

    Attributes
    ----------
    names : tuple of str
        The intercept and the clues.
    coef : array of shape (k,)
        Coefficients on the logit scale, in the units of the clues.
    covariance : array of shape (k, k)
        From the observed information, jointly with the regression; nan where the fit does not
        maximise the likelihood.
    mismatch_rate : float
        Mean probability of a mismatch that the clues give, among rows that are not known.
    at_bound : bool
        Whether `mismatch_rate_max` decided the answer.
    held : tuple of str
        Coefficients that only the weak ridge keeps finite: clues that predict perfectly, or data
        without a sign of mismatches.
    dropped : tuple of str
        Clues that were left out: constant, or combinations of those before them.
    probabilities : array of shape (n,) or None
        What the clues alone say of each row; None for a model read from a file.
    calibration : Calibration or None
        None for a model read from a file.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import MixtureRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     500, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=3
    ... )
    >>> right = data.permutation == np.arange(500)
    >>> distance = np.random.default_rng(0).normal(size=500) - right
    >>> model = MixtureRegressor().fit(data.X, data.y, match_features={"distance": distance})
    >>> model.match_model_.names
    ('(intercept)', 'distance')
    >>> bool(model.match_model_.coef[1] < 0)  # the farther, the less likely a right label
    True
    """

    names: tuple[str, ...]
    coef: FloatArray
    covariance: FloatArray
    mismatch_rate: float
    at_bound: bool = False
    held: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    probabilities: FloatArray | None = None
    calibration: Calibration | None = None

    @property
    def standard_errors(self) -> FloatArray:
        """Square roots of the diagonal of the covariance."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def conf_int(self, level: float = 0.95) -> FloatArray:
        """Confidence intervals of the coefficients; shape (k, 2)."""
        from scipy.stats import norm  # takes long to load, and few need it

        half = norm.ppf(0.5 + level / 2.0) * self.standard_errors
        return np.column_stack([self.coef - half, self.coef + half])

    def p_values(self) -> FloatArray:
        """Two-sided, of each coefficient against zero."""
        from scipy.stats import norm

        return np.asarray(2.0 * norm.sf(np.abs(self._z_values())))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, one entry per coefficient."""
        cells = zip(self.names, self.coef, self.standard_errors, self.p_values(), strict=True)
        return {
            "coefficients": {
                name: {"coef": float(b), "std err": float(se), "p": float(p)}
                for name, b, se, p in cells
            },
            "mismatch_rate": self.mismatch_rate,
            "at_bound": self.at_bound,
            "held": list(self.held),
            "dropped": list(self.dropped),
        }

    def summary(self) -> str:
        """Clue, coefficient and standard error, as text."""
        return str(self)

    def __str__(self) -> str:
        rows = [list(HEADS), *([visible(name), *cells] for name, *cells in self._cells())]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADS))]
        lines = [self._title()]
        for row in rows:
            first, *rest = (
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *rest]).rstrip())
        return "\n".join([*lines, *self._notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<p>{escape(self._title())}</p>{html_table(list(HEADS), self._cells())}{notes}"

    def _z_values(self) -> FloatArray:
        errors = self.standard_errors
        return np.divide(self.coef, errors, out=np.full_like(self.coef, np.nan), where=errors > 0.0)

    def _title(self) -> str:
        return (
            "Match model: logit of the probability that a label is the row's own; "
            f"mean rate of mismatches {self.mismatch_rate:.3g}"
        )

    def _cells(self) -> list[list[str]]:
        return [
            [name, f"{b:.4g}", _plain(se, ".3g"), _plain(z, ".2f"), _plain(p, ".2g")]
            for name, b, se, z, p in zip(
                self.names, self.coef, self.standard_errors, self._z_values(), self.p_values(),
                strict=True,
            )
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        notes = []
        if self.at_bound:
            notes.append("The bound on the mean rate (mismatch_rate_max) decided the answer.")
        if self.held:
            notes.append(f"Held by the weak ridge only: {_listed(self.held)}.")
        if self.dropped:
            notes.append(
                f"Left out (constant, or a combination of others): {_listed(self.dropped)}."
            )
        return notes


def _plain(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(visible(name) for name in names)


def make_match_model(
    logit: MatchLogit,
    coef: FloatArray,
    covariance: FloatArray,
    names: tuple[str, ...],
    dropped: tuple[str, ...],
    matched: FloatArray,
) -> MatchModel:
    """A model in the units of the clues, from standardised coefficients.

    Parameters
    ----------
    logit : MatchLogit
        In the user's order.
    coef, covariance : arrays of shape (k,) and (k, k)
        Standardised.
    names, dropped : tuples of str
        Of the clues.
    matched : array of shape (n,)
        Probability that labels are the rows' own, once labels are seen; in the user's order.
    """
    leads = logit.to_units()
    named = (INTERCEPT, *names)
    share = logit.penalty * np.diag(covariance)
    probabilities = logit.probabilities(coef)
    return MatchModel(
        names=named,
        coef=leads @ coef,
        covariance=leads @ covariance @ leads.T,
        mismatch_rate=logit.rate(coef),
        at_bound=logit.at_bound(coef),
        held=tuple(named[j] for j in np.flatnonzero(share > HELD_BY_RIDGE)),
        dropped=dropped,
        probabilities=probabilities,
        calibration=calibrate(probabilities[logit.open_rows], matched[logit.open_rows]),
    )


def calibrate(probabilities: FloatArray, matched: FloatArray, n_bins: int = 10) -> Calibration:
    """Bins of about equal size by the probability that clues give."""
    if not len(probabilities):
        return Calibration(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
    edges = np.unique(np.quantile(probabilities, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    bins = np.searchsorted(edges, probabilities, side="right")
    counts = np.bincount(bins, minlength=len(edges) + 1)
    filled = counts > 0
    predicted = np.bincount(bins, probabilities, len(edges) + 1)[filled] / counts[filled]
    found = np.bincount(bins, matched, len(edges) + 1)[filled] / counts[filled]
    return Calibration(predicted, found, counts[filled])
