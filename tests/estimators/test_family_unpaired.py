"""Two tables that share a group key, with counts as labels."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor


def tables(seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(300, 2)) + 0.5 * rng.normal(size=(60, 2))[groups]
    y = rng.poisson(np.exp(0.3 + X @ [0.8, -0.5])).astype(float)
    order = rng.permutation(300)
    return X, y[order], groups, groups[order]


def test_counts_in_a_table_of_their_own():
    X, y, groups_X, groups_y = tables()
    model = ShuffledRegressor(family="poisson", random_state=0)
    model.fit_unpaired(X, y, groups_X, groups_y)
    assert (model.family_, model.pairing_) == ("poisson", "lost")
    assert np.all(np.abs(model.coef_ - [0.8, -0.5]) < 4 * model.standard_errors_[1:])
    assert np.array_equal(groups_y[model.permutation_], groups_X)
    assert np.isnan(model.pairing_pvalue_)
    assert not hasattr(model, "match_proba_")
    assert len(model.suspects(1.0)) == 0
    assert "as given" not in model.summary().to_dict()["coefficients"]["x1"]
    assert "rate ratio" in str(model.summary(ratios=True))
    # The control: the same labels as normal ones.
    normal = ShuffledRegressor(random_state=0).fit_unpaired(X, y, groups_X, groups_y)
    assert np.abs(normal.coef_ - model.coef_).max() > 0.05


def test_groups_with_unequal_counts():
    X, y, groups_X, groups_y = tables()
    first = groups_y != 0
    model = ShuffledRegressor(family="poisson", random_state=0)
    with pytest.raises(ValueError, match="as many labels as rows"):
        model.fit_unpaired(X, y[first], groups_X, groups_y[first])
    with pytest.raises(ValueError, match="use unmatched='drop-groups'"):
        model.fit_unpaired(X, y[first], groups_X, groups_y[first], unmatched="model")
    model.fit_unpaired(X, y[first][:-1], groups_X, groups_y[first][:-1], unmatched="drop-groups")
    assert model.n_dropped_groups_ == 2
    assert len(model.kept_rows_) == len(model.permutation_) == 290
    assert np.array_equal(groups_y[first][:-1][model.permutation_], groups_X[model.kept_rows_])
