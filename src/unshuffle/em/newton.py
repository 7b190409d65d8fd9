r"""Newton's steps for EM where the order is lost inside many groups.

An EM step is the score times the inverse of the complete-data information, which is more
than the data hold: in every direction it covers only the fraction of the distance that equals the
fraction of the information kept, and where groups are large that is little. The step to take is
the EM step times the *gain*

.. math::

    G = I_{\mathrm{observed}}^{-1} I_{\mathrm{complete}},

and the observed information (Louis' formula) is known well enough from a sample of the groups, on
which EM runs first. The first iteration stays where the sample led, until the chain has reached the
posterior there. Then steps are full, and later shorter and shorter, so that the points approach an
average of Newton points instead of following the Monte Carlo error of the chain.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..kernels.types import FloatArray
from .loop import Step, Stop
from .settings import DEFAULTS, NewtonSettings
from .table import Expected, Table


def values_of(state: State | Step) -> FloatArray:
    """Coefficients, and the logarithm of the noise."""
    return np.append(state.coef, math.log(state.noise_scale))


class NewtonPath(NamedTuple):
    """Where Newton's method led.

    Attributes
    ----------
    here : array of shape (d + 1,)
        Where the next iteration is evaluated.
    points : array of shape (k, d + 1)
        Where each iteration pointed to, once steps are averaged.
    diverged : bool
        Whether a step grew out of proportion; from then on EM continues alone.
    """

    here: FloatArray
    points: FloatArray
    diverged: bool


class Newton:
    """Newton's method from a start; all that it knows of the data comes through EM's steps.

    Parameters
    ----------
    start : State
    gain : array of shape (d + 1, d + 1)
    lag : float
        Share of a step to take.
    table : Table
    """

    def __init__(
        self,
        start: State,
        gain: FloatArray,
        lag: float,
        table: Table[Expected],
        settings: NewtonSettings = DEFAULTS.newton,
    ) -> None:
        self.start, self.gain, self.settings = start, lag * gain, settings
        self.solver = table.solver
        coef = start.noise_scale**2 * float(np.trace(gain[:-1, :-1]))
        # Variances of the estimates: of fitted values, summed over directions, and of log noise.
        self.variances = np.array([coef, float(gain[-1, -1]) / (2.0 * table.n_rows)])

    def follow(self, steps: list[Step]) -> NewtonPath:
        """Follow the iterations from the start, `steps` being EM's answers."""
        settings, most = self.settings, self.settings.largest_log_change
        here, points, first, diverged = values_of(self.start), [], 0.0, False
        for k, step in enumerate(steps, start=1):
            after = values_of(step)
            move = self.gain @ (after - here)
            length = float(np.max(self.squares(move) / self.variances))
            waited = k - settings.waiting_steps
            if waited == 1:
                first = length
            limit = settings.divergence * max(first, settings.far)
            diverged = diverged or (waited > 1 and length > limit)
            if diverged:
                here = after
            elif waited > 0:
                weight = 1.0 / (1 + max(waited - settings.full_steps, 0))
                if waited > settings.full_steps:
                    points.append(here + move)
                move[-1] = min(max(move[-1], -most), most)
                here = here + weight * move
        return NewtonPath(here, np.array(points), diverged)

    def squares(self, change: FloatArray) -> FloatArray:
        """Squared lengths of a change: of fitted values, and of the logarithm of the noise."""
        return np.array([self.solver.length(change[:-1]) ** 2, float(change[-1]) ** 2])

    def added(self, points: FloatArray) -> FloatArray:
        """Monte Carlo variance of the average, as shares of the variances of the estimates."""
        centre, n = points.mean(axis=0), len(points)
        spread = np.sum([self.squares(point - centre) for point in points], axis=0)
        added: FloatArray = self.settings.correlation * spread / ((n - 1) * n) / self.variances
        return added


class StopOnAverage:
    """Stop when the average of Newton's points is known well enough.

    Every point is an estimate by itself, and only the Monte Carlo error of the chain makes them
    differ. Their average is good when its Monte Carlo variance is a small part of the variance that
    the estimate has anyway, and when their later half agrees with the earlier. The standard errors
    include it. Where Newton's method diverged, EM stops as it does elsewhere.
    """

    def __init__(self, newton: Newton, tol: float, otherwise: Stop) -> None:
        self.newton, self._otherwise = newton, otherwise
        coef = (newton.settings.variance_share * tol) ** 2
        self._most = np.array([coef, newton.settings.noise_variance_share * coef])

    def __call__(self, steps: list[Step]) -> bool:
        """Look at all points so far."""
        newton, path = self.newton, self.newton.follow(steps)
        if path.diverged:
            return self._otherwise(steps)
        points = path.points
        if len(points) < newton.settings.fewest_points:
            return False
        half, added = len(points) // 2, newton.added(points)
        apart = newton.squares(points[half:].mean(axis=0) - points[:half].mean(axis=0))
        agree = apart <= newton.settings.largest_disagreement * 4.0 * added * newton.variances
        return bool(np.all(agree) and np.all(added <= self._most))

    def added(self, steps: list[Step]) -> FloatArray:
        """Monte Carlo variance of the estimates, as shares of their variances; shape (2,)."""
        path = self.newton.follow(steps)
        return np.zeros(2) if path.diverged else self.newton.added(path.points)


class NewtonAcceleration:
    """Called after each iteration; returns the state of the next one.

    Parameters
    ----------
    table : Table
    newton : Newton
    record : callable, optional
        Called with the states of late iterations: the coefficients hardly move by then, so that
        they serve as snapshots for the information.
    """

    def __init__(
        self,
        table: Table[Expected],
        newton: Newton,
        record: Callable[[State], None] | None = None,
    ) -> None:
        self.table, self.newton, self._record = table, newton, record

    def __call__(self, steps: list[Step], before: State, after: State) -> State:
        """Go where Newton's method would, or part of the way."""
        settings, centre = self.newton.settings, self.table.solver.centre
        late = len(steps) > settings.waiting_steps + settings.full_steps
        if late and self._record is not None:
            self._record(after)
        here = self.newton.follow(steps).here
        coef, noise = here[:-1], math.exp(float(here[-1]))
        # The mean of the labels stays where it is.
        intercept = after.intercept + float(centre @ (after.coef - coef))
        moved = self.table.move(after, coef, intercept, noise_scale=noise)
        return moved if late else self.table.carry(before, moved)  # short steps change no order
