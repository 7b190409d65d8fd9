"""How often a fit itself says that it does not know."""

from .sets import RECOVERED, facts, mean_of


def rows(by_set):
    """Counts over all sets of the map."""
    fits = [f for some in by_set.values() for f in some]
    good = [f for f in fits if f["error"] < RECOVERED]
    bad = [f for f in fits if f["error"] >= RECOVERED]
    cautious = [f for f in bad if f["cautious"]]
    used = [f for f in bad if not f["cautious"]]
    wrong = [f for f in used if f["error"] >= 0.5]
    near = [f["error"] for f in used if f["error"] < 0.5]
    return facts(
        [
            ("sets", len(fits)),
            ("recovered", len(good)),
            ("recovered: null_pvalue_ below .05", sum(f["p"] < 0.05 for f in good)),
            ("not recovered", len(bad)),
            ("not recovered: null_pvalue_ of .05 or more", sum(f["p"] >= 0.05 for f in bad)),
            ("not recovered: cautious", len(cautious)),
            ("cautious: mean error of coef_", mean_of(cautious, "error")),
            ("cautious: mean error of solutions_[0]", mean_of(cautious, "best_error")),
            ("cautious: solutions_[0] worse than zero", sum(f["best_error"] > 1 for f in cautious)),
            ("cautious: solutions_[0] right", sum(f["best_error"] < RECOVERED for f in cautious)),
            ("not recovered: match used", len(used)),
            ("match used: error below .5", len(near)),
            ("match used: largest of these errors", round(max(near, default=0.0), 2)),
            ("match used: error of .5 or more", len(wrong)),
            ("wrong: mean error", mean_of(wrong, "error")),
            ("wrong: opposite sign, cosine below -.9", sum(f["best_cosine"] < -0.9 for f in wrong)),
            ("not recovered: solutions_[0] opposite", sum(f["best_cosine"] < -0.9 for f in bad)),
            ("certified among the not recovered", sum(f["certified"] for f in bad)),
        ]
    )
