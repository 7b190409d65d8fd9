"""Regression when the pairing between rows and labels is lost, wholly or in part.

Importing the package loads nothing heavy; every public name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators._sensitivity_result import SensitivityResult
    from .estimators.audit import AuditResult, audit_release
    from .estimators.blocks import BlockCheck, BlocksResult, check_blocks
    from .estimators.classifier import ShuffledClassifier
    from .estimators.cox import ShuffledCoxRegressor
    from .estimators.cross_validated import ShuffledRegressorCV
    from .estimators.feature_selector import ShuffledFeatureSelector
    from .estimators.formula import fit_formula
    from .estimators.hard import HardEMRegressor
    from .estimators.mixture import MixtureRegressor
    from .estimators.moment import MomentRegressor
    from .estimators.parquet import fit_parquet
    from .estimators.shuffled import ShuffledRegressor
    from .estimators.stochastic import StochasticEMRegressor
    from .estimators.streaming import Streaming
    from .exceptions import (
        MixingWarning,
        ModelFileError,
        OutputError,
        RankWarning,
        SchedulerLostError,
        TableError,
        UnidentifiableWarning,
        UnshuffleWarning,
        WorkerLostError,
    )
    from .fits.model_files import StoredModel, load_model, save_model
    from .fits.progress import Progress
    from .fits.warm_up import warm_up
    from .inference.audited_rate import Audit
    from .inference.bootstrap import BootstrapResult
    from .inference.match_model import MatchModel
    from .inference.posterior import Posterior
    from .inference.unequal_bootstrap import UnequalBootstrapResult
    from .inference.verdict import Verdict
    from .io.cytometry import read_fcs
    from .show.comparison import Comparison, compare
    from .show.summary import Summary

__version__ = "0.2.0"

_HOMES = {
    "Audit": "inference.audited_rate",
    "MomentRegressor": "estimators.moment",
    "BootstrapResult": "inference.bootstrap",
    "UnequalBootstrapResult": "inference.unequal_bootstrap",
    "BlockCheck": "estimators.blocks",
    "BlocksResult": "estimators.blocks",
    "check_blocks": "estimators.blocks",
    "AuditResult": "estimators.audit",
    "audit_release": "estimators.audit",
    "fit_formula": "estimators.formula",
    "load_model": "fits.model_files",
    "save_model": "fits.model_files",
    "ModelFileError": "exceptions",
    "OutputError": "exceptions",
    "StoredModel": "fits.model_files",
    "TableError": "exceptions",
    "HardEMRegressor": "estimators.hard",
    "MatchModel": "inference.match_model",
    "MixingWarning": "exceptions",
    "MixtureRegressor": "estimators.mixture",
    "Posterior": "inference.posterior",
    "Progress": "fits.progress",
    "ShuffledClassifier": "estimators.classifier",
    "ShuffledCoxRegressor": "estimators.cox",
    "ShuffledFeatureSelector": "estimators.feature_selector",
    "ShuffledRegressor": "estimators.shuffled",
    "ShuffledRegressorCV": "estimators.cross_validated",
    "StochasticEMRegressor": "estimators.stochastic",
    "RankWarning": "exceptions",
    "SensitivityResult": "estimators._sensitivity_result",
    "SchedulerLostError": "exceptions",
    "read_fcs": "io.cytometry",
    "Comparison": "show.comparison",
    "compare": "show.comparison",
    "Streaming": "estimators.streaming",
    "Summary": "show.summary",
    "UnidentifiableWarning": "exceptions",
    "UnshuffleWarning": "exceptions",
    "Verdict": "inference.verdict",
    "WorkerLostError": "exceptions",
    "fit_parquet": "estimators.parquet",
    "warm_up": "fits.warm_up",
}
_MODULES = {
    "datasets": "datasets",
    "linkage": "linkage",
    "metrics": "metrics",
    "plots": "show.plots",
    "report": "show.report",
}

__all__ = [
    "Audit",
    "AuditResult",
    "BlockCheck",
    "BlocksResult",
    "BootstrapResult",
    "Comparison",
    "HardEMRegressor",
    "MatchModel",
    "MixingWarning",
    "MixtureRegressor",
    "ModelFileError",
    "MomentRegressor",
    "OutputError",
    "Posterior",
    "Progress",
    "RankWarning",
    "SchedulerLostError",
    "SensitivityResult",
    "ShuffledClassifier",
    "ShuffledCoxRegressor",
    "ShuffledFeatureSelector",
    "ShuffledRegressor",
    "ShuffledRegressorCV",
    "StochasticEMRegressor",
    "StoredModel",
    "Streaming",
    "Summary",
    "TableError",
    "UnequalBootstrapResult",
    "UnidentifiableWarning",
    "UnshuffleWarning",
    "Verdict",
    "WorkerLostError",
    "audit_release",
    "check_blocks",
    "compare",
    "datasets",
    "fit_formula",
    "fit_parquet",
    "linkage",
    "load_model",
    "metrics",
    "plots",
    "read_fcs",
    "report",
    "save_model",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{_MODULES[name]}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
