"""How a notebook shows estimators."""

import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unshuffle import HardEMRegressor, MixtureRegressor, ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression

ESTIMATORS = [
    ShuffledRegressor(random_state=0),
    StochasticEMRegressor(random_state=0, mismatch_rate="estimate"),
    StochasticEMRegressor(random_state=0, variant="published", max_iter=3, tol=0.0),
    HardEMRegressor(random_state=0),
    MixtureRegressor(),
]
every = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=["default", "stochastic", "published", "hard", "mixture"]
)


@pytest.fixture(scope="module")
def data():
    made = make_shuffled_regression(
        120, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    )
    return pd.DataFrame(made.X, columns=["<script>", "b"]), made.y


@every
def test_unfitted_estimators_show_the_diagram(estimator):
    shown = clone(estimator)._repr_mimebundle_()
    assert "sk-" in shown["text/html"] and "<table><thead>" not in shown["text/html"]
    assert shown["text/plain"] == repr(estimator)


@every
def test_fitted_estimators_show_verdict_and_coefficients(estimator, data):
    model = clone(estimator).fit(*data)
    shown = model._repr_mimebundle_()["text/html"]
    found, diagram = shown.split("<details>", maxsplit=1)
    assert "sk-" in diagram and "sk-" not in found
    for value in model.coef_:
        assert f"<td>{value:.4g}</td>" in found
    assert "(intercept)" in found
    assert "&lt;script&gt;" in found and "<script>" not in found
    assert ("verdict_" in vars(model)) == (">trust</b>" in found)
    assert model._repr_html_().startswith("<div>")
    assert ": parameters</summary>" in shown
    assert ": parameters</summary>" not in clone(model)._repr_html_()


def test_diagrams_can_be_turned_off(data):
    model = MixtureRegressor().fit(*data)
    with config_context(display="text"):
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
        assert not hasattr(model, "_repr_html_")


def test_pipelines_show_their_own_diagram(data):
    pipeline = make_pipeline(StandardScaler(), MixtureRegressor()).fit(*data)
    assert "MixtureRegressor" in pipeline._repr_html_()
    assert "<table><thead><tr><th></th><th>coef" not in pipeline._repr_html_()


def test_a_rejected_fit_shows_advice():
    data = make_shuffled_regression(80, 12, noise=2.0, random_state=1)
    with pytest.warns(UserWarning, match="do not trust"):
        model = ShuffledRegressor(random_state=0, n_candidates=50).fit(data.X, data.y)
    shown = model._repr_html_()
    assert ">reject</b>" in shown
    assert f"What to do: {model.verdict_.reasons[0].advice}" in shown
