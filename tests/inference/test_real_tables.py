"""The benchmark on real tables: which regressions it takes, and how it measures a fit."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.real_cases import GROUP_SIZE, RANDOM, SORTED, grouped, mostly_right, permute, stream
from benchmarks.real_fits import OURS, accuracy, coverage, reference, scalars
from benchmarks.real_summary import method_rows, verdict_row
from benchmarks.real_tables import LABELS, Table, held_back, regression, split, without_repeats
from benchmarks.verdict_sets import radius
from scipy.stats import chi2


def frame(n=150, slope=1.0, seed=0):
    """Two features and a label, among columns that must not be used."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    label = slope * a + rng.normal(size=n)
    return pd.DataFrame(
        {
            "rownames": np.arange(n),
            "a": a,
            "word": ["x"] * n,
            "constant": 1.0,
            "empty": np.where(np.arange(n) < n // 2, np.nan, a),
            "label": label,
            "few": np.round(b) + 5.0,
        }
    )


def table(n=101, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return Table("made/here", X, X @ [1.0, -0.5] + rng.normal(size=n))


def test_label_is_the_last_column_with_many_values():
    data = frame()
    X, y = regression(data)
    assert X.shape == (150, 2)
    rows = np.random.default_rng(0).permutation(150)
    expected = data[["a", "few"]].to_numpy()[rows]
    np.testing.assert_allclose(X, (expected - expected.mean(0)) / expected.std(0))
    label = data["label"].to_numpy()[rows]
    np.testing.assert_allclose(y, (label - label.mean()) / label.std())


@pytest.mark.parametrize("n_columns", range(1, 8))
def test_choices_of_a_label_take_different_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    data = pd.DataFrame({f"c{k}": rng.normal(size=60) for k in range(n_columns)})
    data["few"] = np.arange(60) % 3
    found = {which: split(data, which) for which in LABELS}
    taken = [
        next(name for name in data if np.array_equal(data[name], columns[1]))
        for columns in found.values()
        if columns is not None
    ]
    assert len(taken) == len(set(taken)) == sum(n_columns >= least for least in LABELS.values())
    assert taken[0] == f"c{n_columns - 1}"


def test_rows_are_complete_and_limited():
    data = frame(2000)
    data.loc[:99, "a"] = np.nan
    X, y = regression(data)
    assert X.shape == (1200, 2)
    assert np.isfinite(X).all()
    assert y.shape == (1200,)


@pytest.mark.parametrize(
    "data",
    [
        frame(99),
        frame(slope=0.01),
        frame().assign(label=lambda f: f["a"] + 1e-3 * f["label"]),
        frame().assign(few=lambda f: f["a"] + 1e-3 * f["few"]),
        frame()[["label", "word"]],
        frame()[["label", "constant"]],
        frame()[["few", "constant", "word"]].assign(other=lambda f: f["few"] * 2),
    ],
    ids=["few rows", "no fit", "perfect fit", "collinear", "one number", "no feature", "no label"],
)
def test_what_is_no_regression_is_left_out(data):
    assert regression(data) is None


def test_repeated_labels_are_left_out():
    first, other = table(), table(seed=1)
    again = Table("made/again", other.X, first.y + 1e-12)
    assert [t.name for t in without_repeats([first, again, other])] == ["made/here", "made/here"]


def test_half_of_the_names_is_held_back():
    names = [f"package/{k}" for k in range(1000)]
    assert 400 < sum(map(held_back, names)) < 600
    assert not held_back("AER/CASchools")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_share_of_rows_is_permuted(share):
    source = permute(stream("name", share), 1000, share)
    assert sorted(source) == list(range(1000))
    moved = np.mean(source != np.arange(1000))
    # A random permutation leaves one row in place on average.
    assert share - 0.01 <= moved <= share


def test_streams_do_not_depend_on_the_process():
    # Written down once: Python's own hash would differ from run to run.
    assert stream("AER/CASchools", 0.1).randint(1_000_000) == 894_062
    assert stream("AER/CASchools", 0.3).randint(1_000_000) != 894_062


@pytest.mark.parametrize("kind", [RANDOM, SORTED])
def test_labels_stay_inside_groups_of_eight(kind):
    case = grouped(table(), kind)
    assert len(case.ordered) == 96
    assert np.all(np.bincount(case.groups) == GROUP_SIZE)
    for group in range(12):
        inside = case.groups == group
        assert sorted(case.given[inside]) == sorted(case.ordered[inside])
    assert np.any(case.given != case.ordered)
    assert np.all(np.diff(case.X[:, 0]) >= 0) == (kind == SORTED)


def test_reference_is_least_squares_with_known_order():
    case = mostly_right(table(), 0.3)
    ref = reference(case.X, case.ordered)
    design = np.column_stack([np.ones(101), case.X])
    coef, rss = np.linalg.lstsq(design, case.ordered, rcond=None)[:2]
    np.testing.assert_allclose(ref.coef, coef[1:])
    assert ref.radius == pytest.approx(np.sqrt(rss[0] / 98 * chi2.ppf(0.95, 2)))
    assert radius(0.5, 3) == pytest.approx(0.5 * np.sqrt(chi2.ppf(0.95, 3)))


def test_sound_is_below_twice_the_radius():
    ref = reference(*table()[1:])
    direction = np.array([1.0, 0.0])
    unit = ref.radius / np.linalg.norm(ref.X @ direction)
    assert accuracy(ref.coef + 1.99 * unit * direction, ref)["sound"]
    assert not accuracy(ref.coef + 2.01 * unit * direction, ref)["sound"]
    assert accuracy(2 * ref.coef, ref)["error"] == pytest.approx(1.0)


class Intervals:
    """Stands for a fit: intercept and two slopes, one of them without an interval."""

    rate_, words_, path_, count_ = np.float64("nan"), "known", np.zeros(3), np.int64(2)

    def conf_int(self):
        return np.array([[5.0, 6.0], [0.0, 2.0], [np.nan, np.nan]])


def test_coverage_counts_slopes_that_have_an_interval():
    assert coverage(Intervals(), np.array([1.0, 1.0])) == {
        "intervals": 1,
        "covered": 1,
        "coverage": 1.0,
    }
    assert coverage(Intervals(), np.array([3.0, 1.0]))["covered"] == 0


def test_scalars_are_plain_values():
    assert scalars(Intervals()) == {"count_": 2, "rate_": None, "words_": "known"}


def row(method, error, **more):
    about = {"table": "t", "case": "c", "part": "mostly-right", "method": method}
    return {**about, "error": error, "sound": error < 0.5, "seconds": 1.0, **more}


def test_summary_counts_trusted_fits():
    rows = [
        row("OLS as given", 0.2),
        row(OURS, 0.1, level="trust", covered=2, intervals=2, mismatch_rate_=0.01),
        row(OURS, 0.7, level="trust", covered=0, intervals=2, mismatch_rate_=0.2),
        row(OURS, 0.9, level="reject", covered=0, intervals=0),
        {**row(OURS, 0.0), "failed": "ValueError: no"},
    ]
    found = verdict_row(rows, "c")
    assert found["tables"] == 3
    assert found["trusted"] == "66.7 %"
    assert found["trusted, sound"] == "50.0 %"
    assert found["trusted, coverage"] == "50.0 %"
    assert found["trusted, rate above 5 %"] == "33.3 %"
    ours = method_rows(rows, "c")[-1]
    assert ours["failed"] == 1
    assert ours["mean / OLS as given"] == pytest.approx(0.57 / 0.2, abs=0.02)
