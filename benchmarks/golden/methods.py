"""What is asked of a model after its fit."""

import tempfile

import numpy as np

from .record import attributes, exact


def intervals(model, made):
    """Intervals from the observed information."""
    return {"conf_int": model.conf_int(), "noise_interval": model.noise_scale_interval(0.9)}


def rate_interval(model, made):
    return {"rate_interval": model.mismatch_rate_interval()}


def sandwich(model, made):
    return {
        "sandwich": model.conf_int(method="sandwich"),
        "sandwich_covariance": model.covariance(method="sandwich"),
        "sandwich_noise": model.noise_scale_interval(method="sandwich"),
    }


def bootstrap(model, made):
    found = model.bootstrap(n_boot=10)
    return {
        "draws": found.draws,
        "noise_draws": found.noise_scale_draws,
        "rate_draws": found.mismatch_rate_draws,
        "n_unsettled": found.n_unsettled,
        "bootstrap_interval": found.interval(0.8),
    }


def posterior(model, made):
    found = model.posterior(n_chains=2, n_draws=60, n_warmup=40)
    return {
        "posterior_coef": found.coef,
        "posterior_intercept": found.intercept,
        "posterior_noise": found.noise_scale,
        "posterior_rate": found.mismatch_rate,
        "posterior_match": found.match_proba,
        "posterior_r_hat": list(found.r_hat.values()),
        "posterior_ess": list(found.ess_bulk.values()) + list(found.ess_tail.values()),
        "posterior_interval": found.interval(),
    }


def suspects(model, made):
    table = model.suspects(0.7, n_partners=2)
    return {f"suspects_{name}": table[name].to_numpy() for name in table.columns}


def repair(model, made):
    return {"repaired": model.repair(made["y"])}


def predict(model, made):
    return {"predicted": model.predict(made["X"])}


def summary(model, made):
    """The numbers of the table that is printed."""
    table = model.summary().to_columns()
    return {f"summary_{k}": np.asarray(v) for k, (_, v) in enumerate(table.items())}


def stored(model, made):
    """What a file brings back."""
    from unshuffle import load_model, save_model

    with tempfile.TemporaryDirectory() as folder:
        save_model(model, folder)
        again = load_model(folder)
    return {"stored": attributes(again), "stored_as_given": again.as_given}


def ask(model, made, methods):
    """The answers of `methods` to a fitted model."""
    found = {}
    for method in methods:
        found |= method(model, made)
    return exact(found)
