"""Rates of mismatches as a user gives them: a number, an audit, or one of either per stratum."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..data.groups import encode_groups
from ..inference.audited_rate import Audit
from ..inference.moments import Exchange, make_exchange
from ..kernels.types import FloatArray, IntArray


def exchange_of(
    rate: Any, n_rows: int, groups: Any, strata: Any, match_prob: FloatArray | None
) -> Exchange:
    """Who may hold whose label, from what `fit` was given."""
    blocks = encode_groups(groups, n_rows)
    if match_prob is not None:
        nobody = np.full(n_rows, -1, dtype=np.int64)
        return make_exchange(blocks, 1.0 - match_prob, nobody, np.empty(0))
    if rate is None:
        raise ValueError(
            "there is no rate of mismatches: give mismatch_rate (a number, Audit(checked, wrong), "
            "or one of them per group), or fit(..., match_prob=...)"
        )
    if not isinstance(rate, Mapping):
        if strata is not None:
            raise ValueError(
                "strata are for a mismatch_rate per stratum, such as {'a': 0.1, 'b': Audit(200, 9)}"
            )
        codes: IntArray = np.zeros(n_rows, dtype=np.int64)
        value, variance = _rate(rate, "mismatch_rate")
        return make_exchange(blocks, np.full(n_rows, value), codes, np.array([variance]))
    given, name = (groups, "groups") if strata is None else (strata, "strata")
    if given is None:
        raise ValueError(
            "a mismatch_rate per stratum needs the stratum of each row: give groups or strata"
        )
    codes = encode_groups(given, n_rows, name)
    names = stratum_names(given, codes)
    missing = [stratum for stratum in names if stratum not in rate]
    if missing:
        shown = ", ".join(repr(stratum) for stratum in missing[:5])
        more = ", ..." if len(missing) > 5 else ""
        raise ValueError(
            f"mismatch_rate has no rate for {len(missing)} of {len(names)} {name}: {shown}{more}; "
            "every stratum needs a rate or an audit"
        )
    found = [_rate(rate[stratum], f"mismatch_rate[{stratum!r}]") for stratum in names]
    rates, variances = np.array(found).T
    return make_exchange(blocks, rates[codes], codes, variances)


def one_rate(rate: Any, match_prob: Any, strata: Any) -> tuple[float, float]:
    """The rate of all rows and its variance, for data that are read in passes."""
    if match_prob is not None or strata is not None or rate is None or isinstance(rate, Mapping):
        raise ValueError(
            "data that are read in passes have one rate of mismatches: give mismatch_rate a number "
            "or an Audit, without match_prob and strata, or fit a sample in memory"
        )
    return _rate(rate, "mismatch_rate")


def stratum_names(given: Any, codes: IntArray) -> list[Any]:
    """Name of each stratum in the order of the codes, as Python objects."""
    plain = given.tolist() if hasattr(given, "tolist") else list(given)
    _, first = np.unique(codes, return_index=True)
    return [plain[row] for row in first]


def _rate(value: Any, name: str) -> tuple[float, float]:
    """A rate and its variance."""
    if isinstance(value, Audit):
        rate, variance = value.rate, value.variance
    elif isinstance(value, Real) and not isinstance(value, bool):
        rate, variance = float(value), 0.0
    else:
        raise ValueError(f"{name} must be a number or an Audit, got {value!r}")
    if not 0.0 <= rate < 1.0:
        raise ValueError(f"{name} must be at least 0 and below 1, got {rate:g}")
    return rate, variance
