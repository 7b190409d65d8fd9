"""Rates of mismatches of strata, each known or audited."""

from dataclasses import dataclass, replace

import numpy as np

from ..kernels.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class StratumRates:
    """One rate per stratum.

    Attributes
    ----------
    codes : array of shape (n,)
        Stratum of each row.
    rates, errors : arrays of shape (n_strata,)
        Rate of mismatches, and its standard error by the audit; 0 for a rate that is known.
    """

    codes: IntArray
    rates: FloatArray
    errors: FloatArray

    @property
    def match_prob(self) -> FloatArray:
        """Probability that the label beside each row is its own."""
        return np.asarray(1.0 - self.rates[self.codes])

    @property
    def standard_error(self) -> float:
        """Of the rate of all rows; audits of different strata are independent."""
        shares = np.bincount(self.codes, minlength=len(self.rates)) / max(len(self.codes), 1)
        return float(np.sqrt(np.sum((shares * self.errors) ** 2)))

    @property
    def audited(self) -> IntArray:
        """Numbers of the strata whose rate is not known exactly."""
        return np.flatnonzero(self.errors > 0.0)

    def arranged(self, order: IntArray | None) -> "StratumRates":
        """The same with the rows in another order."""
        return self if order is None else replace(self, codes=self.codes[order])

    def with_rate(self, stratum: int, rate: float) -> "StratumRates":
        """The same with another rate in one stratum."""
        rates = self.rates.copy()
        rates[stratum] = rate
        return replace(self, rates=rates)
