r"""Who is mismatched? The probability that a row holds its own label, logistic in clues.

.. math::

    \mathrm{logit}\, p_i = o_i + b_0 + z_i^\top b,

with an offset :math:`o_i` where a probability of each row is given. Columns are standardised, so
that a weak ridge, the same for all, keeps coefficients finite where clues predict perfectly.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
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
        Steps end when no standardised coefficient moves by more; the last one is taken.
    surely_short : float
        Steps up to this length raise the likelihood without a look.
    """

    ridge: float = 0.01
    max_steps: int = 50
    max_halvings: int = 30
    tol: float = 1e-7
    surely_short: float = 0.05


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
        free = self._maximise(matched, coef)
        limit = self.largest_rate
        if limit is None or self.rate(free) <= limit:
            return free
        return self._maximise_at_bound(matched, self.at_rate(coef, limit), limit)

    def _maximise(self, matched: FloatArray, coef: FloatArray) -> FloatArray:
        """Newton's steps, halved until the penalised likelihood rises."""
        numbers = self.settings
        for _ in range(numbers.max_steps):
            gradient, information = self._derivatives(matched, coef)
            move = _solve(information, gradient)
            longest = float(np.abs(move).max())
            if longest > numbers.surely_short:
                move = self._halved(matched, coef, move, lambda b: b)
            coef = coef + move
            if longest < numbers.tol:
                break
        return coef

    def _maximise_at_bound(self, matched: FloatArray, coef: FloatArray, limit: float) -> FloatArray:
        """Steps along the surface on which the rate is at its bound.

        Each is Newton's in the tangent plane; a shift of the intercept leads back to the surface.
        """
        numbers = self.settings

        def back(b: FloatArray) -> FloatArray:
            return self.at_rate(b, limit)

        for _ in range(numbers.max_steps):
            gradient, information = self._derivatives(matched, coef)
            normal = self.rate_gradient(coef)
            plane = np.linalg.svd(normal[None])[2][1:].T
            inside = plane.T @ (information + self.bound_curvature(coef, gradient)) @ plane
            if np.linalg.eigvalsh(inside).min() <= 0.0:  # no maximum near by: climb at least
                inside = plane.T @ information @ plane
            move = plane @ _solve(inside, plane.T @ gradient)
            move = self._halved(matched, coef, move, back)
            coef = back(coef + move)
            if float(np.abs(move).max()) < numbers.tol:
                break
        return coef

    def _derivatives(self, matched: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient of the penalised likelihood, and the negative of its second derivative."""
        p, columns = self.probabilities(coef), self.columns
        spread = np.where(self.open_rows, p * (1.0 - p), 0.0)
        pull = np.where(self.open_rows, matched - p, 0.0)
        information = (columns * spread[:, None]).T @ columns
        return columns.T @ pull - self.penalty * coef, information + np.diag(self.penalty)

    def bound_curvature(self, coef: FloatArray, gradient: FloatArray) -> FloatArray:
        """What a bound on the rate adds to the information, where it decides the answer.

        That is Lagrange's multiplier times the second derivative of the sum of probabilities of a
        mismatch; `gradient` is that of the penalised likelihood, which the bound holds back.
        """
        p, normal = self.probabilities(coef), self.rate_gradient(coef)
        multiplier = float(normal @ gradient / (normal @ normal))
        weight = multiplier * self.spread(coef) * (2.0 * p - 1.0)
        return np.asarray((self.columns * weight[:, None]).T @ self.columns)

    def at_rate(self, coef: FloatArray, limit: float) -> FloatArray:
        """The coefficients with the intercept that makes the rate `limit`."""
        from scipy.optimize import brentq  # takes long to load, and only bounds need it

        logit = (self.offset + self.columns @ coef)[self.open_rows]
        reach = float(np.abs(logit).max()) + abs(float(np.log(limit / (1.0 - limit)))) + 1.0
        shift = brentq(lambda a: expit(-a - logit).mean() - limit, -reach, reach, xtol=1e-13)
        return np.append(coef[0] + float(shift), coef[1:])

    def _halved(
        self,
        matched: FloatArray,
        coef: FloatArray,
        move: FloatArray,
        back: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        """A move, halved until the penalised likelihood rises where `back` leads to."""
        level = self._level(matched, coef)
        for _ in range(self.settings.max_halvings):
            if self._level(matched, back(coef + move)) >= level:
                return move
            move = move / 2.0
        return np.zeros_like(move)  # nothing is gained along this direction: rounding decides

    def _level(self, matched: FloatArray, coef: FloatArray) -> float:
        logit = (self.offset + self.columns @ coef)[self.open_rows]
        likelihood = float(matched[self.open_rows] @ logit - np.logaddexp(0.0, logit).sum())
        return likelihood - 0.5 * float(self.penalty @ coef**2)

    def to_units(self) -> FloatArray:
        """Matrix that leads from standardised coefficients to those in the clues' own units."""
        leads = np.diag(np.append(1.0, 1.0 / self.scale))
        leads[0, 1:] = -self.centre / self.scale
        return leads


def _solve(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(matrix, vector), dtype=np.float64)


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
