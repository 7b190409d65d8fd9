"""From a covariance to standard errors, tests and intervals."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..kernels.types import FloatArray

MARGIN = 1e-6  # rates nearer to 0 or 1 are moved here, where their logit is finite


def check_level(level: float) -> None:
    """A share strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, such as 0.95; got {level}")


class Estimates(NamedTuple):
    """Coefficients with what is known of their error; intercept first where there is one.

    Attributes
    ----------
    values, standard_errors : arrays of shape (k,)
    freedom : int
        Rows less parameters: the degrees of freedom of the t-distribution.
    """

    values: FloatArray
    standard_errors: FloatArray
    freedom: int

    def known_errors(self) -> FloatArray:
        """Standard errors; nan for a coefficient of zero without error, as of a constant column."""
        undetermined = (self.values == 0.0) & (self.standard_errors == 0.0)
        return np.where(undetermined, np.nan, self.standard_errors)

    def t_values(self) -> FloatArray:
        """Estimates in units of their standard errors; nan where the error is zero."""
        errors = np.where(self.standard_errors > 0.0, self.standard_errors, np.nan)
        ratio: FloatArray = self.values / errors
        return ratio

    def p_values(self) -> FloatArray:
        """Two-sided probabilities of such estimates if the coefficient were zero."""
        from scipy.stats import t as student  # takes long to load, and refusals need none of it

        p: FloatArray = 2.0 * student.sf(np.abs(self.t_values()), self.freedom)
        return p

    def interval(self, level: float) -> FloatArray:
        """Lower and upper ends, shape (k, 2)."""
        from scipy.stats import t as student

        check_level(level)
        half = student.ppf(0.5 + 0.5 * level, self.freedom) * self.known_errors()
        return np.stack([self.values - half, self.values + half], axis=1)


def to_logit(share: FloatArray) -> FloatArray:
    """From shares to the whole line; 0 and 1 become large and stay finite."""
    inside = np.clip(share, MARGIN, 1.0 - MARGIN)
    value: FloatArray = np.log(inside / (1.0 - inside))
    return value


def from_logit(value: FloatArray) -> FloatArray:
    """From the whole line back to shares."""
    return np.asarray(expit(value))
