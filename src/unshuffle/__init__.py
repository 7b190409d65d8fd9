"""Regression when the pairing between rows and labels is lost, wholly or in part.

Importing the package loads nothing heavy; every public name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import AuditResult, audit_release
    from .estimators._progress import Progress
    from .estimators.front_door import ShuffledRegressor
    from .estimators.hard import HardEMRegressor
    from .estimators.mixture import MixtureRegressor
    from .estimators.parquet import fit_parquet
    from .estimators.stochastic import StochasticEMRegressor
    from .estimators.streaming import Streaming
    from .exceptions import (
        MixingWarning,
        ModelFileError,
        RankWarning,
        SchedulerLostError,
        TableError,
        UnidentifiableWarning,
        UnshuffleWarning,
    )
    from .formula import fit_formula
    from .inference.bootstrap import BootstrapResult
    from .inference.posterior import Posterior
    from .inference.verdict import Verdict
    from .kernels.warm_up import warm_up
    from .model_files import StoredModel, load_model, save_model
    from .summary import Summary

__version__ = "0.1.0"

_HOMES = {
    "BootstrapResult": "inference.bootstrap",
    "AuditResult": "audit",
    "audit_release": "audit",
    "fit_formula": "formula",
    "load_model": "model_files",
    "save_model": "model_files",
    "ModelFileError": "exceptions",
    "StoredModel": "model_files",
    "TableError": "exceptions",
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
    "AuditResult",
    "BootstrapResult",
    "HardEMRegressor",
    "MixingWarning",
    "MixtureRegressor",
    "ModelFileError",
    "Posterior",
    "Progress",
    "RankWarning",
    "SchedulerLostError",
    "ShuffledRegressor",
    "StochasticEMRegressor",
    "StoredModel",
    "Streaming",
    "Summary",
    "TableError",
    "UnidentifiableWarning",
    "UnshuffleWarning",
    "Verdict",
    "audit_release",
    "datasets",
    "fit_formula",
    "fit_parquet",
    "load_model",
    "metrics",
    "plots",
    "report",
    "save_model",
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
