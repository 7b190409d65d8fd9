r"""Intervals from the profile of the likelihood.

The interval of a coefficient holds the values b at which

.. math:: 2\, \bigl(\max \ell - \max_{\beta_k = b} \ell\bigr) \le \chi^2_{1, level},

the others, the dispersion and the rate of mismatches being the best ones at each b. Where the
likelihood is far from quadratic, as of yes/no labels with a rate that is estimated, these intervals
are not symmetric, and cover the truth more often than those of standard errors.
"""

import numpy as np
from scipy.stats import chi2

from ...families.bernoulli import BERNOULLI
from ...families.cox import Times
from ...families.exponential import LabelFamily
from ...families.poisson import safe_exp
from ...kernels.types import FloatArray
from .climb import Likelihood, ascend
from .cox_model import CoxModel
from .data import GlmData
from .known import KnownModel
from .lost_model import LostBernoulli
from .refit import start_at
from .results import FamilyFit
from .settings import PROFILE, GlmSettings
from .tied_model import Evaluation, TiedModel


def profile_interval(
    data: GlmData,
    family: LabelFamily | None,
    fit: FamilyFit,
    settings: GlmSettings,
    level: float,
) -> FloatArray:
    """Lower and upper ends of all coefficients, shape (k, 2); infinite where none was found."""
    if np.isnan(fit.standard_errors).all():
        raise ValueError(
            "this fit has no standard errors, and its likelihood no maximum to start from: see "
            "verdict_.reasons"
        )
    model, start = _likelihood(data, family, fit, settings)
    total, q = float(data.weights.sum()), data.Z.shape[1]
    best = ascend(model, start, total).parameters
    goal = float(chi2.ppf(level, 1)) ** 0.5
    ends = np.full((len(data.design.to_natural), 2), np.nan)
    errors = fit.standard_errors
    for k, row in enumerate(data.design.to_natural):
        if not row.any():  # of a constant column nothing is known
            continue
        error = float(errors[k]) if np.isfinite(errors[k]) and errors[k] > 0.0 else 1.0
        for side, sign in enumerate((-1.0, 1.0)):
            path = _Path(model, row, best, q, total, sign * error)
            ends[k, side] = path.end(goal)
    return ends


def _likelihood(
    data: GlmData, family: LabelFamily | None, fit: FamilyFit, settings: GlmSettings
) -> tuple[Likelihood, FloatArray]:
    """What is maximised, and its parameters at the fit."""
    start = start_at(data, fit)
    if fit.pairing == "mostly-right" and settings.audit is None:
        rate = settings.mismatch_rate
        if family is not None:
            tied = TiedModel(data, family, rate, start.precision)
            return tied, tied.pack(start.theta, start.precision, start.redrawn)
        assert data.event is not None
        times = Times(data.y, data.event)
        jumps = times.hazard(safe_exp(data.offset + data.Z @ start.theta), data.weights)
        cox = CoxModel(data, times, jumps, rate)
        return cox, cox.pack(start.theta, start.redrawn)
    if family is BERNOULLI and fit.pairing == "lost":
        return LostBernoulli(data), start.theta
    if family is not None and fit.pairing == "known":
        more = [np.log(start.precision)] if family.has_precision else []
        return KnownModel(data, family), np.append(start.theta, more)
    raise ValueError(
        "there is no profile of the likelihood of "
        f"{'times' if family is None else f'family {fit.family!r}'} with pairing_ {fit.pairing!r}"
        f"{' and an audit' if settings.audit is not None else ''}; use method='information' or "
        "method='bootstrap'"
    )


class _Fixed:
    """A likelihood with one combination of the coordinates held fixed; interface the same."""

    def __init__(self, model: Likelihood, row: FloatArray, q: int) -> None:
        self.model, self.row, self.q = model, row, q
        self.estimates, self.n_parameters = model.estimates, model.n_parameters - 1
        self.free = np.linalg.svd(row[None])[2][1:].T  # an orthonormal basis of the others
        self.value = 0.0

    def full(self, parameters: FloatArray) -> FloatArray:
        """All parameters."""
        fixed = self.row * self.value / float(self.row @ self.row)
        theta = fixed + self.free @ parameters[: self.q - 1]
        return np.append(theta, parameters[self.q - 1 :])

    def rest(self, full: FloatArray) -> FloatArray:
        """Those that are free."""
        return np.append(self.free.T @ full[: self.q], full[self.q :])

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient by those that are free."""
        found = self.model.evaluate(self.full(parameters))
        return found._replace(gradient=self.rest(found.gradient))

    def sharpen(self) -> None:
        """As the likelihood."""
        self.model.sharpen()


class _Path:
    """The way from the best value of a coefficient to one end of its interval."""

    def __init__(
        self,
        model: Likelihood,
        row: FloatArray,
        best: FloatArray,
        q: int,
        total: float,
        step: float,
    ) -> None:
        self.fixed, self.total, self.step = _Fixed(model, row, q), total, step
        self.centre, self.at = float(row @ best[:q]), self.fixed.rest(best)
        self.top = model.evaluate(best).value

    def end(self, goal: float) -> float:
        """Value at which the root of twice the loss is `goal`, by secants between brackets."""
        low, low_root, high, high_root = 0.0, 0.0, np.inf, np.inf
        distance = goal
        for _ in range(PROFILE.max_steps):
            root = self._root(distance)
            if abs(root - goal) < PROFILE.tolerance:
                break
            if root < goal:
                low, low_root = distance, root
            else:
                high, high_root = distance, root
            if np.isinf(high):
                distance = low * min(max(goal / max(low_root, 1e-12), 1.1), PROFILE.longest_step)
                if distance > PROFILE.farthest:
                    return float(np.sign(self.step) * np.inf)
            else:
                distance = low + (goal - low_root) * (high - low) / (high_root - low_root)
        return self.centre + self.step * distance

    def _root(self, distance: float) -> float:
        """Root of twice the log-likelihood lost, so many standard errors away."""
        self.fixed.value = self.centre + self.step * distance
        if len(self.at):
            self.at = ascend(self.fixed, self.at, self.total).parameters
        value = self.fixed.evaluate(self.at).value
        return float(np.sqrt(max(2.0 * (self.top - value), 0.0)))
