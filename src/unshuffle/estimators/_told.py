"""What the front door tells of a fit: known order, searches, and refits."""

from typing import Any

import numpy as np

from ..alignment.chain import Chain
from ..alignment.priors import Prior
from ..alignment.sampled import SampledAlignment
from ..alignment.state import Alignment
from ..em.information import louis_covariance
from ..em.loop import EMResult, Step, start_from_labels
from ..inference.permutations import PermutationPosterior, without_features
from ..inference.sensitivity import shrinkage_share, tempering_shift
from ..kernels.streams import FIRST_INFLATED
from ..kernels.swap import Schedule
from ..kernels.types import IntArray
from ..search.landscape import Landscape
from ..search.lost import Finding
from ._base import Outcome, Task
from ._inference import labels_as_given, told_of_uncertainty

# Streams of the chain that no iteration of a fit reaches, and proposals per row to each of them:
# fewer where there are many rows, over which chance averages out.
MOST_SWEEPS, FEWEST_SWEEPS, ENOUGH_STEPS = 20, 4, 400_000

# Of what the parts of a fit have to say, the attributes that this estimator keeps.
TOLD = (
    "_pairing",
    "_freedom",
    "_as_given",
    "covariance_",
    "standard_errors_",
    "noise_scale_se_",
    "mismatch_rate_se_",
    "information_left_",
    "error_inflation_",
    "acceptance_rate_",
    "match_proba_",
    "mismatch_rate_",
    "temper_",
    "ridge_",
    "search_",
    "solutions_",
    "solution_objectives_",
    "certified_",
    "lower_bound_",
    "match_score_",
    "null_scores_",
    "null_pvalue_",
    "refit_distances_",
    "n_found_",
    "temper_shift_",
    "shrinkage_share_",
    "start_",
    "n_candidates_",
    "stopped_by_",
)


def known_order(task: Task) -> Outcome:
    """Least squares on the labels as given."""
    problem = task.problem
    state = start_from_labels(problem, task.solver, problem.y)
    own: IntArray = np.arange(problem.n_rows, dtype=np.int64)
    matched = np.ones(problem.n_rows)
    alignment = Alignment(problem.y, 0.0, problem.y, own, float("nan"), matched, 0.0)
    step = Step(state.coef, state.intercept, state.noise_scale, state.objective, float("nan"))
    state = state._replace(match_proba=matched, mismatch_rate=0.0)
    extras: dict[str, Any] = {
        "match_proba_": matched,
        "mismatch_rate_": 0.0,
        "temper_": 1.0,
        "ridge_": 0.0,
        "_pairing": PermutationPosterior(without_features(problem), Prior(), state, task.seed),
        "_freedom": problem.n_rows - task.solver.n_parameters,
        "_as_given": labels_as_given(task),
    }
    nothing_lost = np.empty((0, task.solver.rank + 2))
    covariance = louis_covariance(problem, task.solver, state.noise_scale, nothing_lost, None)
    extras |= told_of_uncertainty(
        covariance, state.noise_scale, 0.0, task.solver.fit_intercept, problem.X.shape[1]
    )
    return Outcome(EMResult(state, alignment, [step], True), own, extras)


def sensitivity(task: Task, outcome: Outcome) -> dict[str, float]:
    """What the answer owes to the size of the noise, and what shrinkage alone would have given."""
    problem, solver = task.problem, task.solver
    pairing: PermutationPosterior = outcome.extras["_pairing"]
    state = pairing.state
    n = problem.n_movable
    steps = max(FEWEST_SWEEPS * n, min(MOST_SWEEPS * n, ENOUGH_STEPS))
    chain = Chain(problem, Schedule(steps, 0, 1), task.seed, task.workers)
    align = SampledAlignment(chain, pairing.prior)
    as_given = start_from_labels(problem, solver, problem.y).fitted
    return {
        "temper_shift_": tempering_shift(problem, solver, state, align, FIRST_INFLATED),
        "shrinkage_share_": shrinkage_share(state.fitted, as_given),
    }


def no_search() -> dict[str, Any]:
    """What is told where no search was made."""
    return {
        "search_": "none",
        "certified_": False,
        "lower_bound_": 0.0,
        "match_score_": float("nan"),
        "null_scores_": np.empty(0),
        "null_pvalue_": float("nan"),
        "refit_distances_": np.empty(0),
        "start_": "labels as given",
        "n_candidates_": 0,
        "n_found_": 0,
        "temper_shift_": float("nan"),
        "shrinkage_share_": float("nan"),
    }


def told_of_search(landscape: Landscape, finding: Finding) -> dict[str, Any]:
    """What is told of a search."""
    found = finding.search
    return {
        "search_": "population",
        "solutions_": np.array([landscape.state(theta).coef for theta in found.thetas]),
        "solution_objectives_": found.objectives,
        "certified_": finding.certified,
        "lower_bound_": finding.lower_bound,
        "match_score_": finding.score,
        "null_scores_": finding.nulls,
        "null_pvalue_": finding.p_value,
        "n_candidates_": found.n_candidates,
        "n_found_": int(found.n_found[0]),
        "stopped_by_": found.stopped_by,
    }
