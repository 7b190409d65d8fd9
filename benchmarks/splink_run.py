"""`python -m benchmarks.splink_run`: a linkage by splink, from two files to coefficients.

The records are febrl's (`recordlinkage.datasets`): two files about 5,000 persons with typing errors.
splink compares two names inside the same year of birth; `from_pairs` takes its pair table,
links one-to-one, and calibrates with 300 checked links. Outcomes are simulated as in the guide on
linked files, ten times. Needs ``pip install "splink>=5" recordlinkage``; about a minute.
"""

import logging
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from unshuffle import Audit, MixtureRegressor, MomentRegressor, StochasticEMRegressor
from unshuffle.linkage import from_pairs
from unshuffle.metrics import coefficient_error

from .run import show

COEF, NOISE = np.array([2.0, -1.0, 0.5, 0.0]), 1.5
N_DRAWS, N_CHECKED = 10, 300
FEATURES = ["x1", "x2", "x3", "x4"]


def load_files():
    """Both files; a person has the same number in either."""
    from recordlinkage.datasets import load_febrl4

    files = []
    for side, file in zip("lr", load_febrl4(), strict=True):
        table = file.reset_index()
        table["person"] = table["rec_id"].str.split("-").str[1].astype(int)
        table["unique_id"] = side + table["person"].astype(str)
        table["year"] = table["date_of_birth"].str[:4]
        files.append(table[["unique_id", "person", "given_name", "surname", "year", "postcode"]])
    return files


def score_pairs(left, right):
    """splink's own table of scored pairs."""
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[
            cl.JaroWinklerAtThresholds("given_name"),
            cl.JaroWinklerAtThresholds("surname"),
        ],
        blocking_rules_to_generate_predictions=[block_on("year")],
        retain_matching_columns=False,
    )
    database = DuckDBAPI()
    names = ["unique_id", "given_name", "surname", "year"]
    tables = [database.register(file[names], dataset_display_name=name)
              for name, file in (("file_a", left), ("file_b", right))]  # fmt: skip
    linker = Linker(tables, settings, log_level=logging.ERROR)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=0)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("year"))
    return linker.inference.predict().as_pandas_dataframe()


def fit_all(linked, raw, audit, outcome, people):
    """Every method on one linked file."""
    X, y = linked.X[FEATURES], linked.y
    X_raw, y_raw = raw.X[FEATURES], raw.y
    em = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    return {
        "OLS": LinearRegression().fit(X_raw, y_raw),
        "EM, raw match_probability": em.fit(X_raw, y_raw, match_prob=raw.match_prob).coef_,
        "EM, calibrated": em.fit(X, y, match_prob=linked.match_prob).coef_,
        "mixture, calibrated": MixtureRegressor().fit(X, y, match_prob=linked.match_prob),
        "moments, calibrated": MomentRegressor().fit(X, y, match_prob=linked.match_prob),
        "moments, audit": MomentRegressor(mismatch_rate=audit).fit(X_raw, y_raw),
        "OLS, true links": LinearRegression().fit(X_raw, outcome[people[raw.left_rows]]),
    }


def main():
    keep = "--json" in sys.argv
    try:
        left, right = load_files()
        pairs = score_pairs(left, right)
    except ImportError as error:
        print(f'{error}; pip install "splink>=5" recordlinkage')
        sys.exit(2)
    people = left["person"].to_numpy()
    # A clerk checks 300 of the links; here the truth is looked up.
    first = from_pairs(pairs, left, right, features=["person"], label="person")
    true = np.asarray(first.X["person"]) == first.y
    chosen = np.random.default_rng(0).choice(len(first), N_CHECKED, replace=False)
    checked = pd.DataFrame({
        "unique_id_l": left["unique_id"].to_numpy()[first.left_rows[chosen]],
        "unique_id_r": right["unique_id"].to_numpy()[first.right_rows[chosen]],
        "right": true[chosen],
    })  # fmt: skip
    audit = Audit(N_CHECKED, int(np.sum(~true[chosen])))
    print(
        f"{len(pairs):,} pairs of splink, {len(first):,} links, {np.mean(~true):.1%} wrong; {audit}"
    )
    errors, linked = {}, first
    for seed in range(N_DRAWS):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(5000, 4))
        outcome = 1.0 + features @ COEF + NOISE * rng.normal(size=5000)
        one = left.assign(**dict(zip(FEATURES, features[people].T, strict=True)))
        other = right.assign(outcome=outcome[right["person"]])
        files = (one, other)
        names = {"features": FEATURES, "label": "outcome"}
        linked = from_pairs(pairs, *files, checked=checked, **names)
        raw = from_pairs(pairs, *files, **names)
        for name, found in fit_all(linked, raw, audit, outcome, people).items():
            coef = getattr(found, "coef_", found)
            errors.setdefault(name, []).append(coefficient_error(coef, COEF))
    print(linked)
    rows = [{"method": name, "error": round(np.mean(found), 3)} for name, found in errors.items()]
    show(rows)
    if keep:
        from docs.tables import write_result

        write_result(
            "splink", "python -m benchmarks.splink_run --json", {"errors": rows}, draws=N_DRAWS
        )


if __name__ == "__main__":
    main()
