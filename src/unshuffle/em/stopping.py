"""When EM stops."""

import math

import numpy as np

from .loop import Step
from .table import Expected, IteratedTable


def never(steps: list[Step]) -> bool:
    """Run all iterations."""
    return False


def stop_without_gain(steps: list[Step]) -> bool:
    """Stop when the objective no longer falls: the end of a deterministic descent."""
    if len(steps) < 2:
        return False
    before, now = steps[-2].objective, steps[-1].objective
    return before - now <= 1e-12 * abs(before)


class StopWhenStable:
    """Stop when averages over two successive windows of iterations agree.

    Single iterates of a sampled EM keep moving by the error of the chain; their averages do not.
    Distances are in standard errors of a fit with known order: ``s √p`` for the fitted values
    (their norm), ``s / √(2n)`` for the noise. A chain too short for the tolerance stops when
    the averages differ by no more than its own scatter.
    """

    def __init__(self, table: IteratedTable[Expected], tol: float, window: int) -> None:
        self.solver, self.tol, self.window = table.solver, tol, window
        self._noise_error = (2 * table.n_rows) ** -0.5

    def __call__(self, steps: list[Step]) -> bool:
        """Compare the last window with the one before."""
        w = self.window
        if len(steps) < 2 * w:
            return False
        last, before = steps[-w:], steps[-2 * w : -w]
        noise = float(np.mean([s.noise_scale for s in last]))
        noise_moved = abs(noise - float(np.mean([s.noise_scale for s in before])))
        coef_moved = np.mean([s.coef for s in last], axis=0)
        coef_moved -= np.mean([s.coef for s in before], axis=0)
        unit = self.tol * noise
        coef_unit, noise_unit = unit * self.solver.n_parameters**0.5, unit * self._noise_error
        noise_scatter = float(np.std([s.noise_scale for s in last], ddof=1))
        # The distance of two iterates is √2 times the distance of one from its mean.
        coef_scatter = float(
            np.mean([self.solver.length(s.coef - last[0].coef) for s in last[1:]]) / math.sqrt(2.0)
        )
        return bool(
            noise_moved <= self._limit(noise_unit, noise_scatter)
            and self.solver.length(coef_moved) <= self._limit(coef_unit, coef_scatter)
        )

    def _limit(self, unit: float, scatter: float) -> float:
        """The tolerance, or what the scatter of the iterates hides, up to five times as much.

        The means of two windows differ by √(2/w) times the scatter of single iterates. A trend
        as large as the scatter moves the means by several times that and is still seen.
        """
        return max(unit, min(2.0 * math.sqrt(2.0 / self.window) * scatter, 5.0 * unit))
