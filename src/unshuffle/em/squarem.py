"""Longer steps for EM: squared extrapolation (SQUAREM; Varadhan & Roland 2008) with a way back.

EM covers in each iteration the share of the remaining way that the information left makes up, which
is little where the order is lost inside large groups. Three successive points tell how the
steps shrink, and so where they lead: with ``r = θ₁ - θ₀``, ``v = θ₂ - 2 θ₁ + θ₀`` and
``a = ‖r‖ / ‖v‖`` the leap goes to ``θ₀ + 2 a r + a² v``. Points are means over windows of
iterations, so that the scatter of a chain is not taken for a direction; when their distance drowns
in that scatter there are no more leaps. A leap from which EM comes back behind its beginning is
undone.
"""

import math
from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .loop import Step

LONGEST = 12.0  # of the factor a: a leap of at most about its square in steps
CLEAR = 3.0  # standard errors of a window's mean that a movement must exceed


class _Point(NamedTuple):
    values: FloatArray  # coefficients, intercept, log noise, logit of the rate of mismatches


class Leaps:
    """Called after each iteration; returns the state to go on from.

    Parameters
    ----------
    problem, solver : the fit
    window : int
        Iterations to a point: 1 for deterministic alignments.
    with_rate : bool
        Whether the rate of mismatches is estimated and leaps along.
    """

    def __init__(
        self, problem: Problem, solver: LeastSquares, window: int, *, with_rate: bool
    ) -> None:
        self.problem, self.solver, self.window = problem, solver, window
        self._with_rate = with_rate
        self._points: list[_Point] = []
        self._before: State | None = None
        self._longest = LONGEST
        self.n_leaps = 0

    def __call__(self, steps: list[Step], before: State, state: State) -> State:
        """Leap, go back, or go on as EM does."""
        point = self._point(state)
        if self._before is not None:
            return self._check(point, state)
        self._points.append(point)
        w = self.window
        if len(self._points) < 3 * w:
            return state
        values = np.array([p.values for p in self._points])
        start, middle, end = (values[k * w : (k + 1) * w].mean(axis=0) for k in range(3))
        first, bend = middle - start, end - 2.0 * middle + start
        self._points = self._points[w:] if w > 1 else []
        scatter = self._length_of_scatter(values, state) if w > 1 else 0.0
        if self._length(end - middle, state) <= CLEAR * scatter:
            return state
        length = self._length(bend, state)
        factor = self._length(first, state) / length if length > 0.0 else self._longest
        factor = min(factor, self._longest)
        if factor <= 1.0:
            return state
        self._points = []
        self._before = state
        self.n_leaps += 1
        return self._state(start + 2.0 * factor * first + factor**2 * bend, state)

    def _check(self, point: _Point, state: State) -> State:
        """The first iteration after a leap: is it still ahead of where the leap began?

        The way back may be long, since a leap keeps no balance between the parameters, but it must
        not lead behind its beginning.
        """
        before, self._before = self._before, None
        assert before is not None
        origin = self._point(before).values
        ahead, leapt = point.values - origin, self._landed - origin
        if self._length(ahead + leapt, state) >= self._length(ahead - leapt, state):
            self._points = [point]
            return state
        self._longest = max(1.0, 0.5 * self._longest)
        return before._replace(perm=state.perm)

    def _point(self, state: State) -> _Point:
        rate = min(max(state.mismatch_rate, 1e-4), 1.0 - 1e-4) if self._with_rate else 0.5
        tail = [state.intercept, math.log(state.noise_scale), math.log(rate / (1.0 - rate))]
        return _Point(np.concatenate([state.coef, tail]))

    def _state(self, values: FloatArray, state: State) -> State:
        coef, intercept = values[:-3], float(values[-3])
        # Noise and rate may move by a factor of two in one leap, whatever the steps promise.
        change = min(max(float(values[-2]) - math.log(state.noise_scale), -0.7), 0.7)
        noise = state.noise_scale * math.exp(change)
        rate = state.mismatch_rate
        if self._with_rate:
            rate = 1.0 / (1.0 + math.exp(-float(values[-1])))
            rate = min(max(rate, 0.5 * state.mismatch_rate), 2.0 * state.mismatch_rate, 0.99)
        fitted = self.problem.arrange(self.solver.predict(coef, intercept))
        leapt = state._replace(
            coef=coef, intercept=intercept, fitted=fitted, noise_scale=noise, mismatch_rate=rate
        )
        self._landed = self._point(leapt).values
        return leapt

    def _length(self, change: FloatArray, state: State) -> float:
        """Norm of a change, in standard errors of a fit with known order."""
        coef = self.solver.length(change[:-3]) / state.noise_scale
        noise = math.sqrt(2.0 * self.problem.n_rows) * float(change[-2])
        return math.hypot(coef, noise)

    def _length_of_scatter(self, values: FloatArray, state: State) -> float:
        """Standard error of the difference of two windows' means, from second differences."""
        jumps = values[2:] - 2.0 * values[1:-1] + values[:-2]
        typical = math.sqrt(np.mean([self._length(jump, state) ** 2 for jump in jumps]) / 6.0)
        return typical * math.sqrt(2.0 / self.window)
