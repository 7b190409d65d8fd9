"""The rows of a fit as EM sees them, wherever they are."""

import math
from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ..alignment.state import State
from ..data.problem import Problem
from ..families.family import Solver
from ..kernels.types import FloatArray


class Aligned(Protocol):
    """What every E-step returns."""

    @property
    def acceptance_rate(self) -> float:
        """Share of proposals accepted."""
        ...


Expected = TypeVar("Expected", bound=Aligned)


class StartSquares(NamedTuple):
    """Sums of squares at a start.

    Attributes
    ----------
    matched : float
        Of the residuals of the best match.
    labels, fitted : float
        Of labels and of fitted values around the means of their groups.
    """

    matched: float
    labels: float
    fitted: float


class IteratedTable(ABC, Generic[Expected]):
    """What the loop needs of rows and labels: two steps, and moves to other parameters.

    Attributes
    ----------
    solver : Solver
    n_rows : int
    """

    solver: Solver
    n_rows: int

    @abstractmethod
    def align(self, state: State, stream: int) -> Expected:
        """E-step: expected statistics at `state`, with random numbers of the given stream."""

    @abstractmethod
    def solve(self, expected: Expected) -> State:
        """M-step: parameters from expected statistics."""

    def move(self, state: State, coef: FloatArray, intercept: float, **others: Any) -> State:
        """`state` at other parameters."""
        return state._replace(coef=coef, intercept=intercept, **others)


class Table(IteratedTable[Expected]):
    """Rows and labels in memory (`MemoryTable`) or read in passes (`PassesTable`).

    Attributes
    ----------
    n_movable, n_blocks : int
        Rows that can exchange labels, and groups of these.
    restarts : bool
        Whether the chain restarts in every iteration; otherwise it continues.
    """

    n_movable: int
    n_blocks: int
    restarts: bool

    @abstractmethod
    def ordinary_start(self) -> State:
        """Least squares on the labels as given."""

    @abstractmethod
    def start_at(self, coef: FloatArray, intercept: float | None = None) -> State:
        """Given coefficients, with the noise around the labels as given.

        Without an intercept the one that makes the residuals zero on average is taken.
        """

    @abstractmethod
    def start_squares(self, start: State) -> "StartSquares":
        """Sums of squares that the noise of a start is computed from."""

    @abstractmethod
    def noise_scale(self, sum_of_squares: float) -> float:
        """Noise from a sum of squares, with the degrees of freedom that coefficients leave."""

    @abstractmethod
    def sample_groups(self, n_rows: int) -> Problem:
        """A sample of whole groups of about `n_rows` rows."""

    def given_start(self, coef: FloatArray) -> State:
        """Start from given coefficients with the noise that belongs to them.

        The noise around the labels as they happen to stand would be too large, and that around the
        best match is too small wherever rows can exchange labels. However labels stand, inside
        their group they vary by what the fitted values vary and by the noise.
        """
        start = self.start_at(coef)
        squares = self.start_squares(start)
        noise, excess = self.noise_scale(squares.matched), squares.labels - squares.fitted
        if excess > 0.0:
            noise = max(noise, math.sqrt(excess / (self.n_movable - self.n_blocks)))
        return start._replace(noise_scale=noise)

    def place(self, state: State, seed: int) -> State:
        """Draw the labels of a start near the posterior, where they are kept."""
        return state

    def carry(self, before: State, after: State) -> State:
        """Adapt what is kept per row to a move from `before` to `after`."""
        return after
