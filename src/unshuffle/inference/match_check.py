"""The check of a match model: do the data show who is mismatched?"""

import numpy as np

from ..io.visible import visible
from .match_model import MatchModel
from .verdict import Reason

MOST_SHOWN = 4  # clues that the text of a reason names


def match_model(found: MatchModel) -> Reason:
    """Are the coefficients of the clues determined by the data, and within their bound?"""
    value, limit = float(len(found.held)), 1.0
    name = "match model"
    if found.at_bound:
        return Reason(
            "caution", name, found.mismatch_rate, found.mismatch_rate,
            f"The bound on the rate of mismatches ({found.mismatch_rate:.3g}) decides the match "
            "model",
            "check the bound mismatch_rate_max, or whether odd labels are taken for mismatches",
        )  # fmt: skip
    if found.held:
        return Reason(
            "caution", name, value, limit,
            f"Only a weak ridge keeps the match model finite in {_listed(found.held)}",
            "the clues predict mismatches perfectly, or there are hardly any: read the sign of "
            "these coefficients, not their size",
        )  # fmt: skip
    return Reason("trust", name, value, limit, f"The match model is determined: {_clues(found)}")


def _clues(found: MatchModel) -> str:
    """The clues with the largest coefficients in units of their standard errors."""
    errors = found.standard_errors
    size = np.abs(found.coef[1:]) / np.where(errors[1:] > 0.0, errors[1:], np.inf)
    chosen = sorted(1 + np.argsort(-size, kind="stable")[:MOST_SHOWN])
    shown = [f"{visible(found.names[j])} {found.coef[j]:.3g} (se {errors[j]:.2g})" for j in chosen]
    more = len(found.names) - 1 - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(visible(name) for name in names[:MOST_SHOWN])
