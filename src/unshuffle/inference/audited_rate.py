"""A rate of mismatches that comes from links somebody has checked."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np


@dataclass(frozen=True)
class Audit:
    r"""Links drawn at random and checked: how many, and how many of them were wrong.

    Given as `mismatch_rate` it stands for the rate ``wrong / checked`` with its binomial standard
    error, which enters the standard errors of the coefficients.

    Parameters
    ----------
    checked : int
        Links that were checked, drawn at random from all links (or from all of a stratum).
    wrong : int
        Those among them that were wrong.

    Attributes
    ----------
    rate : float
        Share of wrong links.
    variance, standard_error : float
        Of the rate, binomial. Where none or all of the checked links were wrong, half a wrong link
        is added first, since no audit is free of error.

    Examples
    --------
    >>> from unshuffle import Audit
    >>> audit = Audit(checked=300, wrong=21)
    >>> print(f"{audit.rate:.3f} (se {audit.standard_error:.3f})")
    0.070 (se 0.015)
    """

    checked: int
    wrong: int

    def __post_init__(self) -> None:
        for name in ("checked", "wrong"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise ValueError(
                    f"an audit counts links: {name} must be a whole number, got {value!r}"
                )
        if self.checked < 1:
            raise ValueError(
                f"an audit needs at least one checked link, got checked={self.checked}"
            )
        if not 0 <= self.wrong <= self.checked:
            raise ValueError(
                f"wrong must lie between 0 and checked={self.checked}, got {self.wrong}; it counts "
                "the checked links that were wrong"
            )

    @property
    def rate(self) -> float:
        """Share of wrong links."""
        return int(self.wrong) / int(self.checked)

    @property
    def interior_rate(self) -> float:
        """The rate, moved off 0 and 1 by half a link: for models that need some of either kind."""
        if 0 < self.wrong < self.checked:
            return self.rate
        return (int(self.wrong) + 0.5) / (int(self.checked) + 1.0)

    @property
    def variance(self) -> float:
        """Of the rate."""
        rate = self.interior_rate
        return rate * (1.0 - rate) / int(self.checked)

    @property
    def standard_error(self) -> float:
        """Of the rate."""
        return float(np.sqrt(self.variance))

    def repeated(self, generator: np.random.Generator) -> "Audit":
        """Another audit of as many links, drawn at the rate of this one."""
        checked = int(self.checked)
        return Audit(checked, int(generator.binomial(checked, self.interior_rate)))


def parse_audit(text: str) -> Audit:
    """An audit written as ``wrong/checked``, such as 21/300."""
    wrong, slash, checked = text.partition("/")
    if not slash or not (wrong.strip().isdecimal() and checked.strip().isdecimal()):
        raise ValueError(
            f"an audit is written as wrong/checked, such as 21/300 for 21 wrong links among 300 "
            f"checked ones; got {text!r}"
        )
    return Audit(int(checked), int(wrong))
