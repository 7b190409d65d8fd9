"""A table read in passes: each iteration sends O(d) numbers to every part and gets O(d) back.

The E-step keeps nothing from one iteration to the next: the answer of a part is a function of its
rows, the coefficients, the seed and the number of the iteration. Sums are exact, so the
answer does not depend on how the rows are cut into parts, in which order they come, or on which
machine each of them is.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..alignment.density import tabulate_density
from ..alignment.state import State
from ..data import passes
from ..data.passes import SampledBlocks
from ..data.problem import Problem
from ..data.survey import Parts, Survey, add_up, exponents_above
from ..families.normal import NORMAL
from ..families.normal_equations import NormalEquations
from ..kernels.block_em import PassModel
from ..kernels.exact_sum import exponent_above
from ..kernels.sweep_blocks import Plan
from ..kernels.types import BoolArray, FloatArray, IntArray
from .settings import RestartSettings
from .table import StartSquares, Table

# Bounds are computed with rounding; this is more than it can amount to.
SLACK = 1.001
ORDER_LOST = -1.0  # the rate of mismatches that stands for the uniform prior in a kernel


@dataclass(frozen=True)
class PassSettings:
    """The chain of one pass.

    Attributes
    ----------
    seed : int
    plan : Plan
        Sweeps of each block.
    temper : float
        Factor of the noise in the E-step.
    estimates : bool
        Whether the rate of mismatches follows the data.
    """

    seed: int
    plan: Plan
    temper: float
    estimates: bool


LARGEST_EXPONENT = 1000  # of two in a sum that is added up exactly


class ExpectedSums(NamedTuple):
    """Sums over all rows after an E-step at `state`; r is the expected label less the fitted value.

    Attributes
    ----------
    gradient : array of shape (d,)
        ``Σ (x - centre) r``.
    residual_sum, residual_ss, label_ss : float
        ``Σ r``, ``Σ r²`` and the sum of squares of the expected labels.
    mismatched_share, acceptance_rate : float
    """

    state: State
    gradient: FloatArray
    residual_sum: float
    residual_ss: float
    label_ss: float
    mismatched_share: float
    acceptance_rate: float


class SampledRows(NamedTuple):
    """A sample of rows with their labels as given, in the order of the table."""

    X: FloatArray
    y: FloatArray
    pinned: BoolArray


class PassesTable(Table[ExpectedSums]):
    """Parts of a table, and what the first passes learnt of it.

    Parameters
    ----------
    parts : Parts
    facts : Survey
    solver : NormalEquations
    settings : PassSettings
    """

    solver: NormalEquations

    def __init__(
        self, parts: Parts, facts: Survey, solver: NormalEquations, settings: PassSettings
    ) -> None:
        self.parts, self.facts, self.solver, self.settings = parts, facts, solver, settings
        self.n_rows, self.n_movable = facts.n_rows, facts.n_movable
        self.n_blocks, self.restarts = facts.n_blocks, True
        self._density = (0.0, 1.0, 0.0, 0.0, np.ones(2))

    def align(self, state: State, stream: int) -> ExpectedSums:
        """Ask every part at `state`."""
        facts, settings, d = self.facts, self.settings, len(state.coef)
        exponents = self._exponents(state)
        answers = self.parts.map(
            passes.align,
            self._model(state),
            settings.seed,
            stream,
            exponents,
            name=f"iteration-{stream + 1}",
        )
        values, _ = add_up(answers, exponents)
        proposed = sum(each.proposed for each in answers)
        accepted = sum(each.accepted for each in answers)
        own = values[d + 3] / facts.n_movable if facts.n_movable else 1.0
        return ExpectedSums(
            state,
            values[:d],
            float(values[d]),
            float(values[d + 1]),
            float(values[d + 2]),
            1.0 - float(own),
            accepted / proposed if proposed else float("nan"),
        )

    def solve(self, expected: ExpectedSums) -> State:
        """Coefficients and noise from the sums of an E-step."""
        facts, solver, state = self.facts, self.solver, expected.state
        coef = solver.improve(state.coef, expected.gradient)
        mean = expected.residual_sum / facts.n_rows if solver.fit_intercept else 0.0
        residual_ss = expected.residual_ss - facts.n_rows * mean**2
        loss = solver.loss(residual_ss, expected.gradient, coef - state.coef)
        spread = max(facts.label_ss - expected.label_ss, 0.0)
        rate = expected.mismatched_share if self.settings.estimates else state.mismatch_rate
        return self.state_at(coef, self._at_centre(state) + mean, loss + spread, rate)

    def state_at(
        self, coef: FloatArray, at_centre: float, objective: float, rate: float = float("nan")
    ) -> State:
        """The state with given coefficients, fitted value at the centre, and sum of squares."""
        noise = self.noise_scale(objective)
        return State(coef, at_centre - float(self.facts.centre @ coef), noise, objective, rate)

    def ordinary_start(self) -> State:
        """Least squares on the labels as given."""
        return self.state_at(*self.least_squares(self.solver))

    def least_squares(self, solver: NormalEquations) -> tuple[FloatArray, float, float]:
        """Coefficients, fitted value at the centre and sum of squares for the labels as given."""
        facts = self.facts
        coef = solver.improve(np.zeros(len(facts.centre)), facts.moments)
        loss = solver.loss(self._label_ss, facts.moments, coef)
        return coef, self._label_mean, loss

    def start_at(self, coef: FloatArray, intercept: float | None = None) -> State:
        """Given coefficients, with the noise around the labels as given."""
        facts = self.facts
        at_centre = self._label_mean
        if intercept is not None:
            at_centre = intercept + float(facts.centre @ coef)
        loss = self.solver.loss(self._label_ss, facts.moments, coef)
        loss += facts.n_rows * (at_centre - self._label_mean) ** 2
        return self.state_at(coef, at_centre, loss)

    def start_squares(self, start: State) -> StartSquares:
        """Sums of squares that the noise of a start is computed from: one pass."""
        residual = exponent_above(self._largest_residual(start))
        label = exponent_above(2.0 * SLACK * float(self.facts.reach[-1]))
        spread = float(np.abs(start.coef) @ self.facts.reach[:-1])
        fitted = exponent_above(2.0 * SLACK * max(spread, np.finfo(float).tiny))
        exponents = 2 * np.array([residual, label, fitted], dtype=np.int64)
        model = self._model(start)
        answers = self.parts.map(passes.start_squares, model, exponents, name="start")
        return StartSquares(*(float(value) for value in add_up(answers, exponents)[0]))

    def noise_scale(self, sum_of_squares: float) -> float:
        """Noise from a sum of squares."""
        freedom = self.n_rows - self.solver.n_parameters
        spread = math.sqrt(self.facts.label_ss / self.n_rows)
        return NORMAL.noise_scale(sum_of_squares, freedom, spread)

    def sample_rows(self, settings: RestartSettings) -> SampledRows:
        """A sample of rows, and the density of their labels, which later E-steps use."""
        share = min(1.0, settings.robust_rows / self.facts.n_rows)
        pieces = self.parts.map(passes.sample, share, name="sample")
        order = np.argsort(np.concatenate([piece.numbers for piece in pieces]))
        y = np.concatenate([piece.y for piece in pieces])[order]
        density = tabulate_density(y)
        heights = np.maximum(density.heights, density.floor)
        step = float(density.grid[1] - density.grid[0])
        self._density = (float(density.grid[0]), step, density.low, density.high, heights)
        return SampledRows(
            np.concatenate([piece.X for piece in pieces])[order],
            y,
            np.concatenate([piece.pinned for piece in pieces])[order],
        )

    def sample_groups(self, n_rows: int) -> Problem:
        """A sample of whole groups of about `n_rows` rows, whatever the partition."""
        share = n_rows / self.facts.n_movable
        return put_together(self.parts.map(passes.sample_blocks, share, name="sample"))

    def missing_information(
        self, state: State, stream: int, n_snapshots: int, sweeps_between: int
    ) -> FloatArray:
        """Covariance of the score over permutations, shape (rank + 2, rank + 2): one more pass."""
        facts, solver, d = self.facts, self.solver, len(state.coef)
        if not facts.n_blocks:
            return np.zeros((solver.rank + 2, solver.rank + 2))
        upper = np.triu_indices(d + 2)
        single = exponents_above(self._largest_scores(state))
        exponents = single[upper[0]] + single[upper[1]]
        if exponents.max() > LARGEST_EXPONENT:
            raise ValueError(
                "fourth powers of the residuals exceed the largest number of 64 bits (about "
                "1e308), so that there are no standard errors; give init, features and labels in "
                "units in which they are nearer to one"
            )
        answers = self.parts.map(
            passes.score_products,
            self._model(state),
            self.settings.seed,
            stream,
            n_snapshots,
            sweeps_between,
            exponents,
            name="standard-errors",
        )
        products = np.zeros((d + 2, d + 2))
        products[upper] = products.T[upper] = add_up(answers, exponents)[0] / (n_snapshots - 1)
        # From sums over columns to the score in an orthonormal basis.
        lead = np.zeros((solver.rank + 2, d + 2))
        lead[:-2, :d] = solver.to_coef.T / state.noise_scale**2
        lead[-2, d] = state.noise_scale**-2.0
        lead[-1, d + 1] = 1.0
        missing: FloatArray = lead @ products @ lead.T
        return missing

    @property
    def _label_mean(self) -> float:
        """Fitted value at the centre that makes the residuals zero on average."""
        return self.facts.label_centre if self.solver.fit_intercept else 0.0

    @property
    def _label_ss(self) -> float:
        """Sum of squares of the labels, around their mean where there is an intercept."""
        return self.facts.label_ss + self.n_rows * (self.facts.label_centre - self._label_mean) ** 2

    def _at_centre(self, state: State) -> float:
        """Fitted value at the centre of the columns."""
        return state.intercept + float(self.facts.centre @ state.coef)

    def _model(self, state: State) -> PassModel:
        """What is sent to every part."""
        rate = ORDER_LOST if math.isnan(state.mismatch_rate) else state.mismatch_rate
        return PassModel(
            state.coef, self.facts.centre, self._at_centre(state), self.facts.label_centre,
            state.noise_scale * self.settings.temper, rate, self.settings.plan, *self._density,
        )  # fmt: skip

    def _largest_residual(self, state: State) -> float:
        """A bound on every label less every fitted value at `state`."""
        facts = self.facts
        fitted = abs(self._at_centre(state) - facts.label_centre)
        fitted += float(np.abs(state.coef) @ facts.reach[:-1])
        return SLACK * (float(facts.reach[-1]) + fitted)

    def _largest_scores(self, state: State) -> FloatArray:
        """Bounds of a block's score; distances from a mean are at most twice as large."""
        m, residual = self.facts.largest_block, self._largest_residual(state)
        columns = m * self.facts.reach[:-1] * residual
        return 2.0 * SLACK * np.append(columns, [m * residual**2, float(m)])

    def _exponents(self, state: State) -> IntArray:
        """Powers of two above every term of an E-step at `state`."""
        residual = exponent_above(self._largest_residual(state))
        columns = exponents_above(self.facts.reach[:-1]) + residual
        label = exponent_above(SLACK * float(self.facts.reach[-1]))
        rest = [residual, 2 * residual, 2 * label, 1]
        return np.append(columns, np.array(rest, dtype=np.int64))


def put_together(pieces: list[SampledBlocks]) -> Problem:
    """One problem from the samples of all parts, in an order that does not depend on the cut."""
    edges = [np.cumsum(np.append(0, piece.sizes)) for piece in pieces]
    blocks = [
        (int(stream), number, k)
        for number, piece in enumerate(pieces)
        for k, stream in enumerate(piece.streams)
    ]
    rows = [
        (number, np.arange(edges[number][k], edges[number][k + 1]))
        for _, number, k in sorted(blocks)
    ]
    pinned = sorted(
        (int(row), number, int(edges[number][-1]) + k)
        for number, piece in enumerate(pieces)
        for k, row in enumerate(piece.pinned)
    )
    rows += [(number, np.array([place])) for _, number, place in pinned]
    X = np.concatenate([pieces[number].X[place] for number, place in rows])
    y = np.concatenate([pieces[number].y[place] for number, place in rows])
    sizes = [len(place) for _, place in rows[: len(blocks)]]
    starts = np.cumsum(np.append(0, sizes)).astype(np.int64)
    return Problem(X, y, starts, None, len(blocks) + len(pinned))
