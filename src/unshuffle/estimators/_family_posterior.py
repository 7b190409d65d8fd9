"""Draws from the posterior of a fit of a family."""

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..data.threads import Workers
from ..families.catalogue import FAMILIES
from ..fits.glm.data import GlmData
from ..fits.glm.posterior import sample_family_posterior
from ..fits.glm.results import FamilyFit
from ..fits.glm.settings import GlmSettings
from ..inference.posterior import Posterior
from ..io.frames import feature_names
from ._kept_data import require_kept
from ._posterior import check_counts, warn_not_mixed
from ._progress import reporting
from ._seeding import seed_from


class FamilyPosterior:
    """Posterior sampling."""

    _family_fit: Any
    _family_data: GlmData
    _family_settings: GlmSettings

    def posterior(
        self,
        *,
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Posterior:
        r"""Draw from the posterior over coefficients, dispersion and rate of mismatches.

        The likelihood is that of the fit, averaged over whose label each is. The priors are proper
        and wide: in an orthogonal basis of the (centred) columns of X, scaled to unit variance,

        .. math::

            \theta_j \sim N(0, 100), \quad \theta_0 \sim N(m_0, 100), \quad
            \sqrt{\text{dispersion}} \sim \text{half-}t_3(1), \quad \alpha \sim U(0, 1),

        where :math:`m_0` is the linear predictor of the mean label, and the rate of mismatches
        :math:`\alpha` is drawn only if the fit estimated it. A rate from an `Audit` is drawn with
        what the audit found as its prior. Not for Cox's model, whose baseline is free.

        Parameters
        ----------
        n_chains : int, default=4
            Chains, which start scattered around the fit.
        n_draws : int, default=1000
            Draws kept of each chain.
        n_warmup : int, default=500
            Iterations of each chain that are forgotten; proposals adapt during these alone.
        thin : int, default=1
            Iterations between two draws that are kept.
        random_state : int, RandomState or None, default=None
            Seed; None takes that of the fit, so that the same fit has the same posterior.
        n_jobs : int, default=None
            Threads, over chains; None takes that of the estimator, where it has one. The draws do
            not depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        posterior : Posterior
            Draws, intervals, R-hat and effective sample sizes.

        Warns
        -----
        MixingWarning
            Where some R-hat is above 1.01 or some effective sample size below 400.

        Examples
        --------
        >>> import numpy as np
        >>> from unshuffle import ShuffledClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(500, 1))
        >>> ill = rng.random(500) < 1 / (1 + np.exp(-2 * X[:, 0]))
        >>> ill[:50] = ill[rng.permutation(50)]  # a tenth is linked wrongly
        >>> model = ShuffledClassifier(mismatch_rate=0.1, random_state=0).fit(X, ill)
        >>> model.posterior(n_draws=500).coef.shape
        (4, 500, 1)
        """
        fit: FamilyFit = self._family_fit
        check_counts(n_chains=n_chains, n_draws=n_draws, n_warmup=n_warmup, thin=thin)
        if fit.family not in FAMILIES:
            raise ValueError(
                "Cox's model has no posterior: its baseline hazard is free, and has no prior; use "
                "conf_int or bootstrap"
            )
        require_kept(self, "_family_data")
        settings = self._family_settings
        names = feature_names(getattr(self, "feature_names_in_", None), len(fit.coef))
        jobs = getattr(self, "n_jobs", None) if n_jobs is None else n_jobs
        with Workers(effective_n_jobs(jobs)) as workers:
            found = sample_family_posterior(
                self._family_data, FAMILIES[fit.family], fit, settings, names,
                n_chains=int(n_chains), n_draws=int(n_draws), n_warmup=int(n_warmup),
                thin=int(thin), workers=workers, reporting=reporting(verbose, None),
                seed=settings.seed if random_state is None else seed_from(random_state),
            )  # fmt: skip
        found = _of_all_rows(found, fit)
        warn_not_mixed(found)
        return found


def _of_all_rows(found: Posterior, fit: FamilyFit) -> Posterior:
    """Match probabilities where the fit has them: rows of weight zero took no part."""
    took_part = ~np.isnan(fit.match_proba)
    if not took_part.any():  # no label was given beside a row
        return replace(found, match_proba=None)
    matched = np.full(len(took_part), np.nan)
    matched[took_part] = found.match_proba
    return replace(found, match_proba=matched)
