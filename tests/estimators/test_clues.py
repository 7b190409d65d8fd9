"""`match_features`: who is mismatched, in the three estimators."""

import numpy as np
import pandas as pd
import pytest

from clue_data import make_linked
from unshuffle import (
    MixtureRegressor,
    RankWarning,
    ShuffledRegressor,
    StochasticEMRegressor,
    UnshuffleWarning,
    fit_formula,
    load_model,
    save_model,
)
from unshuffle.show.plots import MatchModelDisplay

DATA = make_linked(2)
NAMED = pd.DataFrame(DATA.clues, columns=["distance", "commonness"])


@pytest.fixture(scope="module")
def fitted():
    return ShuffledRegressor(random_state=0).fit(DATA.X, DATA.y, match_features=NAMED)


def mixture(**clues):
    return MixtureRegressor().fit(DATA.X, DATA.y, match_features=clues)


def test_summary_verdict_and_json_show_the_match_model(fitted):
    found = fitted.match_model_
    assert found.names == ("(intercept)", "distance", "commonness")
    text = str(fitted.summary())
    lines = text[text.index("Match model") :].splitlines()
    assert lines[1].split() == ["clue", "coef", "std", "err", "z", "p"]
    assert lines[3].split()[:2] == ["distance", f"{found.coef[1]:.4g}"]
    assert "distance" in fitted.summary()._repr_html_()
    reason = next(r for r in fitted.verdict_.reasons if r.check == "match model")
    assert reason.level == "trust" and "commonness" in reason.text
    plain = fitted.summary().to_dict()["match_model"]["coefficients"]["distance"]
    assert plain["std err"] == found.standard_errors[1]
    assert repr(found) == found.summary()


def test_model_files_carry_the_match_model(fitted, tmp_path):
    save_model(fitted, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.match_model_.names == fitted.match_model_.names
    assert np.array_equal(again.match_model_.covariance, fitted.match_model_.covariance)
    assert str(again.summary()).endswith(str(fitted.match_model_))


def test_calibration_picture(fitted):
    pytest.importorskip("matplotlib")
    display = MatchModelDisplay.from_estimator(fitted)
    assert display.calibration.counts.sum() == 300
    with_truth = MatchModelDisplay.from_estimator(fitted, DATA.right)
    assert np.corrcoef(*with_truth.calibration[:2])[0, 1] > 0.8
    with pytest.raises(ValueError, match="one truth value per row"):
        MatchModelDisplay.from_estimator(fitted, DATA.right[:5])


def test_every_way_to_give_clues_is_the_same():
    answers = [
        MixtureRegressor().fit(DATA.X, DATA.y, match_features=clues).match_model_.coef
        for clues in (DATA.clues, DATA.clues.tolist(), NAMED, dict(NAMED.items()))
    ]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: NAMED[name].to_numpy() for name in NAMED})
    model = MixtureRegressor().fit(DATA.X, DATA.y, match_features=frame)
    for answer in (*answers[1:], model.match_model_.coef):
        assert np.array_equal(answer, answers[0])


def test_units_of_clues_change_the_units_of_the_answer():
    plain = mixture(a=DATA.clues[:, 0]).match_model_
    other = mixture(a=1e6 * DATA.clues[:, 0] + 3e7).match_model_
    assert np.allclose(other.coef[1] * 1e6, plain.coef[1], rtol=1e-6)
    assert np.allclose(other.standard_errors[1] * 1e6, plain.standard_errors[1], rtol=1e-6)


def test_categories_and_missing_values_become_columns():
    word = np.where(DATA.clues[:, 0] > 0, "near", "far").astype(object)
    word[:20] = None
    number = DATA.clues[:, 1].copy()
    number[10:40] = np.nan
    found = mixture(word=word, number=number).match_model_
    names = ("word[T.near]", "word[T.(missing)]", "number", "number[missing]")
    assert found.names == ("(intercept)", *names)
    assert found.coef[1] > 0.0 > found.coef[3]
    as_codes = pd.DataFrame({"c": pd.Categorical((DATA.clues[:, 0] > 0).astype(int))})
    model = MixtureRegressor().fit(DATA.X, DATA.y, match_features=as_codes)
    assert model.match_model_.names == ("(intercept)", "c[T.1]")


def test_a_constant_and_a_dependent_clue_are_left_out_by_name():
    one, other = DATA.clues.T
    with pytest.warns(RankWarning, match=r"'same', 'sum' left out"):
        model = mixture(one=one, same=np.full(300, 7.1), other=other, sum=one + 2.0 * other)
    assert model.match_model_.dropped == ("same", "sum")
    plain = mixture(one=one, other=other)
    assert np.array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("kind", [MixtureRegressor, ShuffledRegressor])
def test_perfect_prediction_gives_a_finite_answer_and_a_warning(kind):
    with pytest.warns(UnshuffleWarning, match="only a weak ridge keeps"):
        told = kind() if kind is MixtureRegressor else kind(random_state=0)
        model = told.fit(DATA.X, DATA.y, match_features={"told": DATA.right})
    found = model.match_model_
    assert np.isfinite(found.coef).all() and np.isfinite(found.standard_errors).all()
    assert found.held and found.coef[1] > 3.0
    if kind is ShuffledRegressor:
        assert model.verdict_.level == "caution"
    known = np.linalg.lstsq(
        np.column_stack([np.ones(300), DATA.X])[DATA.right], DATA.y[DATA.right], rcond=None
    )[0]
    assert np.abs(model.coef_ - known[1:]).max() < 0.02


def test_known_rows_take_no_part_and_groups_join():
    known = DATA.right & (np.arange(300) % 3 == 0)
    clues = DATA.clues.copy()
    plain = MixtureRegressor().fit(DATA.X, DATA.y, known=known, match_features=clues)
    clues[known] = 100.0
    moved = MixtureRegressor().fit(DATA.X, DATA.y, known=known, match_features=clues)
    assert np.array_equal(plain.match_model_.coef, moved.match_model_.coef)
    assert (moved.match_model_.probabilities[known] == 1.0).all()
    groups = np.arange(300) % 3
    model = StochasticEMRegressor(random_state=0)
    model.fit(DATA.X, DATA.y, groups=groups, known=known, match_features=clues)
    assert (model.match_proba_[known] == 1.0).all()
    assert model.match_model_.coef[1] > 0.0 > model.match_model_.coef[2]


def test_a_given_probability_is_an_offset():
    """Offsets that the clues can undo change the intercept and the slope, and nothing else."""
    clue = DATA.clues[:, 0]
    plain = mixture(a=clue)
    prob = 1.0 / (1.0 + np.exp(-0.5 - clue))
    model = MixtureRegressor().fit(DATA.X, DATA.y, match_prob=prob, match_features={"a": clue})
    assert np.allclose(model.match_model_.coef, plain.match_model_.coef - [0.5, 1.0], atol=5e-3)
    assert np.allclose(model.coef_, plain.coef_, atol=1e-4)
    sure = np.where(np.arange(300) < 3, 0.0, prob)
    model = MixtureRegressor().fit(DATA.X, DATA.y, match_prob=sure, match_features={"a": clue})
    assert (model.match_model_.probabilities[:3] == 0.0).all()
    assert (model.match_proba_[:3] == 0.0).all()


def test_formula_names_clues():
    data = pd.DataFrame(DATA.X, columns=list("abc")).join(NAMED).assign(y=DATA.y)
    names = ["distance", "commonness"]
    model = fit_formula("y ~ a + b + c", data, match_features=names, random_state=0)
    assert model.match_model_.names[1:] == tuple(names)
    with pytest.raises(ValueError, match="'a' is a match feature and stands in the formula"):
        fit_formula("y ~ a + b", data, match_features=["a"])
    with pytest.raises(ValueError, match="no column 'nowhere'"):
        fit_formula("y ~ a + b", data, match_features="nowhere")


def test_without_clues_nothing_changes():
    """The order of the two fits, and an unused parameter, leave no trace."""
    plain = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(DATA.X, DATA.y)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    model.fit(DATA.X, DATA.y, match_features=NAMED)
    again = model.fit(DATA.X, DATA.y)
    assert np.array_equal(again.coef_, plain.coef_)
    assert not hasattr(again, "match_model_")


INF = np.where(np.arange(300) == 4, np.inf, 1.0)
BAD = [
    ({"a": DATA.clues[:5, 0]}, r"match_features has 5 rows but X has 300"),
    ({"a": np.full(300, 2.0)}, r"'a' is the same for all rows"),
    ({"a": np.full(300, np.nan)}, r"all values of 'a' are missing"),
    ({"a": INF}, r"'a' is inf in row 4"),
    ({}, r"match_features has no columns"),
    ({"a": np.arange(300).astype(str)}, r"'a' holds 300 different names"),
    ({"a": np.array(["2020-01-01"] * 300, dtype="datetime64[D]")}, r"holds dates"),
    (np.zeros((300, 2, 2)), r"has 3 dimensions"),
    (DATA.clues + 1j, r"'z0' is complex"),
]


@pytest.mark.parametrize(("clues", "message"), BAD)
def test_bad_clues_are_refused(clues, message):
    with pytest.raises(ValueError, match=message):
        MixtureRegressor().fit(DATA.X, DATA.y, match_features=clues)


REFUSED = [
    (MixtureRegressor(mismatch_rate=0.1), "fixes it"),
    (MixtureRegressor(noise="t"), "goes with noise='normal' only"),
    (StochasticEMRegressor(mismatch_rate=0.1), "fixes it"),
    (StochasticEMRegressor(variant="published"), "takes no match_features"),
    (StochasticEMRegressor(max_shift=3), "do not go together"),
    (StochasticEMRegressor(alignment="sinkhorn"), "needs match probabilities of the model itself"),
    (ShuffledRegressor(temper=1.5), "which temper=1.5 does not give"),
    (StochasticEMRegressor(early_stopping=True), "not for match_features"),
    (ShuffledRegressor(pairing="lost"), "means that the order given is mostly right"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED)
def test_what_does_not_go_with_clues_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(DATA.X, DATA.y, match_features=DATA.clues)


def test_a_bound_needs_clues_and_clues_need_rows_that_move():
    with pytest.raises(ValueError, match="fit got no match_features"):
        MixtureRegressor(mismatch_rate_max=0.2).fit(DATA.X, DATA.y)
    with pytest.raises(ValueError, match="every label is known"):
        MixtureRegressor().fit(
            DATA.X, DATA.y, known=np.ones(300, dtype=bool), match_features=DATA.clues
        )
