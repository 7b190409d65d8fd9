"""`unshuffle fit --strata`: rates of mismatches per stratum on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from surface.shell import call, write
from unshuffle import Audit, ShuffledRegressor
from unshuffle.cli.rates import TypedRates, rate_given
from unshuffle.io.tables.roles import Roles, read_rows

N = 120
TYPED = "1961=12/30,1962=2/40"
EXACTLY = {"a": float, "y": float}  # as Python reads numbers, in every version of pandas
RATES = {"1961": Audit(30, 12), "1962": Audit(40, 2)}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A linked file whose strata, years, look like numbers."""
    rng = np.random.default_rng(0)
    a, year = rng.normal(size=N), rng.choice([1961, 1962], size=N)
    y = 1 + 2 * a + 0.3 * rng.normal(size=N)
    moved = np.flatnonzero(rng.random(N) < np.where(year == 1961, 0.4, 0.05))
    y[moved] = y[np.roll(moved, 1)]
    return write(tmp_path_factory.mktemp("strata") / "linked.csv", a=a, year=year, y=y)


@pytest.fixture(scope="module")
def expected(table):
    data = pd.read_csv(table, converters=EXACTLY)
    model = ShuffledRegressor(pairing="mostly-right", mismatch_rate=RATES, random_state=0)
    return model.fit(data[["a"]], data["y"], strata=data["year"].astype(str))


def facts(done):
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    return found, found["coefficients"]["a"]["unshuffle"]


def test_audits_are_typed_per_stratum(table, expected, tmp_path):
    out = tmp_path / "out"
    done = call(
        "fit", table, "-y", "y", "--strata", "year", "--audit", TYPED, "--json", "--out", out
    )
    found, slope = facts(done)
    assert slope["coef"] == expected.coef_[0]
    assert slope["std err"] == expected.standard_errors_[1]
    assert found["pairing"] == "mostly-right"
    assert found["settings"]["audit"] == TYPED
    assert found["settings"]["strata"] == "year"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "from unshuffle import Audit, ShuffledRegressor" in page
    assert "strata=table[&#x27;year&#x27;].astype(str))" in page


def rates_of(table, **typed):
    """What a fit would be given."""
    return rate_given(TypedRates(**typed), read_rows(table, Roles("y", strata="year")))


def test_audits_stand_in_a_table(table, tmp_path):
    counts = {"stratum": ["1962", "1961"], "checked": [40, 30], "wrong": [2, 12]}
    path = write(tmp_path / "audits.csv", **counts)
    found = rates_of(table, audit=str(path), strata="year")
    assert found["mismatch_rate"] == RATES
    assert set(found["strata"]) == {"1961", "1962"}


def test_rates_that_are_known_stand_beside_audits(table):
    found = rates_of(table, audit="1961=12/30", mismatch_rate="1962=0.05", strata="year")
    assert found["mismatch_rate"] == {"1961": Audit(30, 12), "1962": 0.05}


def test_one_rate_that_is_known(table):
    data = pd.read_csv(table, converters=EXACTLY)
    model = ShuffledRegressor(pairing="mostly-right", mismatch_rate=0.2, random_state=0)
    model.fit(data[["a"]], data["y"])
    options = ("-y", "y", "--exclude", "year", "--mismatch-rate", "0.2", "--json")
    assert facts(call("fit", table, *options))[1]["coef"] == model.coef_[0]


def test_labels_marked_wrong_keep_the_rates_of_their_strata(table, tmp_path):
    decided = write(tmp_path / "reviewed.csv", row=[1, 2], decision=["wrong", "right"])
    done = call(
        "fit", table, "-y", "y", "--strata", "year", "--audit", TYPED, "--reviewed", decided,
        "--json",
    )  # fmt: skip
    found, slope = facts(done)
    assert any("take the rates of --audit for known" in note for note in found["notes"])
    assert found["settings"]["audit"] == TYPED
    data = pd.read_csv(table, converters=EXACTLY)
    prior = np.where(data["year"] == 1961, 1 - RATES["1961"].rate, 1 - RATES["1962"].rate)
    prior[0] = 0.0
    model = ShuffledRegressor(pairing="mostly-right", random_state=0)
    model.fit(data[["a"]], data["y"], known=np.arange(N) == 1, match_prob=prior)
    assert slope["coef"] == model.coef_[0]


YEARS = ("--strata", "year")
REFUSED = {
    "no rates": (YEARS, "--strata year has no rates"),
    "one rate": ((*YEARS, "--audit", "2/9"), "needs a rate for each stratum"),
    "no strata": (("--audit", TYPED), "name its column by --strata"),
    "no such column": (("--strata", "yaer", "--audit", TYPED), "did you mean 'year'?"),
    "one is missing": ((*YEARS, "--audit", "1961=1/9"), "1 of 2 strata in the column 'year' have"),
    "unknown name": ((*YEARS, "--audit", f"{TYPED},1963=1/9"), "is given for '1963' (did you mean"),
    "above the total": ((*YEARS, "--audit", "1961=9/1,1962=1/9"), "1961=9/1: wrong must lie"),
    "no links": ((*YEARS, "--audit", "1961=0/0,1962=1/9"), "1961=0/0: an audit needs at least one"),
    "negative": ((*YEARS, "--audit", "1961=-1/5,1962=1/9"), "wrong/checked, such as 21/300"),
    "named twice": ((*YEARS, "--audit", f"{TYPED},1961=1/9"), "the stratum '1961' twice"),
    "no name": ((*YEARS, "--audit", "1961=1/9,2/9"), "is a list of stratum=value"),
    "two kinds": ((*YEARS, "--audit", TYPED, "--mismatch-rate", "1961=.1"), "choose one"),
    "two rates": (("--audit", "1/9", "--mismatch-rate", ".1"), "leave out one of them"),
    "percent": (("--mismatch-rate", "7%"), "a rate is a number from 0 to below 1"),
    "nothing": (("--mismatch-rate", "0"), "--pairing known"),
    "lost": ((*YEARS, "--audit", TYPED, "--pairing", "lost"), "rate of mismatches of a linked"),
    "clues": (("--audit", "2/9", "--match-feature", "year"), "--match-feature estimates who"),
    "no file": ((*YEARS, "--audit", "nowhere.csv"), "there is no such file"),
    "passes": ((*YEARS, "--audit", TYPED, "--checkpoint", "c.npz"), "not a Parquet file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_rates_that_cannot_be_meant_are_named(table, case):
    options, message = REFUSED[case]
    done = call("fit", table, "-y", "y", *options)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"stratum": [1961, 1961], "checked": [9, 9], "wrong": [1, 1]}, "'1961' is here twice"),
        ({"stratum": [1961, 1962], "checked": [9, 9], "wrong": [1, 10]}, "line 3, column"),
        ({"stratum": [1961, 1962], "checked": [9, 8.5], "wrong": [1, 1]}, "must be a whole number"),
        ({"year": [1961, 1962], "checked": [9, 9], "wrong": [1, 1]}, "has no column 'stratum'"),
    ],
)
def test_tables_of_audits_that_cannot_be_meant(table, tmp_path, columns, message):
    counts = write(tmp_path / "audits.csv", **columns)
    done = call("fit", table, "-y", "y", *YEARS, "--audit", counts)
    assert done.exit_code == 2
    assert message in done.stderr


def test_passes_refuse_rates():
    with pytest.raises(ValueError, match="--audit, --strata are not for data that are read in"):
        TypedRates(audit="a=1/9", strata="zone").refuse_passes()


def test_names_with_commas_and_signs_of_equality(tmp_path):
    path = write(tmp_path / "t.csv", a=[1, 2], year=["a,b", "c=d"], y=[3, 5])
    found = rates_of(path, audit='"a,b=1/9",c=d=1/8', strata="year")
    assert found["mismatch_rate"] == {"a,b": Audit(9, 1), "c=d": Audit(8, 1)}
