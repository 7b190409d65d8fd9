"""How many iterations of EM are enough? The density of held-out groups decides."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..inference.predictive import group_log_densities, normal_log_density
from ..kernels.types import FloatArray
from .data import InMemory
from .folds import check_rows_left, hold_out
from .progress import Progress, Report, Reporting, quiet
from .results import StochasticFit
from .settings import StochasticSettings
from .stochastic import fit_stochastic


class ValidationPath(NamedTuple):
    """Scores of held-out groups after each iteration of EM on the others.

    Attributes
    ----------
    scores : array of shape (n_iter,)
        Gain in log density per held-out label over a normal without features.
    best : int
        Number of iterations with the highest score.
    """

    scores: FloatArray
    best: int


def fit_with_early_stopping(
    data: InMemory,
    settings: StochasticSettings,
    fraction: float,
    *,
    reporting: Reporting = quiet,
) -> tuple[StochasticFit, ValidationPath]:
    """Find the number of iterations on a part of the groups, then make so many on all of them."""
    if data.clues is not None:
        raise ValueError(
            "early_stopping holds out groups in which the order is lost; it is not for "
            "match_features: leave it out"
        )
    if data.match_prob is not None or settings.mismatch_rate is not None:
        raise ValueError(
            "early_stopping holds out groups in which the order is lost; it is not for "
            "mismatch_rate or match_prob: leave it out"
        )
    path = validate(data, settings, fraction, reporting=reporting)
    chosen = replace(settings, max_iter=path.best, tol=0.0)
    return fit_stochastic(data, chosen, reporting=reporting), path


def validate(
    data: InMemory,
    settings: StochasticSettings,
    fraction: float,
    *,
    reporting: Reporting = quiet,
) -> ValidationPath:
    """Run all iterations on a part of the groups, and score the others after each."""
    train, test = hold_out(data.problem, fraction, settings.seed)
    check_rows_left(train, settings.fit_intercept)
    null, steps = normal_log_density(test.y), list[Progress]()

    @contextmanager
    def record(total: int, unit: str) -> Iterator[Report]:
        with reporting(total, unit) as report:

            def both(progress: Progress) -> None:
                steps.append(progress)
                report(progress)

            yield both

    fit_stochastic(InMemory(train, data.workers), replace(settings, tol=0.0), reporting=record)
    scores = np.empty(len(steps))
    for k, step in enumerate(steps):
        assert step.coef is not None
        found = group_log_densities(
            test, test.X @ step.coef + step.intercept, step.noise_scale,
            seed=settings.seed, workers=data.workers,
        )  # fmt: skip
        scores[k] = (found.total - null) / test.n_rows
    return ValidationPath(scores, int(np.argmax(scores)) + 1)
