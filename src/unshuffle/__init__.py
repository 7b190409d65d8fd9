"""Regression when the pairing between rows and labels is lost, wholly or in part.

Importing the package loads nothing heavy; every public name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators._progress import Progress
    from .estimators.front_door import ShuffledRegressor
    from .estimators.hard import HardEMRegressor
    from .estimators.mixture import MixtureRegressor
    from .estimators.parquet import fit_parquet
    from .estimators.stochastic import StochasticEMRegressor
    from .estimators.streaming import Streaming
    from .exceptions import (
        MixingWarning,
        RankWarning,
        SchedulerLostError,
        UnidentifiableWarning,
        UnshuffleWarning,
    )
    from .inference.bootstrap import BootstrapResult
    from .inference.posterior import Posterior
    from .inference.verdict import Verdict
    from .kernels.warm_up import warm_up
    from .summary import Summary

__version__ = "0.1.0"

_HOMES = {
    "BootstrapResult": "inference.bootstrap",
    "HardEMRegressor": "estimators.hard",
    "MixingWarning": "exceptions",
    "MixtureRegressor": "estimators.mixture",
    "Posterior": "inference.posterior",
    "Progress": "estimators._progress",
    "ShuffledRegressor": "estimators.front_door",
    "StochasticEMRegressor": "estimators.stochastic",
    "RankWarning": "exceptions",
    "SchedulerLostError": "exceptions",
    "Streaming": "estimators.streaming",
    "Summary": "summary",
    "UnidentifiableWarning": "exceptions",
    "UnshuffleWarning": "exceptions",
    "Verdict": "inference.verdict",
    "fit_parquet": "estimators.parquet",
    "warm_up": "kernels.warm_up",
}
_ROOMS = ("datasets", "metrics", "plots", "report")

__all__ = [
    "BootstrapResult",
    "HardEMRegressor",
    "MixingWarning",
    "MixtureRegressor",
    "Posterior",
    "Progress",
    "RankWarning",
    "SchedulerLostError",
    "ShuffledRegressor",
    "StochasticEMRegressor",
    "Streaming",
    "Summary",
    "UnidentifiableWarning",
    "UnshuffleWarning",
    "Verdict",
    "datasets",
    "fit_parquet",
    "metrics",
    "plots",
    "report",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _ROOMS:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
