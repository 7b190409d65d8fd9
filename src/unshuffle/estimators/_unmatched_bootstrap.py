"""Bootstrap of estimators that were fitted with ``unmatched="model"``."""

from typing import Any

from ..data.threads import Workers
from ..fits.auto_results import AutoFit
from ..fits.progress import Reporting
from ..fits.unequal_bootstrap import bootstrap_unequal
from ..inference.unequal_bootstrap import UnequalBootstrapResult
from ._seeding import seed_from

RESAMPLE = ("labels", "groups")


def check_resample(resample: Any, found: Any) -> bool:
    """Whether the fit has rows without labels; what cannot be resampled is refused."""
    if not isinstance(resample, str) or resample not in RESAMPLE:
        raise ValueError(f"resample must be 'labels' or 'groups', got {resample!r}")
    unmatched = isinstance(found, AutoFit) and found.unmatched is not None
    if resample == "groups" and not unmatched:
        raise ValueError(
            "resample='groups' is for fits with unmatched='model'; resample='labels' simulates "
            "labels from the fit"
        )
    return unmatched


def bootstrap_unmatched(
    model: Any,
    workers: Workers,
    *,
    resample: str,
    n_boot: int,
    random_state: Any,
    reporting: Reporting,
) -> UnequalBootstrapResult:
    """Replicates of the fit of a model."""
    if not hasattr(model, "_unequal"):
        raise ValueError(
            "a fit with unmatched='model' is resampled where the order is lost and the data are "
            "those of this session; here labels stand beside their rows, or the model was loaded "
            "from a file: use conf_int()"
        )
    problem, settings = model._unequal
    return bootstrap_unequal(
        problem,
        workers,
        model._found,
        settings,
        resample=resample,
        n_boot=n_boot,
        seed=settings.seed if random_state is None else seed_from(random_state),
        reporting=reporting,
    )
