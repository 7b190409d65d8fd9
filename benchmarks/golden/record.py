"""What is recorded of a fit, each number to the last bit."""

import hashlib
import warnings

import numpy as np

# Name in the record, and the names of the attribute, old or new; the first that exists is read.
FIELDS = {
    "coef": ("coef_",),
    "intercept": ("intercept_",),
    "noise_scale": ("noise_scale_",),
    "mismatch_rate": ("mismatch_rate_",),
    "standard_errors": ("standard_errors_",),
    "covariance": ("covariance_",),
    "noise_scale_se": ("noise_scale_se_",),
    "mismatch_rate_se": ("mismatch_rate_se_",),
    "information_left": ("information_left_", "information_kept_", "information_fraction_"),
    "error_inflation": ("error_inflation_",),
    "n_iter": ("n_iter_",),
    "converged": ("converged_",),
    "permutation": ("permutation_",),
    "expected_labels": ("expected_labels_",),
    "match_proba": ("match_proba_",),
    "objective_path": ("objective_path_",),
    "coef_path": ("coef_path_",),
    "acceptance_rate": ("acceptance_rate_",),
    "n_groups": ("n_groups_",),
    "rank": ("rank_",),
    "n_features_in": ("n_features_in_",),
    "feature_names_in": ("feature_names_in_",),
    "tol": ("tol_",),
    "n_steps": ("n_steps_",),
    "burn_in": ("burn_in_",),
    "thin": ("thin_",),
    "temper": ("temper_",),
    "ridge": ("ridge_",),
    "pairing": ("pairing_",),
    "pairing_pvalue": ("pairing_pvalue_",),
    "search": ("search_",),
    "start": ("start_",),
    "solutions": ("solutions_",),
    "solution_objectives": ("solution_objectives_",),
    "objective": ("objective_",),
    "certified": ("certified_",),
    "lower_bound": ("lower_bound_",),
    "match_score": ("match_score_",),
    "null_scores": ("null_scores_",),
    "null_pvalue": ("null_pvalue_",),
    "refit_distances": ("refit_distances_",),
    "temper_shift": ("temper_shift_",),
    "shrinkage_share": ("shrinkage_share_",),
    "n_candidates": ("n_candidates_",),
    "n_found": ("n_found_",),
    "stopped_by": ("stopped_by_",),
    "restart_objectives": ("restart_objectives_",),
    "n_init": ("n_init_",),
    "mean_log_density": ("mean_log_density_",),
}
# Words that stand for values and were renamed, new to old. Names of checks are among them.
WORDS = {
    "match against unrelated labels": "comparison with chance",
    "no match used": "match not followed",
    "variance inside groups": "spread inside groups",
}
# Longer arrays are recorded by their digest.
MOST_NUMBERS = 40


def exact(value):
    """A value as JSON can hold it, without any rounding."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return WORDS.get(value, value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    return _array(np.asarray(value))


def _array(array):
    if array.dtype.kind not in "fiub":
        return [exact(str(item)) for item in array.ravel()]
    if array.size <= MOST_NUMBERS:
        return exact(array.tolist())
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # there are many nan, and one is enough
    plain = np.ascontiguousarray(array, dtype="<f8" if array.dtype.kind == "f" else "<i8")
    return {
        "shape": list(array.shape),
        "type": str(array.dtype),
        "sha256": hashlib.sha256(plain.tobytes()).hexdigest(),
        # For the size of a difference.
        "mean": float(plain.mean()).hex(),
        "norm": float(np.linalg.norm(plain.ravel().astype(float))).hex(),
    }


def attributes(model):
    """All recorded attributes that a fitted model has."""
    found = {}
    for field, names in FIELDS.items():
        name = next((name for name in names if hasattr(model, name)), None)
        if name is not None:
            found[field] = exact(getattr(model, name))
    if getattr(model, "verdict_", None) is not None:
        found |= verdict(model.verdict_)
    return found


def verdict(given):
    """Levels, checks and their numbers; not the sentences, which may be reworded."""
    return {
        "verdict": given.level,
        "checks": [
            [exact(r.check), r.level, exact(float(r.value)), exact(float(r.threshold))]
            for r in given.reasons
        ],
    }


def recorded(work):
    """What `work` returns, with the names of the warnings; errors are recorded by their class."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = work()
        except Exception as error:
            found = {"error": type(error).__name__}
            print(f"    {type(error).__name__}: {error}"[:200])
    ignored = (DeprecationWarning, ResourceWarning, PendingDeprecationWarning)
    names = [w.category.__name__ for w in heard if not issubclass(w.category, ignored)]
    return found | {"warnings": sorted(names)}
