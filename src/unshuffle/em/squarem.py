"""Longer steps for EM: squared extrapolation (SQUAREM; Varadhan & Roland 2008) with a check.

EM covers in each iteration the fraction of the remaining distance that equals the fraction of the
information kept, which is small where the order is lost inside large groups. Three successive
points show how the steps shrink, and so where they lead: with ``r = θ₁ - θ₀``,
``v = θ₂ - 2 θ₁ + θ₀`` and ``a = ‖r‖ / ‖v‖`` the extrapolation is ``θ₀ + 2 a r + a² v``. Points are
means over windows of iterations, so that the scatter of a chain is not taken for a direction; when
their distance is within that scatter there is no more extrapolation. One from which EM returns
behind its origin is undone.
"""

import math

import numpy as np

from ..alignment.state import State
from ..kernels.types import FloatArray
from .loop import Step
from .settings import DEFAULTS, SquaremSettings
from .table import Expected, IteratedTable


class SquaremAcceleration:
    """Called after each iteration; returns the state of the next one.

    Parameters
    ----------
    table : IteratedTable
    window : int
        Iterations to a point: 1 for deterministic alignments.
    with_rate : bool
        Whether the rate of mismatches is estimated and extrapolated as well.
    """

    def __init__(
        self,
        table: IteratedTable[Expected],
        window: int,
        *,
        with_rate: bool,
        settings: SquaremSettings = DEFAULTS.squarem,
    ) -> None:
        self.table, self.window, self.settings = table, window, settings
        self._with_rate = with_rate
        self._points: list[FloatArray] = []
        self._origin: State | None = None
        self._longest = settings.longest
        self.n_extrapolations = 0

    def __call__(self, steps: list[Step], before: State, state: State) -> State:
        """Extrapolate, go back, or go on as EM does."""
        point = self._point(state)
        if self._origin is not None:
            return self._check(point, state)
        self._points.append(point)
        w = self.window
        if len(self._points) < 3 * w:
            return state
        values = np.array(self._points)
        start, middle, end = (values[k * w : (k + 1) * w].mean(axis=0) for k in range(3))
        first, bend = middle - start, end - 2.0 * middle + start
        self._points = self._points[w:] if w > 1 else []
        scatter = self._length_of_scatter(values, state) if w > 1 else 0.0
        if self._length(end - middle, state) <= self.settings.clear * scatter:
            return state
        length = self._length(bend, state)
        factor = self._length(first, state) / length if length > 0.0 else self._longest
        factor = min(factor, self._longest)
        if factor <= 1.0:
            return state
        self._points = []
        self._origin = state
        self.n_extrapolations += 1
        return self._state(start + 2.0 * factor * first + factor**2 * bend, state)

    def _check(self, point: FloatArray, state: State) -> State:
        """The first iteration after an extrapolation: is it still ahead of the origin?

        The way back may be long, since an extrapolation keeps no balance between the parameters,
        but it must not lead behind its origin.
        """
        origin, self._origin = self._origin, None
        assert origin is not None
        there = self._point(origin)
        ahead, goal = point - there, self._goal - there
        if self._length(ahead + goal, state) >= self._length(ahead - goal, state):
            self._points = [point]
            return state
        self._longest = max(1.0, 0.5 * self._longest)
        return origin._replace(perm=state.perm)

    def _point(self, state: State) -> FloatArray:
        """Coefficients, intercept, log noise, logit of the rate of mismatches."""
        rate = min(max(state.mismatch_rate, 1e-4), 1.0 - 1e-4) if self._with_rate else 0.5
        tail = [state.intercept, math.log(state.noise_scale), math.log(rate / (1.0 - rate))]
        return np.concatenate([state.coef, tail])

    def _state(self, values: FloatArray, state: State) -> State:
        coef, intercept, most = values[:-3], float(values[-3]), self.settings.largest_log_change
        change = min(max(float(values[-2]) - math.log(state.noise_scale), -most), most)
        noise = state.noise_scale * math.exp(change)
        rate = state.mismatch_rate
        if self._with_rate:
            rate = 1.0 / (1.0 + math.exp(-float(values[-1])))
            rate = min(max(rate, 0.5 * state.mismatch_rate), 2.0 * state.mismatch_rate, 0.99)
        moved = self.table.move(state, coef, intercept, noise_scale=noise, mismatch_rate=rate)
        self._goal = self._point(moved)
        return moved

    def _length(self, change: FloatArray, state: State) -> float:
        """Norm of a change, in standard errors of a fit with known order."""
        coef = self.table.solver.length(change[:-3]) / state.noise_scale
        noise = math.sqrt(2.0 * self.table.n_rows) * float(change[-2])
        return math.hypot(coef, noise)

    def _length_of_scatter(self, values: FloatArray, state: State) -> float:
        """Standard error of the difference of two windows' means, from second differences."""
        jumps = values[2:] - 2.0 * values[1:-1] + values[:-2]
        typical = math.sqrt(np.mean([self._length(jump, state) ** 2 for jump in jumps]) / 6.0)
        return typical * math.sqrt(2.0 / self.window)
