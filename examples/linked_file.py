"""A linked file with wrong links: what it does to a regression, and what helps.

The records are febrl's: two files about the same 5,000 persons, with typing errors. File A gets
four features, file B an outcome that depends on them, and the files are linked by name inside the
year of birth. Needs ``pip install recordlinkage``. Run: ``python -m examples.linked_file`` from the
root of the project (about a minute). ``--json`` writes the tables of docs/guides/linked-file.md to
docs/results, and the links that the guide reads to docs/guides/links.csv.gz.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import HuberRegressor, LinearRegression

from unshuffle import Audit, MixtureRegressor, MomentRegressor, StochasticEMRegressor
from unshuffle.metrics import coefficient_error

try:
    import recordlinkage
    from recordlinkage.datasets import load_febrl4
except ImportError:
    print("this example needs the package recordlinkage: pip install recordlinkage")
    sys.exit(2)

COEF = np.array([2.0, -1.0, 0.5, 0.0])
NOISE = 1.5
N_DRAWS = 10
N_REVIEWED = 300
LONG = 10_000_000  # proposals of one iteration; "auto" is 300,000 here
LINKS = Path(__file__).parents[1] / "docs" / "guides" / "links.csv.gz"


def load_files():
    """Both files, with the year of birth; records without one cannot be linked here."""
    files = load_febrl4()
    for file in files:
        file["year"] = file["date_of_birth"].str[:4]
    return [file.dropna(subset="year") for file in files]


def score_pairs(file_a, file_b):
    """Fellegi-Sunter probability of every pair of the same year, from two names."""
    index = recordlinkage.Index()
    index.block("year")
    pairs = index.index(file_a, file_b)
    compare = recordlinkage.Compare()
    compare.exact("given_name", "given_name", label="given_name")
    compare.exact("surname", "surname", label="surname")
    agreement = compare.compute(pairs, file_a, file_b)
    classifier = recordlinkage.ECMClassifier()
    classifier.fit(agreement)
    return classifier.prob(agreement)


def link(file_a, file_b, scores):
    """The best one-to-one links inside each year."""
    parts = []
    for year, rows in file_a.groupby("year").groups.items():
        columns = file_b.index[file_b["year"] == year]
        # Both files keep their own order, so that ties are not broken by the record number.
        block = scores[scores.index.get_level_values(0).isin(rows)].unstack()
        block = block.loc[rows, columns]
        i, j = linear_sum_assignment(block.to_numpy(), maximize=True)
        parts.append(
            pd.DataFrame(
                {
                    "person_a": person(rows[i]),
                    "person_b": person(columns[j]),
                    "year": year,
                    "score": block.to_numpy()[i, j],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def person(record_ids):
    """'rec-1070-org' and 'rec-1070-dup-0' are person 1070."""
    return [int(record_id.split("-")[1]) for record_id in record_ids]


def calibrate(scores, right, reviewed):
    """Probability of a link, learnt from the links that a clerk has looked at."""
    curve = IsotonicRegression(y_min=0.01, y_max=0.99, out_of_bounds="clip")
    return curve.fit(scores[reviewed], right[reviewed]).predict(scores)


def draw_outcomes(rng, links):
    """Features of A's persons; the outcome as linked, and as it should have been."""
    features = rng.normal(size=(5000, len(COEF)))
    outcome = 1.0 + features @ COEF + NOISE * rng.normal(size=5000)
    return features[links.person_a], outcome[links.person_b], outcome[links.person_a]


def fit_all(X, y, y_true, links, prob, known, audit):
    """Every method on one linked file."""
    raw, year = links.score.to_numpy(), links.year
    sure = raw > 0.5
    return {
        "OLS": LinearRegression().fit(X, y),
        "OLS, links with score > 0.5": LinearRegression().fit(X[sure], y[sure]),
        "HuberRegressor": HuberRegressor().fit(X, y),
        "mixture": MixtureRegressor().fit(X, y),
        "mixture, match_prob": MixtureRegressor().fit(X, y, match_prob=prob),
        "EM, estimate": new_em().fit(X, y),
        "EM, estimate, groups": new_em().fit(X, y, groups=year),
        "EM, match_prob": new_em().fit(X, y, match_prob=prob),
        "EM, match_prob, known": new_em().fit(X, y, match_prob=prob, known=known),
        "EM, match_prob, groups": new_em().fit(X, y, match_prob=prob, groups=year),
        "EM, raw score as match_prob": new_em().fit(X, y, match_prob=raw),
        "moments, audit": MomentRegressor(mismatch_rate=audit).fit(X, y),
        "moments, match_prob": MomentRegressor().fit(X, y, match_prob=prob),
        "OLS, true links": LinearRegression().fit(X, y_true),
    }


def new_em(**settings):
    """The permutation model; a `match_prob` takes the place of the estimated rate."""
    return StochasticEMRegressor(mismatch_rate="estimate", random_state=0, **settings)


def describe_links(links, right, prob):
    """What the linkage did, seen from the truth."""
    table = pd.DataFrame({"score": links.score.round(3), "right": right, "prob": prob})
    rows = [
        {
            "score": score,
            "links": len(part),
            "right": round(float(part.right.mean()), 2),
            "calibrated": round(float(part.prob.mean()), 2),
        }
        for score, part in table.groupby("score")
    ]
    same_year = set(zip(links.person_b, links.year, strict=True))
    lost = ~pd.Series(zip(links.person_a, links.year, strict=True)).isin(same_year)
    print(f"links {len(links)}, false {np.mean(~right):.3f}")
    print(f"rows whose own outcome is not in the same year: {lost.mean():.3f}")
    return rows


def compare(links, right, prob, reviewed):
    """Mean errors over draws of features and outcomes; the links stay the same."""
    errors, rates = {}, {}
    known, audit = reviewed & right, Audit(N_REVIEWED, int(np.sum(reviewed & ~right)))
    for seed in range(N_DRAWS):
        X, y, y_true = draw_outcomes(np.random.default_rng(seed), links)
        for name, model in fit_all(X, y, y_true, links, prob, known, audit).items():
            errors.setdefault(name, []).append(coefficient_error(model.coef_, COEF))
            rates.setdefault(name, []).append(getattr(model, "mismatch_rate_", None))
    rows = [
        {
            "method": name,
            "error": round(float(np.mean(values)), 3),
            "mismatch rate": None if None in rates[name] else round(float(np.mean(rates[name])), 3),
        }
        for name, values in errors.items()
    ]
    truth = {"method": "truth", "error": 0.0, "mismatch rate": round(float(np.mean(~right)), 3)}
    return [*rows, truth]


def list_suspects(links, right, prob):
    """How good lists of suspects and repairs are, on one draw."""
    X, y, _ = draw_outcomes(np.random.default_rng(0), links)
    given = {"match_prob": prob}
    models = {
        "mixture": MixtureRegressor().fit(X, y),
        "EM, estimate": new_em().fit(X, y),
        "EM, estimate, long chain": new_em(n_steps=LONG).fit(X, y),
        "mixture, match_prob": MixtureRegressor().fit(X, y, **given),
        "EM, match_prob": new_em().fit(X, y, **given),
        "EM, match_prob, long chain": new_em(n_steps=LONG).fit(X, y, **given),
        "the same, groups": new_em(n_steps=LONG).fit(X, y, **given, groups=links.year),
    }
    rows = []
    for name, model in models.items():
        suspected = model.match_proba_ < 0.5
        row = {
            "method": name,
            "suspects": int(suspected.sum()),
            "precision": round(float(np.mean(~right[suspected])), 2),
            "recall": round(float(np.mean(suspected[~right])), 2),
        }
        if hasattr(model, "repair"):
            owners = links.person_b.to_numpy()[model.permutation_]
            row["expected"] = round(model.expect_repair().after, 3)
            row["right if repaired"] = round(float(np.mean(owners == links.person_a)), 3)
        rows.append(row)
    return rows


def main():
    """Link, compare, list suspects."""
    file_a, file_b = load_files()
    links = link(file_a, file_b, score_pairs(file_a, file_b))
    right = (links.person_a == links.person_b).to_numpy()
    reviewed = np.zeros(len(links), dtype=bool)
    reviewed[np.random.default_rng(0).choice(len(links), N_REVIEWED, replace=False)] = True
    prob = calibrate(links.score.to_numpy(), right, reviewed)
    tables = {
        "links": describe_links(links, right, prob),
        "coefficients": compare(links, right, prob, reviewed),
        "suspects": list_suspects(links, right, prob),
    }
    for name, rows in tables.items():
        print(f"\n{name}\n{pd.DataFrame(rows).to_string(index=False, na_rep='')}")
    if "--json" in sys.argv:
        from docs.tables import write_result

        write_result("linked-file", "python -m examples.linked_file --json", tables, draws=N_DRAWS)
        links.to_csv(LINKS, index=False, compression={"method": "gzip", "mtime": 0})


if __name__ == "__main__":
    main()
