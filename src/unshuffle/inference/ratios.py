"""Coefficients of logs as ratios: odds ratios, rate ratios, hazard ratios."""

import numpy as np

from ..kernels.types import FloatArray
from .intervals import Estimates


class Ratios(Estimates):
    """Exponentials of coefficients; tests and intervals are those of the coefficients.

    Standard errors are those of the delta method, the error of a coefficient times its ratio.
    """

    def _logs(self) -> Estimates:
        return Estimates(np.log(self.values), self.standard_errors / self.values, self.freedom)

    def t_values(self) -> FloatArray:
        """Coefficients in units of their standard errors."""
        return self._logs().t_values()

    def interval(self, level: float) -> FloatArray:
        """Exponentials of the ends of the coefficients' intervals, shape (k, 2)."""
        ends: FloatArray = np.exp(self._logs().interval(level))
        return ends


def as_ratios(found: Estimates) -> Ratios:
    """Exponentials of coefficients with their errors."""
    ratios = np.exp(found.values)
    return Ratios(ratios, found.standard_errors * ratios, found.freedom)
