"""Models as files: what was saved is loaded; what is wrong is named (see also tests/hostile)."""

import json
import warnings
from dataclasses import asdict

import numpy as np
import pytest

from unshuffle import (
    ModelFileError,
    ShuffledRegressor,
    StochasticEMRegressor,
    load_model,
    save_model,
)
from unshuffle.datasets import make_shuffled_regression
from unshuffle.io.tables import DesignColumn


def fitted(model, kind="fraction", **more):
    data = make_shuffled_regression(200, 3, noise=0.2, shuffle=kind, random_state=0, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.X, data.y, groups=data.groups), data.X


@pytest.fixture(scope="module")
def linked():
    return fitted(ShuffledRegressor(random_state=0))


def reasons(model):
    verdict = getattr(model, "verdict_", None)
    return () if verdict is None else verdict.reasons


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (ShuffledRegressor(random_state=0), "fraction"),
        (ShuffledRegressor(random_state=0, pairing="known"), "fraction"),
        (ShuffledRegressor(random_state=0, fit_intercept=False), "groups"),
        (ShuffledRegressor(random_state=0, n_candidates=5), "full"),
        (StochasticEMRegressor(random_state=0), "groups"),
    ],
)
def test_a_loaded_model_says_and_predicts_the_same(tmp_path, model, kind):
    model, X = fitted(model, kind)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert str(again.summary()) == str(model.summary())
    assert str(again.summary(0.8)) == str(model.summary(0.8))
    for kept, original in zip(reasons(again), reasons(model), strict=True):
        np.testing.assert_equal(asdict(kept), asdict(original))  # nan equals nan here
    np.testing.assert_array_equal(again.covariance_, model.covariance_)


def test_saving_replaces_a_model_and_nothing_else(tmp_path, linked):
    model, _ = linked
    save_model(model, tmp_path / "m", label="price", settings={"note": "first"})
    save_model(model, tmp_path / "m", label="price", settings={"note": "second"})
    again = load_model(tmp_path / "m" / "model.json")
    assert (again.label, again.settings) == ("price", {"note": "second"})
    (tmp_path / "m" / "mine").write_text("")
    with pytest.raises(FileExistsError, match="mine"):
        save_model(model, tmp_path / "m")


def test_files_hold_neither_code_nor_data(tmp_path, linked):
    model, _ = linked
    save_model(model, tmp_path / "m")
    size = sum(path.stat().st_size for path in (tmp_path / "m").iterdir())
    assert size < 5000  # 200 rows of labels alone would take 1600 more than the 4 coefficients
    with np.load(tmp_path / "m" / "model.npz", allow_pickle=False) as arrays:
        assert max(array.size for array in arrays.values()) == 16
    words = json.loads((tmp_path / "m" / "model.json").read_text())
    assert words["schema"] == 1


def test_wrong_shapes_are_refused_when_predicting(tmp_path, linked):
    model, X = linked
    save_model(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"\(200, 2\) but the model has 3"):
        load_model(tmp_path / "m").predict(X[:, :2])


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        save_model(ShuffledRegressor(), tmp_path / "m")
    assert not (tmp_path / "m").exists()
    with pytest.raises(ModelFileError, match="no such model"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_read_by_name(tmp_path, linked, library):
    """Columns in another order give the same predictions, categories and all."""
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    frame = getattr(pytest.importorskip(library), make)
    model, _ = linked
    columns = [DesignColumn("a"), DesignColumn("kind", ("u", "v")), DesignColumn("b")]
    save_model(model, tmp_path / "m", columns=columns)
    again = load_model(tmp_path / "m")
    data = {"b": [3.0, 4.0], "extra": ["", ""], "kind": ["v", "u"], "a": [1.0, 2.0]}
    expected = model.predict([[1, 1, 3], [2, 0, 4]])
    np.testing.assert_allclose(again.predict(frame(data)), expected)
    for change, message in (
        ({"kind": ["u", "w"]}, "row 1, column 'kind': 'w' is not among the categories"),
        ({"a": [1.0, None]}, "row 1, column 'a'"),
    ):
        with pytest.raises(ValueError, match=message):
            again.predict(frame(data | change))
    with pytest.raises(ValueError, match="needs a column 'a'"):
        again.predict(frame({"b": [1.0]}))
