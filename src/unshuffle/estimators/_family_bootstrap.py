"""Bootstrap of a fit of a family."""

from dataclasses import replace
from numbers import Integral
from typing import Any

from joblib import effective_n_jobs

from ..data.threads import Workers
from ..families.catalogue import FAMILIES
from ..fits.glm.bootstrap import bootstrap_family
from ..fits.glm.data import GlmData
from ..fits.glm.results import FamilyFit
from ..fits.glm.settings import GlmSettings
from ..inference.bootstrap import BootstrapResult
from ._kept_data import require_kept
from ._progress import reporting
from ._seeding import seed_from


class FamilyBootstrap:
    """Rows, or whole groups, drawn with replacement and fitted again."""

    _family_fit: Any
    _family_data: GlmData
    _family_settings: GlmSettings

    def bootstrap(
        self,
        n_boot: int = 200,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> BootstrapResult:
        """Bootstrap: draw rows, or groups, with replacement and fit them again.

        Groups are drawn where the order is lost, and where it is mostly right inside 30 groups or
        more; otherwise rows with their labels. Refits start from the coefficients found.

        Parameters
        ----------
        n_boot : int, default=200
            Replicates.
        random_state : int, RandomState or None, default=None
            Seed of the replicates. None takes the seed of the fit, so that the answer can be had
            again.
        n_jobs : int, default=None
            Threads over replicates; None takes `n_jobs` of the estimator, where it has one. The
            answer does not depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        result : BootstrapResult
            With `draws`, `standard_errors`, `interval(level)` and `mismatch_rate_interval(level)`.

        Examples
        --------
        >>> import numpy as np
        >>> from unshuffle import ShuffledRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 1))
        >>> counts = rng.poisson(np.exp(X[:, 0]))
        >>> model = ShuffledRegressor(family="poisson", random_state=0).fit(X, counts)
        >>> model.bootstrap(40).interval().shape
        (2, 2)
        """
        fit = self._family_fit
        if not isinstance(n_boot, Integral) or isinstance(n_boot, bool) or n_boot < 2:
            raise ValueError(f"n_boot must be a whole number of at least 2, got {n_boot!r}")
        require_kept(self, "_family_data")
        settings = self._family_settings
        seed = settings.seed if random_state is None else seed_from(random_state)
        jobs = getattr(self, "n_jobs", None) if n_jobs is None else n_jobs
        with Workers(effective_n_jobs(jobs)) as workers:
            return bootstrap_family(
                self._family_data, FAMILIES.get(fit.family), fit, settings, n_boot=int(n_boot),
                seed=seed, workers=workers, reporting=reporting(verbose, None),
            )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data: files would grow with them, and give them away."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_family_data", None)
        found = state.get("_found")
        if isinstance(found, FamilyFit):
            state.pop("_problem", None)
            state["_found"] = replace(found, redraws=None)
        return state
