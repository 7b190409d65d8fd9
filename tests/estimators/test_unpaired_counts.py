"""Two tables whose groups have unequal counts: what is refused, dropped and counted."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.estimators._unpaired import check_match_share, keep_equal, key_tables

DATA = make_shuffled_regression(120, 2, noise=0.1, shuffle="groups", n_groups=12, random_state=0)
KEYS = np.array([f"z{g}" for g in DATA.groups])


def without(removed):
    """The table without some labels."""
    kept = ~np.isin(np.arange(120), removed)
    return DATA.y[kept], KEYS[kept]


def test_the_refusal_names_groups_and_the_two_settings():
    y, keys = without(np.flatnonzero(np.isin(DATA.groups, range(7)))[::10])
    with pytest.raises(ValueError) as caught:
        ShuffledRegressor().fit_unpaired(DATA.X, y, KEYS, keys)
    text = str(caught.value)
    assert text.count(" has 10 rows and ") == 5
    assert "; and 1 more group;" in text
    assert "unmatched='drop-groups'" in text
    assert "unmatched='model'" in text
    assert "\n" not in text


def test_one_group_is_refused_with_the_setting_that_goes_on():
    with pytest.raises(ValueError, match=r"120 rows but y has 100 labels; unmatched='model'"):
        ShuffledRegressor().fit_unpaired(DATA.X, DATA.y[:100])


@pytest.mark.parametrize("unmatched", ["refuse", "drop-groups", "model"])
def test_keys_that_never_meet_are_called_that(unmatched):
    with pytest.raises(ValueError, match=r"no group in common: 'z.*' against 'Z.*upper and lower"):
        ShuffledRegressor().fit_unpaired(
            DATA.X, DATA.y, KEYS, np.char.upper(KEYS), unmatched=unmatched
        )
    with pytest.raises(ValueError, match=r"no group in common.*the same key"):
        ShuffledRegressor().fit_unpaired(DATA.X, DATA.y, KEYS, ["other"] * 120, unmatched=unmatched)


def test_dropped_groups_are_counted_and_the_others_fitted_as_before():
    lost = np.flatnonzero(np.isin(KEYS, ["z3", "z5"]))[[0, -1]]
    y, keys = without(lost)
    model = ShuffledRegressor(random_state=0)
    model.fit_unpaired(DATA.X, y, KEYS, keys, unmatched="drop-groups")
    whole = ~np.isin(KEYS, KEYS[lost])
    n_dropped = int((~whole).sum())
    assert model.n_dropped_groups_ == len(set(KEYS[lost]))
    assert (model.n_dropped_rows_, model.n_dropped_labels_) == (n_dropped, n_dropped - 2)
    np.testing.assert_array_equal(model.kept_rows_, np.flatnonzero(whole))
    alone = ShuffledRegressor(random_state=0).fit_unpaired(
        DATA.X[whole], DATA.y[whole], KEYS[whole], KEYS[whole]
    )
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert np.all(keys[model.permutation_] == KEYS[model.kept_rows_])
    assert f"{n_dropped} rows and {n_dropped - 2} labels" in str(model.summary())
    residual = model.repair(y) - model.predict(DATA.X[model.kept_rows_])
    assert np.std(residual) < 0.3
    with pytest.raises(ValueError, match="repair takes all of those"):
        model.repair(y[:-1])


def test_groups_of_frames_are_dropped_too():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DATA.X, columns=["a", "b"]).assign(zone=KEYS)
    y, keys = without([0])
    model = ShuffledRegressor(search="none", random_state=0).fit_unpaired(
        frame[["a", "b"]], pd.Series(y), frame["zone"], pd.Series(keys), unmatched="drop-groups"
    )
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.n_dropped_groups_ == 1


def test_nothing_left_is_refused():
    with pytest.raises(ValueError, match="leaves nothing"):
        ShuffledRegressor().fit_unpaired(DATA.X, DATA.y[:100], unmatched="drop-groups")


def test_labels_stand_beside_rows_of_their_group():
    rng = np.random.default_rng(1)
    rows, labels = list("abcabc"), list("cabbad")
    tables = key_tables(rng.normal(size=(6, 1)), np.arange(6.0), rows, labels)
    kept = keep_equal(tables)
    assert [labels[k] for k in kept.labels] == [rows[k] for k in kept.rows]
    assert (kept.n_groups, kept.n_rows, kept.n_labels) == (2, 2, 2)


@pytest.mark.parametrize("share", ["much", 0.0, 1.5, -0.1, (0.9, 0.5), (0.1, 0.2, 0.3), None])
def test_shares_that_mean_nothing_are_refused(share):
    with pytest.raises(ValueError, match="match_share must be"):
        check_match_share(share)


def test_shares_become_bounds():
    assert check_match_share("estimate") == (0.0, 1.0)
    assert check_match_share(0.9) == (0.9, 0.9)
    assert check_match_share((0.5, 1)) == (0.5, 1.0)


def test_unknown_settings_are_refused():
    with pytest.raises(ValueError, match="unmatched must be one of"):
        ShuffledRegressor().fit_unpaired(DATA.X, DATA.y, unmatched="drop")
    with pytest.raises(ValueError, match="unmatched must be one of"):
        ShuffledRegressor().fit(DATA.X, DATA.y, unmatched=None)
    with pytest.raises(ValueError, match="is for fit_unpaired"):
        ShuffledRegressor().fit(DATA.X, DATA.y, unmatched="drop-groups")
