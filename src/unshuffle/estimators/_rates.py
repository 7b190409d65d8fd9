"""Rates of mismatches as a user gives them: a number, an audit, or one of either per stratum."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from ..data.groups import encode_groups
from ..inference.audited_rate import Audit
from ..inference.moments import Exchange, make_exchange
from ..inference.stratum_rates import StratumRates
from ..kernels.types import FloatArray, IntArray

# Rates that a likelihood fit takes besides its own words for them.
GIVEN_RATES = (Interval(Real, 0, 1, closed="neither"), Audit, Mapping)
ONLY_FOR_MAPPINGS = (
    "strata are for a mismatch_rate per stratum, such as {'a': 0.1, 'b': Audit(200, 9)}"
)


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
            raise ValueError(ONLY_FOR_MAPPINGS)
        codes: IntArray = np.zeros(n_rows, dtype=np.int64)
        value, variance = _rate(rate, "mismatch_rate")
        return make_exchange(blocks, np.full(n_rows, value), codes, np.array([variance]))
    codes, names = _strata_of(rate, n_rows, groups, strata)
    found = [_rate(rate[stratum], f"mismatch_rate[{stratum!r}]") for stratum in names]
    rates, variances = np.array(found).T
    return make_exchange(blocks, rates[codes], codes, variances)


def family_rate(rate: Any) -> dict[str, Any]:
    """Settings of a fit of a family for a rate, a word for one, or an audit."""
    if isinstance(rate, Audit):
        return {"mismatch_rate": rate.interior_rate, "audit": rate}
    return {"mismatch_rate": None if rate is None or isinstance(rate, str) else rate}


class GivenStrata(NamedTuple):
    """A mapping of rates, and the stratum of each row (None: its group)."""

    rates: Mapping[Any, Any]
    strata: Any


def given_strata(rate: Any, strata: Any, match_prob: Any, **others: Any) -> Any:
    """What stands for `match_prob` in a likelihood fit: rates per stratum, or what was given.

    Rates per stratum take the place of match probabilities and exclude `others`.
    """
    if not isinstance(rate, Mapping):
        if strata is not None:
            raise ValueError(ONLY_FOR_MAPPINGS)
        return match_prob
    given = {"match_prob": match_prob, **others}
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise ValueError(
            f"a mismatch_rate per stratum gives every row its probability of a match, and so does "
            f"{wrong[0]}; leave out one of the two"
        )
    return GivenStrata(rate, strata)


def stratum_rates(given: Mapping[Any, Any], n_rows: int, groups: Any, strata: Any) -> StratumRates:
    """The rates of all strata, those of an audit moved off 0 and 1."""
    codes, names = _strata_of(given, n_rows, groups, strata)
    rates, errors = np.empty(len(names)), np.zeros(len(names))
    for k, stratum in enumerate(names):
        value = given[stratum]
        if isinstance(value, Audit):
            rates[k], errors[k] = value.interior_rate, value.standard_error
        else:
            rates[k], _ = _rate(value, f"mismatch_rate[{stratum!r}]")
    return StratumRates(codes, rates, errors)


def _strata_of(
    rate: Mapping[Any, Any], n_rows: int, groups: Any, strata: Any
) -> tuple[IntArray, list[Any]]:
    """Number of the stratum of each row, and the names of all strata; each needs a rate."""
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
    return codes, names


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
        audited = isinstance(value, Audit)
        found = f"; all {value.checked} checked links were wrong: check more" if audited else ""
        raise ValueError(f"{name} must be at least 0 and below 1, got {rate:g}{found}")
    return rate, variance
