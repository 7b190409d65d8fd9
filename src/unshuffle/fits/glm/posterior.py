"""Draws from the posterior of a fit of a family: coefficients, dispersion, rate of mismatches."""

from collections.abc import Sequence
from typing import Protocol, TypedDict

import numpy as np
from scipy.special import expit

from ...data.threads import Workers
from ...families.bernoulli import BERNOULLI
from ...families.exponential import LabelFamily
from ...inference.metropolis import MetropolisChain
from ...inference.posterior import DISPERSION, RATE, Advancing, Posterior, diagnose, run_chains
from ...inference.sampling_settings import METROPOLIS, POSTERIOR
from ...kernels.streams import POSTERIOR_STARTS
from ...kernels.types import FloatArray
from ..progress import Progress, Reporting, quiet
from .climb import Likelihood, ascend, hessian_of
from .data import GlmData
from .known import KnownModel
from .lost_model import LostBernoulli
from .lost_posterior import LostChain
from .parameter_prior import FamilyPrior, prior_of
from .refit import Start, start_at
from .results import FamilyFit
from .settings import CLIMB, GlmSettings
from .tied_model import Evaluation, TiedModel


class Counts(TypedDict):
    """How long a chain runs."""

    n_warmup: int
    n_draws: int
    thin: int


class Drawn(Advancing, Protocol):
    """A chain with its draws of packed parameters, and mean match probabilities."""

    draws: FloatArray

    @property
    def mean_facts(self) -> FloatArray:
        """Match probabilities."""
        ...


def sample_family_posterior(
    data: GlmData,
    family: LabelFamily,
    fit: FamilyFit,
    settings: GlmSettings,
    names: list[str],
    *,
    n_chains: int,
    n_draws: int,
    n_warmup: int,
    thin: int,
    seed: int,
    workers: Workers,
    reporting: Reporting = quiet,
) -> Posterior:
    """Run chains from around the fit.

    Where the likelihood can be computed, a chain moves over the parameters alone; where the order
    is lost and labels are not yes/no, over permutations too.
    """
    counts: Counts = {"n_warmup": n_warmup, "n_draws": n_draws, "thin": thin}
    start, prior = start_at(data, fit), prior_of(data, family, settings.audit)
    chains: Sequence[Drawn]
    if fit.pairing == "lost" and family is not BERNOULLI:
        if data.weighted:
            raise ValueError("sample_weight is not for labels in lost order; leave it out")
        chains = _lost_chains(data, family, fit, start, prior, n_chains, seed, counts)
        rated = False
    else:
        model = _Posterior(_likelihood(data, family, fit, settings, start), family, prior)
        chains = _smooth_chains(model, start, n_chains, seed, counts)
        rated = model.estimates
    total = chains[0].n_iterations
    with reporting(total, "draws") as report:
        run_chains(chains, workers, lambda done: report(Progress(done, total)))
    return _collect(data, family, prior, chains, names, rated=rated)


def _likelihood(
    data: GlmData, family: LabelFamily, fit: FamilyFit, settings: GlmSettings, start: Start
) -> Likelihood:
    if fit.pairing == "mostly-right":
        # An audited rate is drawn as well: what was found is its prior.
        rate = settings.mismatch_rate if settings.audit is None else None
        return TiedModel(data, family, rate, start.precision)
    return LostBernoulli(data) if fit.pairing == "lost" else KnownModel(data, family)


class _Posterior:
    """A likelihood times the priors, interface as `Likelihood`."""

    def __init__(self, model: Likelihood, family: LabelFamily, prior: FamilyPrior) -> None:
        self.model, self.family, self.prior = model, family, prior
        self.estimates, self.n_parameters = model.estimates, model.n_parameters

    def pack(self, start: Start) -> FloatArray:
        """Parameters as a vector."""
        more = [np.log(start.precision)] if self.family.has_precision else []
        if self.estimates:
            more.append(np.log(start.redrawn / (1.0 - start.redrawn)))
        return np.append(start.theta, more)

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Log posterior and its gradient."""
        found, q = self.model.evaluate(parameters), len(self.prior.centre)
        parts = [self.prior.of_theta(parameters[:q])]
        if self.family.has_precision:
            value, slope = self.prior.of_log_precision(float(parameters[q]))
            parts.append((value, np.array([slope])))
        if self.estimates:
            value, slope = self.prior.of_logit(float(parameters[-1]))
            parts.append((value, np.array([slope])))
        return found._replace(
            value=found.value + sum(value for value, _ in parts),
            gradient=found.gradient + np.concatenate([slope for _, slope in parts]),
        )

    def density(self, moved: FloatArray) -> tuple[float, FloatArray]:
        """Log posterior of moved parameters (see `from_logit`), and match probabilities."""
        if not self.estimates:
            found = self.evaluate(moved)
            return found.value, found.shares.matched
        if not 0.0 < moved[-1] < 0.5 * np.pi:
            return -np.inf, np.empty(0)
        share = float(np.sin(moved[-1]) ** 2)
        found = self.evaluate(np.append(moved[:-1], np.log(share / (1.0 - share))))
        return found.value - 0.5 * float(np.log(share * (1.0 - share))), found.shares.matched

    def sharpen(self) -> None:
        """As the likelihood."""
        self.model.sharpen()


def _smooth_chains(
    model: _Posterior, start: Start, n_chains: int, seed: int, counts: Counts
) -> list[MetropolisChain]:
    first = model.pack(start)
    mode = ascend(model, first, 1.0).parameters
    curvature = -hessian_of(lambda at: model.evaluate(at).gradient, mode, CLIMB.difference)
    values, axes = np.linalg.eigh(curvature)
    # A direction of which nothing is known has at most the width of its prior.
    values = np.maximum(values, model.prior.spread**-2.0)
    shape = (axes / values) @ axes.T
    rng = np.random.default_rng([seed, n_chains, POSTERIOR_STARTS])
    root = POSTERIOR.dispersion * np.linalg.cholesky(shape)
    starts = [mode + root @ rng.standard_normal(len(mode)) for _ in range(n_chains)]
    if model.estimates:
        share = float(expit(mode[-1]))
        slope = np.append(np.ones(len(mode) - 1), 0.5 * (share * (1.0 - share)) ** 0.5)
        mode, shape = from_logit(mode), shape * np.outer(slope, slope)
        starts = [from_logit(start) for start in starts]
    return [
        MetropolisChain(model.density, start, mode, shape, seed, number, **counts)
        for number, start in enumerate(starts)
    ]


def from_logit(parameters: FloatArray) -> FloatArray:
    """Parameters with the arcsine of the root of the share redrawn in the place of its logit.

    A share near zero has a logit far away, and chains would seldom go there and back.
    """
    share = np.clip(expit(parameters[-1]), 1e-12, 1.0 - 1e-12)
    return np.append(parameters[:-1], np.arcsin(np.sqrt(share)))


def _lost_chains(
    data: GlmData,
    family: LabelFamily,
    fit: FamilyFit,
    start: Start,
    prior: FamilyPrior,
    n_chains: int,
    seed: int,
    counts: Counts,
) -> list[LostChain]:
    kept = max(fit.fraction_kept, 1.0 / METROPOLIS.most_updates)
    rng = np.random.default_rng([seed, n_chains, POSTERIOR_STARTS])
    information = data.Z.T @ (
        data.Z * family.fisher(data.offset + data.Z @ start.theta, start.precision)[:, None]
    )
    root = np.linalg.cholesky(np.linalg.inv(kept * information + prior.information))
    chains = []
    for number in range(n_chains):
        theta = start.theta + POSTERIOR.dispersion * root @ rng.standard_normal(len(root))
        precision = start.precision
        if family.has_precision:
            precision *= float(np.exp(rng.normal(0.0, POSTERIOR.spread_of_starts)))
        chains.append(
            LostChain(data, family, prior, theta, precision, seed, number,
                      updates=int(np.ceil(1.0 / kept)), **counts)
        )  # fmt: skip
    return chains


def _collect(
    data: GlmData,
    family: LabelFamily,
    prior: FamilyPrior,
    chains: Sequence[Drawn],
    feature_names: list[str],
    *,
    rated: bool,
) -> Posterior:
    """Put the draws of all chains together, in natural coefficients."""
    draws, q = np.stack([chain.draws for chain in chains]), data.Z.shape[1]
    values = draws[..., :q] @ data.design.to_natural.T
    first = int(data.design.fit_intercept)
    intercept = values[..., 0] if first else np.zeros(values.shape[:2])
    dispersion = rate = None
    names = ["(intercept)"] * first + feature_names
    if family.has_precision:
        dispersion = np.exp(-draws[..., q])
        names = [*names, DISPERSION]
    if rated:
        rate = prior.others * np.sin(draws[..., -1]) ** 2
        names = [*names, RATE]
    matched = np.mean([chain.mean_facts for chain in chains], axis=0)
    posterior = Posterior(
        values[..., first:], intercept, None, rate, data.problem.restore(matched), names,
        {}, {}, {}, feature_names, bool(first), dispersion,
    )  # fmt: skip
    return diagnose(posterior)
