"""The report as a text: sections, escaping, size, no reference to anything outside."""

import base64
import hashlib
import json
import pickle
import re
import sys
from html import escape, unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from unshuffle import HardEMRegressor, MixtureRegressor, ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.show.report import DataFacts, build_report, write_report
from unshuffle.show.settings import ShowSettings

pytestmark = pytest.mark.long

EVIL = '<script>alert("1")</script>'
SECTIONS = ("verdict", "coefficients-section", "matches-section", "pictures", "data", "settings", "code-section")  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return make_shuffled_regression(
        200, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    )


@pytest.fixture(scope="module")
def model(data):
    frame = pd.DataFrame(data.X, columns=[EVIL, "{{code}}", "a & b"])
    return ShuffledRegressor(random_state=0).fit(frame, data.y)


@pytest.fixture(scope="module")
def page(model):
    facts = DataFacts(
        "trial <2>.csv", 200, 1, 0, (EVIL, "{{code}}", "a & b"), "outcome", "",
        [f"person {i} {EVIL}" for i in range(200)], [EVIL] * 200,
    )  # fmt: skip
    return build_report(
        model, data=facts, settings={"--group": EVIL}, code=f"print('{EVIL}')", title=EVIL
    )


def text_of(page):
    page = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)))


def test_all_sections_stand_in_order_verdict_first(page):
    places = [page.index(f'<section id="{name}">') for name in SECTIONS]
    assert places == sorted(places)


def test_the_verdict_shows_each_reason_with_its_number(model, page):
    shown = text_of(page)
    assert "Use the coefficients and their intervals: all checks passed." in shown
    assert "The order of the labels was taken to be mostly right." in shown
    for reason in model.verdict_.reasons:
        assert f"{reason.text}." in shown
    rate = f"{100 * model.mismatch_rate_:.0f} %"
    assert f"An estimated {rate} of the rows hold the label of another row" in shown


def test_a_rejected_fit_says_what_to_do():
    data = make_shuffled_regression(80, 12, noise=2.0, random_state=0)
    with pytest.warns(UserWarning, match="do not trust"):
        model = ShuffledRegressor(random_state=0, n_candidates=50).fit(data.X, data.y)
    shown = text_of(build_report(model))
    assert "Do not use the coefficients: 2 of 2 checks reject the fit." in shown
    advice = model.verdict_.reasons[0].advice
    assert f"What to do: {advice[0].upper()}{advice[1:]}." in shown
    assert "to be lost; the fit starts from the labels as given, without a match." in shown


def test_tables_hold_the_numbers_of_the_summary(model, page):
    summary = model.summary().to_dict()["coefficients"]
    rows = re.search(r'<table id="coefficients">.*?</table>', page, re.S)[0].split("<tr><td")[1:]
    assert len(rows) == len(summary) == 4
    for row, tables in zip(rows, summary.values(), strict=True):
        cells = re.findall(r"(?:^|<td)[^>]*>([^<]*)", row)
        ours, given = tables["unshuffle"], tables["as given"]
        shown = [ours["coef"], ours["std err"], ours["low"], ours["high"]]
        assert cells[1:5] == [f"{value:.4g}" for value in shown]
        assert cells[6:8] == [f"{given[name]:.4g}" for name in ("coef", "std err")]


def listed(page):
    body = re.search(r'<table id="matches">.*?<tbody>(.*?)</tbody>', page, re.S)[1]
    return [re.findall(r"<td[^>]*>([^<]*)", line) for line in body.strip().split("\n")]


def data_of(page):
    return json.loads(re.search(r'id="review-data">(.*?)</script>', page, re.S)[1])


def test_what_needs_a_decision_comes_first(model, page):
    lines, found = listed(page), data_of(page)
    rows = [found["records"][entry[0]][0] - 1 for entry in found["rows"]]
    proba, off = model.match_proba_, model.off_proba_
    unclear = (proba - off >= 0.05) & (proba - off < 0.9) & (off <= 1.0 - proba)
    n_unclear = int(unclear.sum())
    assert n_unclear > 5
    assert set(rows[:n_unclear]) == set(np.flatnonzero(unclear))
    assert (np.diff(np.abs(proba - off - 0.5)[rows[:n_unclear]]) >= 0).all()
    assert [int(line[0]) - 1 for line in lines] == rows[:100]
    assert "0.0000" not in text_of(page)
    assert [line[1] for line in lines] == [escape(f"person {row} {EVIL}") for row in rows[:100]]


def test_partners_are_those_of_the_most_likely_permutation(model, page):
    found = data_of(page)
    moved = 0
    for place, _, _, *pairs in found["rows"]:
        row = found["records"][place][0] - 1
        likely = int(model.permutation_[row])
        if likely != row:
            assert found["records"][pairs[0]][0] - 1 == likely
            moved += 1
        assert row not in [found["records"][k][0] - 1 for k in pairs[::2]]
    assert moved == np.sum(model.permutation_ != np.arange(200)) > 10


def test_what_comes_from_outside_is_escaped(page):
    assert EVIL not in page
    assert page.count("<script") == 2  # the page's own, and data that no browser runs
    assert "alert(" in page  # it is shown
    assert "{{code}}" in text_of(page)  # and not filled in a second time


def test_nothing_is_fetched_and_only_our_script_may_run(page):
    addresses = re.findall(r"https?://[^\s\"'<)]+", page)
    assert {a for a in addresses if "www.w3.org" not in a} == set()  # names of XML, no addresses
    for reference in re.findall(r'(?:href|src)="([^"]*)"', page):
        assert reference.startswith(("#", "data:"))
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    script = re.search(r"<script>(.*?)</script>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy


def test_names_in_pictures_are_used_once(page):
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    wanted = set(re.findall(r'(?:url\(#|href="#)([^")]*)', page))
    assert wanted <= set(names)


def test_pictures_take_their_colours_from_the_page(page, model):
    drawings = re.findall(r"<svg.*?</svg>", page, re.S)
    # Sensitivity, coefficients, pairs, residuals, and the path of fits that iterate.
    assert len(drawings) == 4 + (model.n_iter_ > 1)
    for drawing in drawings:
        assert 'role="img"' in drawing and "currentColor" in drawing
        assert not re.search(r"(fill|stroke): #0", drawing)
    assert "var(--blue)" in drawings[0] and "var(--grey)" in drawings[0]
    assert "var(--blue)" in drawings[1] and "var(--vermilion)" in drawings[1]


def test_data_settings_versions_and_code_are_shown(page):
    shown = text_of(page)
    for words in (
        "trial <2>.csv", "outcome", "random_state 0", "scikit-learn", "numba", "Python",
        f"print('{EVIL}')", "Rows with a known label 0",
    ):  # fmt: skip
        assert words in shown


def test_the_same_fit_gives_the_same_page(model):
    assert build_report(model) == build_report(model)


@pytest.mark.parametrize("name", ["", "&" * 200])
def test_a_large_fit_stays_below_a_megabyte_and_says_what_is_left_out(name):
    rng = np.random.default_rng(0)
    n, d = 2100, 26
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"{name}{j}" for j in range(d)])
    model = StochasticEMRegressor(mismatch_rate=0.01, max_iter=2, tol=0.0, random_state=0)
    model.fit(frame, y)
    facts = DataFacts(
        "x" * 500, n, 1, columns=tuple(frame.columns),
        row_names=[f"{name}{i}" for i in range(n)], group_names=[name] * n,
    )  # fmt: skip
    page = build_report(model, data=facts)
    assert len(page.encode()) < 1_000_000
    n_listed = int(re.search(r"<p>([\d,]+) of 2,100 rows, what", page)[1].replace(",", ""))
    assert len(data_of(page)["rows"]) == n_listed > 200
    assert len(listed(page)) == 100
    # Short names leave all that are ever listed; long ones fewer, to stay below the size.
    assert (n_listed == 2000) == (not name)
    assert page.count("Only the 25 of 26 coefficients with the largest") == 4  # captions, labels


def test_limits_are_settings(model):
    limits = ShowSettings(most_coefficients=2, most_drawn_coefficients=1, most_matches=7)
    page = build_report(model, limits=limits)
    shown = text_of(page)
    assert "Only the 2 of 3 coefficients with the largest |t| are shown." in shown
    assert "Only the 1 of 3 coefficients with the largest |t| are shown." in shown
    assert "7 of 200 rows, what needs a decision first." in shown
    assert len(data_of(page)["rows"]) == 7
    clearest = np.argsort(-np.abs(model.coef_ / model.standard_errors_[1:]))[:2]
    table = re.search(r'<table id="coefficients">.*?</table>', page, re.S)[0]
    named = [name for name in model.feature_names_in_ if escape(name) in table]
    assert named == [model.feature_names_in_[j] for j in sorted(clearest)]


@pytest.mark.parametrize(
    "estimator",
    [
        MixtureRegressor(),
        HardEMRegressor(random_state=0),
        StochasticEMRegressor(variant="published", max_iter=5, tol=0.0, random_state=0),
        StochasticEMRegressor(mismatch_rate="estimate", random_state=0, fit_intercept=False),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_without_a_verdict_have_a_report(estimator, data):
    page = build_report(estimator.fit(data.X, data.y))
    assert "No verdict" in page
    assert all(f'<section id="{name}">' in page for name in SECTIONS)


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_unpaired_and_loaded_models_have_a_report(data):
    model = ShuffledRegressor(search="none", random_state=0).fit_unpaired(data.X, data.y)
    shown = text_of(build_report(model))
    assert "Most likely label number" in shown
    assert "labels as given were" not in shown
    loaded = pickle.loads(pickle.dumps(model))
    page = build_report(loaded)
    assert 'id="picture-coefficients"' in page
    assert 'id="picture-residuals"' in page  # fitted values are in the file, features are not


def test_without_matplotlib_the_report_says_how_to_get_pictures(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = build_report(model)
    assert "<svg" not in page
    assert 'pip install "unshuffle[plots]"' in text_of(page)


def test_wrong_facts_are_refused(model):
    with pytest.raises(ValueError, match="data has 7 rows but the model was fitted to 200"):
        build_report(model, data=DataFacts("", 7, 1))
    with pytest.raises(ValueError, match="row_names has 1 entries but n_rows is 2"):
        DataFacts("", 2, 1, row_names=["a"])
    with pytest.raises(NotFittedError):
        build_report(ShuffledRegressor())


def test_a_report_is_written_whole_or_not_at_all(tmp_path, model, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(OSError, match="disk"):
        write_report(path, model)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    monkeypatch.undo()
    assert write_report(path, model, title="new") == path
    assert "<title>new</title>" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def _fail(*_):
    raise OSError("disk is gone")


def test_exchanged_labels_have_a_section_with_table_picture_and_sentence(model, page):
    first = page.index('<section id="coefficients-section">')
    assert first < page.index('<section id="sensitivity">') < page.index('<section id="pictures">')
    assert '<a href="#sensitivity">' in page
    assert "if a given share of the labels was exchanged at random inside groups" in text_of(page)
    body = re.search(r'<table id="sensitivity-table">.*?<tbody>(.*?)</tbody>', page, re.S)[1]
    lines = [re.findall(r"<td[^>]*>([^<]*)", line) for line in body.strip().split("\n")]
    result = model.mismatch_sensitivity()
    shown = np.vstack([result.coef, result.fitted.values]).T
    assert [line[1:] for line in lines] == [[f"{v:.4g}" for v in values] for values in shown]
    assert 'id="picture-sensitivity"' in page


def test_exchanged_labels_have_a_section_only_where_the_order_given_counts(data):
    known = ShuffledRegressor(pairing="known").fit(data.X, data.y_ordered)
    assert 'id="picture-sensitivity"' in build_report(known)
    lost = ShuffledRegressor(pairing="lost", search="none", random_state=0)
    with pytest.warns(UserWarning, match="do not trust"):
        lost.fit(data.X, data.y)
    unchosen = StochasticEMRegressor(mismatch_rate=0.2, max_iter=2, tol=0.0, random_state=0)
    for other in (lost, unchosen.fit(data.X, data.y), MixtureRegressor().fit(data.X, data.y)):
        assert "sensitivity" not in build_report(other)


def test_a_section_that_cannot_be_computed_says_why(model):
    shown = text_of(build_report(pickle.loads(pickle.dumps(model))))
    assert "Not computed: this ShuffledRegressor was loaded from a file" in shown


def test_panels_of_exchanged_labels_are_limited(model):
    page = build_report(model, limits=ShowSettings(most_panels=1))
    caption = re.search(r'id="picture-sensitivity">.*?<figcaption>(.*?)</figcaption>', page, re.S)[
        1
    ]
    assert "Only the 1 of 3 coefficients" in caption


def test_columns_are_left_out_before_rows_and_bytes_are_counted(model):
    """Letters of three bytes, in so many columns that they cannot all stay."""
    records = {f"column {k}": [f"{'名' * 40}{i}" for i in range(200)] for k in range(30)}
    facts = DataFacts("", 200, 1, records=records)
    limits = ShowSettings(most_review_bytes=100_000)
    page = build_report(model, data=facts, limits=limits)
    packed = re.search(r'id="review-data">(.*?)</script>', page, re.S)[1]
    assert len(packed.encode()) <= 100_000
    found = json.loads(packed)
    assert 0 < len(found["columns"]) < 30
    assert len(found["rows"]) == 200
