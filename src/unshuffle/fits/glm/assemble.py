"""What was found, as a frozen fit with natural coefficients in the user's order."""

from dataclasses import replace

import numpy as np

from ...inference.intervals import Estimates
from ...kernels.types import FloatArray
from ..results import Design
from .data import GlmData
from .known import KnownFit
from .mostly_right import MostlyRight
from .results import NORMAL_FREEDOM, FamilyFit


def of_known(data: GlmData, known: KnownFit, name: str, dispersion: float) -> FamilyFit:
    """A fit of labels in known order."""
    coef, intercept = _natural(data, known.theta)
    n = data.problem.n_rows
    covariance = data.design.covariance(known.covariance)
    return FamilyFit(
        family=name,
        pairing="known",
        order_p_value=float("nan"),
        coef=coef,
        intercept=intercept,
        precision=known.precision,
        dispersion=dispersion,
        mismatch_rate=0.0,
        mismatch_rate_se=float("nan"),
        match_proba=np.ones(n),
        covariance=covariance,
        robust=None,
        freedom=NORMAL_FREEDOM,
        as_given=_estimates(data, known),
        log_likelihood=known.log_likelihood,
        evidence=0.0,
        fraction_kept=1.0,
        inflation=1.0,
        linear_predictor=data.problem.restore(known.eta),
        converged=known.converged,
        n_iter=0,
        design=facts_of(data),
    )


def of_mostly_right(
    data: GlmData, known: KnownFit, found: MostlyRight, name: str, p_value: float
) -> FamilyFit:
    """A fit of labels with mismatches."""
    q = len(found.theta)
    coef, intercept = _natural(data, found.theta)
    restore, robust = data.problem.restore, found.robust
    return replace(
        of_known(data, known, name, 1.0),
        pairing="mostly-right",
        order_p_value=p_value,
        coef=coef,
        intercept=intercept,
        precision=found.precision,
        mismatch_rate=found.rate,
        mismatch_rate_se=found.rate_se,
        match_proba=restore(found.matched),
        covariance=data.design.covariance(found.errors.covariance[:q, :q]),
        robust=None if robust is None else data.design.covariance(robust),
        log_likelihood=found.log_likelihood,
        evidence=2.0 * (found.log_likelihood - known.log_likelihood),
        fraction_kept=found.errors.fraction_kept,
        inflation=found.errors.inflation,
        linear_predictor=restore(found.eta),
        converged=found.converged,
        n_iter=found.n_iter,
        redraws=found.redraws,
        expected_error=found.errors.expected_error,
        given_distance=found.distance,
    )


def _natural(data: GlmData, theta: FloatArray) -> tuple[FloatArray, float]:
    coef, intercept = data.design.natural(theta)
    if data.event is not None:  # the baseline is that of a row of average features
        intercept = -float(data.design.solver.centre @ coef)
    return coef, intercept


def _estimates(data: GlmData, known: KnownFit) -> Estimates:
    with np.errstate(invalid="ignore"):  # a variance that rounding made negative is none
        errors = np.sqrt(np.diag(data.design.covariance(known.covariance)))
    return Estimates(data.design.to_natural @ known.theta, errors, NORMAL_FREEDOM)


def facts_of(data: GlmData) -> Design:
    """What the fit knows of the table."""
    solver, problem = data.design.solver, data.problem
    freedom = int(data.weights.sum()) - data.Z.shape[1]
    return Design(
        problem.n_rows, problem.n_groups, solver.rank, solver.dependent, freedom,
        data.design.fit_intercept,
    )  # fmt: skip
