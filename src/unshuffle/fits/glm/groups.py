"""Labels whose order inside groups is lost."""

from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from ...alignment.hard import most_likely_permutation
from ...data.threads import Workers
from ...families.bernoulli import BERNOULLI
from ...families.exponential import LabelFamily
from ...families.irls import information_of
from ...kernels.types import FloatArray
from ..progress import Reporting, quiet
from .assemble import of_known
from .climb import climb
from .covariance import Errors, observed_errors
from .data import GlmData
from .group_sums import SumsFit, fit_group_sums, step_by_sums
from .known import KnownFit
from .lost_chain import ChainFit, fit_by_chain
from .lost_model import LostBernoulli
from .lost_robust import robust_of_lost
from .results import FamilyFit, GroupSums
from .settings import GlmSettings
from .starts import theta_at


def fit_lost(
    data: GlmData,
    family: LabelFamily,
    known: KnownFit,
    settings: GlmSettings,
    workers: Workers,
    reporting: Reporting = quiet,
) -> FamilyFit:
    """Fit labels in lost order; it starts from the sums of groups where these hold it."""
    flat, chain = np.zeros_like(known.theta), settings.chain
    if data.design.fit_intercept:
        flat[0] = known.theta[0]
    sums = fit_group_sums(data, family, known.precision, flat)
    if sums is None and not chain.always:
        # Nothing holds a fit, and the labels as given are as good as any.
        fit = of_known(data, known, family.name, family.dispersion(known.precision))
        return replace(fit, pairing="lost", mismatch_rate=float("nan"))
    if data.weighted:
        raise ValueError(
            "sample_weight is not for labels in lost order: a weight belongs to a row, and which "
            "label belongs to the row is not known; leave it out, or repeat rows and labels"
        )
    if family is BERNOULLI:
        assert sums is not None
        found = _by_counts(data, [known.theta, flat, sums.theta])
    else:
        start = known.theta if sums is None else sums.theta
        if chain.init is not None:
            start = theta_at(data, family, known, chain.init)
        found = fit_by_chain(
            data, family, start, known.precision, settings.seed, workers, chain, reporting
        )
    free = np.ones(len(found.information), dtype=bool)
    errors = observed_errors(found.information, found.complete, free)
    fit = _result(data, family, known, found, errors)
    robust = robust_of_lost(data, family, found, errors)
    if robust is not None:
        fit = replace(fit, robust=data.design.covariance(robust))
    if sums is None:
        return fit
    return replace(fit, group_sums=_compare(data, family, found, errors, sums))


def _by_counts(data: GlmData, starts: list[FloatArray]) -> ChainFit:
    """Yes/no labels, by their exact likelihood."""
    model = LostBernoulli(data)
    found = climb(model, starts, float(data.problem.n_rows))
    eta = found.evaluation.eta
    expected, _ = model.expect(eta)
    complete = information_of(data.Z, BERNOULLI.fisher(eta, 1.0))
    return ChainFit(
        found.parameters, eta, 1.0, expected, found.evaluation.shares.matched, -found.hessian,
        complete, found.converged, found.n_iter,
    )  # fmt: skip


def _result(
    data: GlmData, family: LabelFamily, known: KnownFit, found: ChainFit, errors: Errors
) -> FamilyFit:
    q, restore = len(found.theta), data.problem.restore
    coef, intercept = data.design.natural(found.theta)
    perm = most_likely_permutation(data.problem, found.eta)
    return replace(
        of_known(data, known, family.name, family.dispersion(found.precision)),
        pairing="lost",
        coef=coef,
        intercept=intercept,
        precision=found.precision,
        mismatch_rate=float("nan"),
        match_proba=restore(found.matched),
        covariance=data.design.covariance(errors.covariance[:q, :q]),
        fraction_kept=errors.fraction_kept,
        inflation=errors.inflation,
        linear_predictor=restore(found.eta),
        expected_labels=restore(found.expected),
        permutation=data.problem.restore_permutation(perm),
        log_likelihood=float("nan"),
        evidence=float("nan"),
        converged=found.converged,
        n_iter=found.n_iter,
    )


def _compare(
    data: GlmData, family: LabelFamily, found: ChainFit, errors: Errors, sums: SumsFit
) -> GroupSums:
    """The fit beside that of group sums alone.

    Labels that have nothing to do with the features can be matched inside groups, and then look
    related. Sums of groups cannot: whether they show a relation, and the same one, is asked in two
    ways, by a step from the fit towards them (Hausman's test) and by their own coefficients.
    """
    q, first = len(found.theta), int(data.design.fit_intercept)
    if q == first:  # no feature varies, so that nothing can be related
        return GroupSums(1.0, 0.0, 1.0, 1.0)
    step = step_by_sums(data, family, found.precision, found.theta)
    root = np.linalg.cholesky(found.complete)
    inflation = float(np.sqrt(np.linalg.eigvalsh(root.T @ step.covariance @ root).mean()))
    length = max(float(np.linalg.norm(found.theta[first:])), 1e-300)
    spread = step.covariance[first:, first:]
    if np.isfinite(errors.covariance).all():
        # The fit uses what sums know, and more, so that covariances subtract; never below a tenth.
        less = spread - errors.covariance[first:q, first:q]
        values, axes = np.linalg.eigh(0.5 * (less + less.T))
        floor = 0.1 * float(np.linalg.eigvalsh(spread).mean())
        spread = (axes * np.maximum(values, floor)) @ axes.T
    own, slopes = sums.covariance[first:, first:], sums.theta[first:]
    apart = found.theta[first:] - slopes
    return GroupSums(
        inflation,
        float(np.linalg.norm(step.step[first:])) / length,
        min(_p_value(step.step[first:], spread), _p_value(apart, own)),
        _p_value(slopes, own),
    )


def _p_value(difference: FloatArray, covariance: FloatArray) -> float:
    """Wald's test, over the directions that the covariance has.

    Groups whose sums are all equal leave none, and then nothing contradicts a difference of zero.
    """
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if rank == 0:
        return 1.0
    square = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return float(chi2.sf(square, rank))
