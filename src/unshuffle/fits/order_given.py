"""Answers where the order given is used: least squares, or a law of the noise that was asked for.

The law of the noise decides about the coefficients only where a user names it. Chosen by the data
it finds mismatches well, but on real tables its coefficients are farther from those of known order
than least squares on expected labels is.
"""

from dataclasses import replace

from ..families.least_squares import LeastSquares
from ..search.law_mixture import Limits, fit_law_mixture
from ..search.lost import Finding
from .auto_results import NAN, MismatchFit, Outcome
from .data import InMemory
from .examination import compare_law
from .linked import fit_as_given, fit_likelihood
from .settings import AutoSettings, MixtureSettings


def least_squares(
    data: InMemory,
    solver: LeastSquares,
    settings: AutoSettings,
    facts: MismatchFit,
    finding: Finding | None = None,
) -> Outcome:
    """Least squares on the labels as given; a rate is reported only if there is no sign of any."""
    fit = fit_as_given(data, solver, settings.seed, settings.covariance)
    if facts.answer != "none":
        fit = replace(fit, mismatch_rate=NAN)
    return Outcome(fit, "mostly-right", "least squares", finding, mismatch=facts)


def under_named_law(
    data: InMemory, solver: LeastSquares, settings: AutoSettings, facts: MismatchFit
) -> Outcome:
    """Maximum likelihood under the law that was asked for, unless least squares contradicts it."""
    any_sign = facts.answer != "none"
    mixture = fit_law_mixture(
        data.problem,
        solver,
        settings.noise,
        Limits(MixtureSettings.max_iter, MixtureSettings.tol),
        mismatch_rate=None if any_sign else 0.0,
    )
    facts = compare_law(data.problem, mixture, facts)
    if facts.answer == "inconsistent":
        return least_squares(data, solver, settings, facts)
    fit = fit_likelihood(data, solver, settings.seed, mixture, settings.covariance)
    return Outcome(fit, "mostly-right", mismatch=facts)
