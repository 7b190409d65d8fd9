r"""Who is mismatched? The probability that a row holds its own label, logistic in clues.

.. math::

    \mathrm{logit}\, p_i = o_i + b_0 + z_i^\top b,

with an offset :math:`o_i` where a probability of each row is given. Columns are standardised, so
that a weak ridge, the same for all, keeps coefficients finite where clues predict perfectly.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ..kernels.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class LogitSettings:
    """Numbers of the M-step.

    Attributes
    ----------
    ridge : float
        Penalty on half the squares of standardised coefficients: a normal prior with standard
        deviation ten.
    max_steps, max_halvings : int
        Most Newton steps, and halvings of one.
    tol : float
        Steps end when no standardised coefficient moves by more.
    largest_multiplier : float
        Of the bound on the rate.
    """

    ridge: float = 0.01
    max_steps: int = 50
    max_halvings: int = 30
    tol: float = 1e-9
    largest_multiplier: float = 2.0**40


LOGIT = LogitSettings()


@dataclass(frozen=True, eq=False)
class MatchLogit:
    """Clues of all rows, and the M-step on them.

    Attributes
    ----------
    columns : array of shape (n, 1 + q)
        A column of ones and the standardised clues; zero in rows that are not open.
    offset : array of shape (n,)
        On the logit scale.
    open_rows : array of bool of shape (n,)
        Rows whose probability is to be modelled; others keep `fixed`.
    fixed : array of shape (n,)
        Probability of the rows that are not open: 1 where a label is surely the row's own, 0 where
        it surely is not.
    centre, scale : arrays of shape (q,)
        Of the clues, in their own units.
    largest_rate : float or None
        Bound on the mean probability of a mismatch among open rows.
    """

    columns: FloatArray
    offset: FloatArray
    open_rows: BoolArray
    fixed: FloatArray
    centre: FloatArray
    scale: FloatArray
    largest_rate: float | None = None
    settings: LogitSettings = LOGIT

    @property
    def size(self) -> int:
        """Number of coefficients, the intercept included."""
        return int(self.columns.shape[1])

    @property
    def penalty(self) -> FloatArray:
        """Diagonal of the ridge."""
        return np.full(self.size, self.settings.ridge)

    def take(self, rows: IntArray | slice) -> "MatchLogit":
        """The same model of some rows, or of all in another order."""
        return replace(
            self,
            columns=self.columns[rows],
            offset=self.offset[rows],
            open_rows=self.open_rows[rows],
            fixed=self.fixed[rows],
        )

    def start(self) -> FloatArray:
        """Coefficients before anything is known: the offsets alone decide."""
        return np.zeros(self.size)

    def probabilities(self, coef: FloatArray) -> FloatArray:
        """Probability of each row that it holds its own label."""
        logit = self.offset + self.columns @ coef
        return np.where(self.open_rows, expit(logit), self.fixed)

    def spread(self, coef: FloatArray) -> FloatArray:
        """Variance ``p (1 - p)`` of each open row; zero elsewhere."""
        p = self.probabilities(coef)
        return np.where(self.open_rows, p * (1.0 - p), 0.0)

    def rate(self, coef: FloatArray) -> float:
        """Mean probability of a mismatch among open rows."""
        if not self.open_rows.any():
            return 0.0
        return float(np.mean(1.0 - self.probabilities(coef)[self.open_rows]))

    def at_bound(self, coef: FloatArray) -> bool:
        """Whether the bound on the rate decides the answer."""
        if self.largest_rate is None:
            return False
        return self.rate(coef) >= self.largest_rate * (1.0 - 1e-6)

    def rate_gradient(self, coef: FloatArray) -> FloatArray:
        """Derivative of the sum of probabilities of a mismatch."""
        return -np.asarray(self.columns.T @ self.spread(coef))

    def step(self, matched: FloatArray, coef: FloatArray) -> FloatArray:
        """M-step: the coefficients that probabilities `matched` ask for, from those before."""
        free = self._maximise(matched, coef, 0.0)
        limit = self.largest_rate
        if limit is None or self.rate(free) <= limit:
            return free

        def excess(multiplier: float) -> float:
            return self.rate(self._maximise(matched, coef, multiplier)) - limit

        high = 1.0
        while excess(high) > 0.0 and high < self.settings.largest_multiplier:
            high *= 2.0
        multiplier = brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-10)
        return self._maximise(matched, coef, float(multiplier))

    def _maximise(self, matched: FloatArray, coef: FloatArray, multiplier: float) -> FloatArray:
        """Newton's steps, halved until the penalised likelihood rises.

        `multiplier` charges every expected mismatch, which is how the bound is met.
        """
        columns, numbers, penalty = self.columns, self.settings, self.penalty
        level = self._level(matched, coef, multiplier)
        for _ in range(numbers.max_steps):
            p, spread = self.probabilities(coef), self.spread(coef)
            pull = np.where(self.open_rows, matched - p, 0.0) + multiplier * spread
            gradient = columns.T @ pull - penalty * coef
            information = (columns * spread[:, None]).T @ columns + np.diag(penalty)
            move = np.linalg.solve(information, gradient)
            for _ in range(numbers.max_halvings):
                found = self._level(matched, coef + move, multiplier)
                if found >= level:
                    break
                move = move / 2.0
            else:  # nothing is gained along this direction: rounding decides
                return coef
            coef, level = coef + move, found
            if np.abs(move).max() < numbers.tol:
                break
        return coef

    def _level(self, matched: FloatArray, coef: FloatArray, multiplier: float) -> float:
        logit = (self.offset + self.columns @ coef)[self.open_rows]
        own = matched[self.open_rows]
        likelihood = float(own @ logit - np.logaddexp(0.0, logit).sum())
        charge = multiplier * float(expit(-logit).sum())
        return likelihood - charge - 0.5 * float(self.penalty @ coef**2)

    def to_units(self) -> FloatArray:
        """Matrix that leads from standardised coefficients to those in the clues' own units."""
        leads = np.diag(np.append(1.0, 1.0 / self.scale))
        leads[0, 1:] = -self.centre / self.scale
        return leads


def make_match_logit(
    clues: FloatArray,
    *,
    match_prob: FloatArray | None,
    movable: BoolArray,
    largest_rate: float | None,
    settings: LogitSettings = LOGIT,
) -> MatchLogit:
    """Standardise clues over the rows whose label may be another row's.

    Parameters
    ----------
    clues : array of shape (n, q)
    match_prob : array of shape (n,) or None
        Given probabilities, which become offsets; a row with 0 is surely mismatched.
    movable : array of bool of shape (n,)
        False where the label is surely the row's own.
    largest_rate : float or None
        Bound on the mean rate of mismatches.
    """
    n = len(clues)
    given = np.full(n, 0.5) if match_prob is None else match_prob
    open_rows = movable & (given > 0.0) & (given < 1.0)
    inside = np.where(open_rows, given, 0.5)
    offset = np.log(inside) - np.log1p(-inside)
    used = clues[open_rows] if open_rows.any() else clues
    centre, scale = used.mean(axis=0), used.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    columns = np.column_stack([np.ones(n), (clues - centre) / scale])
    columns[~open_rows] = 0.0
    fixed = np.where(movable & (given <= 0.0), 0.0, 1.0)
    return MatchLogit(columns, offset, open_rows, fixed, centre, scale, largest_rate, settings)
