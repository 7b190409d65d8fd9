"""A streamed fit: when it is made, and what it leaves in the estimator."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from ..data.survey import Survey, survey
from ..em.information import covariance_less
from ..em.loop import Step
from ..families.normal_equations import NormalEquations
from ..fits.checkpoint import Checkpoint, stored_seed
from ..fits.streamed import Settings, StreamedEM, StreamedResult
from ..fits.streamed_information import streamed_covariance
from ..inference.intervals import Estimates
from ..search.mostly_right import FIRST_GUESS
from ._base import check_init, warn_not_converged, warn_rank
from ._inference import told_of_uncertainty
from ._progress import Progress, reporting
from ._seeding import seed_from
from ._sources import Source
from .streaming import Streaming

if TYPE_CHECKING:
    from .stochastic import StochasticEMRegressor

SWEEPS, BURN_IN = 50.0, 0.4
TOLERANCE, WINDOW = 0.2, 5

PER_ROW = {"expected_labels_", "permutation_", "match_proba_", "_pairing"}


def fit_streamed(
    model: "StochasticEMRegressor", source: Source, match_prob: Any
) -> "StochasticEMRegressor":
    """Fit `model` to a source, and set its attributes."""
    check_supported(model, match_prob)
    streaming = model.streaming if isinstance(model.streaming, Streaming) else Streaming()
    n, d = source.shape
    if n <= d + model.fit_intercept:
        raise ValueError(f"there are {n} rows for {d} features; give more rows than coefficients")
    with source.parts(streaming, effective_n_jobs(model.n_jobs)) as parts:
        facts = survey(parts, model.fit_intercept)
        solver = NormalEquations(
            facts.gram,
            facts.centre,
            facts.n_rows,
            fit_intercept=model.fit_intercept,
            ridge=model.ridge,
        )
        settings = settings_of(model, facts, streaming)
        em = StreamedEM(parts, facts, solver, settings)
        with reporting(model.verbose, model.max_iter, "iterations", model.callback) as report:

            def tell(done: int, step: Step) -> None:
                report(
                    Progress(done, model.max_iter, step.objective, step.acceptance_rate, step.coef)
                )

            result = em.run(tell, checkpoint_of(streaming, facts, settings))
        covariance = streamed_covariance(em, result) if model._follows_model else None
    extras = told_of_uncertainty(
        covariance,
        result.state.noise_scale,
        result.final.mismatched_share,
        model.fit_intercept,
        d,
    )
    return keep(model, source, em, result, extras)


def check_supported(model: "StochasticEMRegressor", match_prob: Any) -> None:
    """Refuse what needs all rows at once."""
    wrong = {
        "variant": model.variant != "exact",
        "max_shift": model.max_shift is not None,
        "alignment": model.alignment != "chain",
        "thin": model.thin not in ("auto", 1),
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(
                f"{name}={getattr(model, name)!r} is not for data that are read in passes; leave "
                "it out, or fit a sample in memory"
            )
    if match_prob is not None:
        raise ValueError(
            "match_prob is not for data that are read in passes; use mismatch_rate, or fit a "
            "sample in memory"
        )


def settings_of(model: "StochasticEMRegressor", facts: Survey, streaming: Streaming) -> Settings:
    """Give every "auto" its value."""
    n = max(facts.n_movable, 1)
    sweeps = SWEEPS if model.n_steps == "auto" else int(model.n_steps) / n
    burn_in = BURN_IN * sweeps if model.burn_in == "auto" else int(model.burn_in) / n
    if burn_in >= sweeps:
        raise ValueError(
            f"burn_in={model.burn_in} leaves none of n_steps={model.n_steps} proposals to average; "
            "lower burn_in or raise n_steps"
        )
    estimates = model.mismatch_rate == "estimate"
    rate = FIRST_GUESS if estimates else model.mismatch_rate
    given = None
    if not isinstance(model.init, str):
        given = check_init(model.init, len(facts.centre))
    return Settings(
        fit_intercept=model.fit_intercept,
        ridge=float(model.ridge),
        temper=float(model.temper),
        sweeps=sweeps,
        burn_in=burn_in,
        max_iter=model.max_iter,
        tol=TOLERANCE if model.tol == "auto" else float(model.tol),
        window=WINDOW,
        mismatch_rate=None if rate is None else float(rate),
        estimates=estimates,
        init=given,
        seed=seed_of(model, streaming),
    )


def seed_of(model: "StochasticEMRegressor", streaming: Streaming) -> int:
    """The seed; a fit without `random_state` that goes on keeps the one that it began with."""
    path = streaming.checkpoint
    if model.random_state is None and streaming.resume and path and Path(path).exists():
        return stored_seed(Path(path))
    return seed_from(model.random_state)


def checkpoint_of(streaming: Streaming, facts: Survey, settings: Settings) -> Checkpoint:
    """The checkpoint of a fit, with the fingerprint of its data and settings."""
    words = f"{facts.digest} {settings.words()}"
    return Checkpoint(
        None if streaming.checkpoint is None else Path(streaming.checkpoint),
        streaming.checkpoint_every,
        streaming.resume,
        settings.seed,
        hashlib.sha256(words.encode()).hexdigest(),
    )


def keep(
    model: "StochasticEMRegressor",
    source: Source,
    em: StreamedEM,
    result: StreamedResult,
    extras: dict[str, Any],
) -> "StochasticEMRegressor":
    """Set every fitted attribute that is not one number per row, and say what must be said."""
    facts, settings = em.facts, em.settings
    blank = type(model)(**model.get_params(deep=False))
    blank.n_features_in_ = source.shape[1]
    if all(isinstance(name, str) for name in source.names):
        blank.feature_names_in_ = np.asarray(source.names, dtype=object)
    model._forget(blank)
    for name in ("_problem", "_pairing"):
        model.__dict__.pop(name, None)
    for name, value in extras.items():
        setattr(model, name, value)
    state, steps = result.state, result.steps
    model.coef_ = state.coef
    model.intercept_ = state.intercept
    model.noise_scale_ = state.noise_scale
    model.n_iter_ = len(steps)
    model.converged_ = result.converged
    model.objective_path_ = np.array([step.objective for step in steps])
    model.coef_path_ = np.array([step.coef for step in steps])
    model.acceptance_rate_ = result.final.acceptance_rate
    model.n_groups_ = facts.n_groups
    model.rank_ = em.solver.rank
    model.tol_ = settings.tol
    model.n_steps_ = round(settings.sweeps * facts.n_movable)
    model.burn_in_ = round(settings.burn_in * facts.n_movable)
    model.thin_ = 1
    if settings.mismatch_rate is not None:
        model.mismatch_rate_ = result.final.mismatched_share * facts.n_movable / facts.n_rows
    model._freedom = facts.n_rows - em.solver.n_parameters
    model._as_given = as_given(em)
    model._n_streamed = facts.n_rows
    warn_rank(model, em.solver)
    if not model.converged_ and model._wants_convergence():
        warn_not_converged(model, model._convergence_advice)
    return model


def as_given(em: StreamedEM) -> Estimates:
    """Least squares on the labels as given."""
    facts, solver = em.facts, em.solver
    if em.settings.ridge:
        solver = NormalEquations(
            facts.gram, facts.centre, facts.n_rows, fit_intercept=solver.fit_intercept, ridge=0.0
        )
    start = em.ordinary_start(solver)
    nothing = np.zeros((solver.rank + 2, solver.rank + 2))
    covariance = covariance_less(facts, solver, start.noise_scale, nothing, None).coef
    values = np.append(start.intercept, start.coef)
    first = 0 if solver.fit_intercept else 1
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Estimates(values[first:], errors[first:], facts.n_rows - solver.n_parameters)


def no_such_row_attribute(name: str) -> str:
    """What is said where a streamed fit is asked for one number per row."""
    return (
        f"a fit that reads its data in passes keeps nothing per row, so that there is no {name}; "
        "predict works as ever, and a fit of some groups in memory from these coefficients (init) "
        "tells their pairing"
    )
