"""The baseline hazard of Cox's model in files."""

import json

import numpy as np
import pandas as pd
import pytest

from unshuffle import ModelFileError, ShuffledCoxRegressor, load_model, save_model


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["age", "dose"])
    time = rng.exponential(np.exp(-X.to_numpy() @ [1.0, -0.5]))
    y = np.column_stack([time < 2.0, np.minimum(time, 2.0)])
    return ShuffledCoxRegressor(pairing="known").fit(X, y), X


def test_survival_functions_are_kept(tmp_path, fitted):
    model, X = fitted
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)
    for times in (None, [0.0, 0.5, 9.0]):
        np.testing.assert_allclose(
            again.predict_survival_function(X, times), model.predict_survival_function(X, times)
        )
    assert np.array_equal(again.baseline.times, model.event_times_)


def test_a_model_can_be_kept_without_event_times(tmp_path, fitted):
    model, X = fitted
    save_model(model, tmp_path / "m", baseline=False)
    with np.load(tmp_path / "m" / "model.npz") as arrays:
        assert "baseline" not in arrays
        assert max(array.size for array in arrays.values()) == 4
    assert json.loads((tmp_path / "m" / "model.json").read_text())["schema"] == 2
    again = load_model(tmp_path / "m")
    assert again.predict(X).shape == (200,)
    with pytest.raises(ValueError, match="holds no baseline hazard"):
        again.predict_survival_function(X)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b[:, ::-1], "ascending event times"),
        (lambda b: np.where(b == b[1, 0], -1.0, b), "positive jumps"),
        (lambda b: np.where(b == b[1, 0], np.nan, b), "positive jumps"),
        (lambda b: b[:, :-1], "has shape"),
        (lambda b: b[:1], "has shape"),
    ],
)
def test_what_is_no_baseline_is_named(tmp_path, fitted, change, said):
    save_model(fitted[0], tmp_path / "m")
    path = tmp_path / "m" / "model.npz"
    with np.load(path) as arrays:
        found = dict(arrays)
    found["baseline"] = np.ascontiguousarray(change(found["baseline"]))
    np.savez(path, **found)
    with pytest.raises(ModelFileError, match=said):
        load_model(tmp_path / "m")


def test_a_wrong_number_of_event_times_is_named(tmp_path, fitted):
    save_model(fitted[0], tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    words = json.loads(path.read_text())
    for number in (-1, 10**15, "many"):
        path.write_text(json.dumps(words | {"n_event_times": number}, indent=1))
        with pytest.raises(ModelFileError):
            load_model(tmp_path / "m")
