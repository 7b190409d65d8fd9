"""Answers where the order given is used: least squares, a fit with mismatches, or a named law.

The law of the noise decides about the coefficients only where a user names it. Chosen by the data
it finds mismatches well, but on real tables its coefficients are farther from those of known order
than least squares on expected labels is.
"""

from dataclasses import replace

from ..inference.settings import CHECKS
from ..inference.stratum_rates import StratumRates
from ..search.label_fit import LabelFit
from ..search.law_mixture import Limits, fit_law_mixture
from ..search.lost import Finding
from .audited import with_audit
from .auto_results import NAN, Isolated, MismatchFit, Outcome
from .averaged import weight_of
from .clued import expected_as_given
from .compared import compare_chain, compare_law, radii_between
from .examination import Examination, examine
from .isolated import examine_without
from .linked import fit_as_given, fit_averaged, fit_expected, fit_likelihood
from .noise_law import SHAPES
from .progress import quiet
from .results import StochasticFit
from .settings import MixtureSettings
from .table_fits import TableFits, inflation_of


def fit_order_given(fits: TableFits, *, order_is_sure: bool, isolated: Isolated | None) -> Outcome:
    """The answer where the order given is used: with mismatches, or least squares.

    A fit with mismatches needs a sign of mismatches, and must be consistent with least squares on
    the labels as given; otherwise that is the answer. It is so beside `isolated` labels, which
    follow no law of the noise that was not asked for.
    """
    data, settings = fits.data, fits.settings
    if settings.mismatch_rate != "estimate" or data.order_from is not None:
        return _chain_outcome(fits, None)
    if isolated is not None and settings.noise not in SHAPES:
        return least_squares(fits, examine_without(data.problem, isolated, settings.noise))
    found = examine(data.problem, settings.noise, order_is_sure=order_is_sure)
    facts = found.facts
    if settings.noise in SHAPES and found.whole:
        return _under_named_law(fits, facts)
    if facts.answer == "mismatches" and (found.normal or not found.whole):
        outcome = _chain_outcome(fits, facts)
        assert outcome.mismatch is not None
        inflation = inflation_of(outcome.fit)
        consistent = outcome.mismatch.answer == "mismatches"
        if consistent and (not found.whole or inflation < CHECKS.inflation_linked):
            return _beside_no_law(fits, outcome, found)
        facts = facts if found.whole else outcome.mismatch
        facts = replace(facts, chain_inflation=inflation)
    if facts.answer == "mismatches":
        assert found.best is not None
        return _expected_labels(fits, facts, found.best)
    return least_squares(fits, facts)


def _beside_no_law(fits: TableFits, outcome: Outcome, found: Examination) -> Outcome:
    """Add how far a fit with normal noise is from the one without a law of the noise."""
    if found.association is None or outcome.mismatch is None or not found.whole:
        return outcome
    other = found.association.fit
    distance = radii_between(fits.data.problem, fits.solver, outcome.fit, other)
    return outcome._replace(mismatch=replace(outcome.mismatch, normal_distance=distance))


def _expected_labels(fits: TableFits, facts: MismatchFit, found: LabelFit) -> Outcome:
    """Least squares on expected labels, averaged with least squares as given by the evidence."""
    fit = fit_expected(fits.data, fits.solver, fits.settings.seed, found)
    weight = weight_of(facts)
    if weight < 1.0:
        facts = replace(facts, weight=weight)
        fit = fit_averaged(fits.data, fits.solver, fit, found, weight)
    return Outcome(fit, "mostly-right", mismatch=facts)


def _chain_outcome(fits: TableFits, facts: MismatchFit | None) -> Outcome:
    """A chain over permutations with few mismatches, beside least squares as given."""
    data, settings = fits.data, fits.settings
    fit = fits.stochastic(1.0, 0.0, mismatch_rate=settings.mismatch_rate)

    def refit(rate: float | StratumRates) -> StochasticFit:
        if isinstance(rate, StratumRates):
            other = TableFits(data.with_strata(rate), settings, quiet)
            return other.stochastic(1.0, 0.0, init=fit.coef)
        return fits.stochastic(1.0, 0.0, init=fit.coef, mismatch_rate=rate)

    fit = with_audit(fit, data.strata or settings.audit, refit)
    outcome = fits.with_sensitivity(Outcome(fit, "mostly-right"))
    expected = expected_as_given(data.problem, fit) if data.clues is not None else None
    facts = compare_chain(data.problem, fit, facts, expected=expected)
    return outcome._replace(mismatch=facts)


def least_squares(fits: TableFits, facts: MismatchFit, finding: Finding | None = None) -> Outcome:
    """Least squares on the labels as given; a rate is reported only if there is no sign of any."""
    fit = fit_as_given(fits.data, fits.solver, fits.settings.seed, fits.settings.covariance)
    if facts.answer != "none":
        fit = replace(fit, mismatch_rate=NAN)
    return Outcome(fit, "mostly-right", "least squares", finding, mismatch=facts)


def _under_named_law(fits: TableFits, facts: MismatchFit) -> Outcome:
    """Maximum likelihood under the law that was asked for, unless least squares contradicts it."""
    data, solver, settings = fits.data, fits.solver, fits.settings
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
        return least_squares(fits, facts)
    fit = fit_likelihood(data, solver, settings.seed, mixture, settings.covariance)
    return Outcome(fit, "mostly-right", mismatch=facts)
