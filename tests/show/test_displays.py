"""Displays draw the fitted attributes, and nothing else."""

import pickle
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from oracles import enumerated_posterior
from unshuffle import HardEMRegressor, MixtureRegressor, ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.show.plots import (
    CoefficientDisplay,
    MatchCalibrationDisplay,
    MatchDisplay,
    PathDisplay,
    ResidualDisplay,
    SensitivityDisplay,
    SolutionsDisplay,
)
from unshuffle.show.plots.calibration import wilson

mpl.use("Agg")


def pairs_of(model, *, lost):
    """Arguments of `MatchDisplay.from_pairs` for the first group."""
    rows, proba = model.pair_probabilities(0)
    return proba, model.fitted_values_[rows], model.labels_given_[rows] if lost else None


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def partial():
    return make_shuffled_regression(
        300, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    )


@pytest.fixture(scope="module")
def mostly_right(partial):
    return ShuffledRegressor(random_state=0).fit(partial.X, partial.y)


@pytest.fixture(scope="module")
def lost():
    data = make_shuffled_regression(150, 2, noise=0.1, random_state=0)
    return ShuffledRegressor(random_state=0).fit(data.X, data.y)


@pytest.fixture(scope="module")
def zones():
    data = make_shuffled_regression(
        90, 2, noise=0.3, shuffle="groups", n_groups=9, group_by="random", random_state=0
    )
    return data, StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)


def axes_on_new_figure(n=1):
    return Figure().subplots(1, n)


def test_coefficients_and_intervals_are_those_of_the_model(partial, mostly_right):
    known = LinearRegression().fit(partial.X, partial.y_ordered)
    display = CoefficientDisplay.from_estimator(mostly_right, known_order=known)
    ours, given, right = display.ax_.containers
    np.testing.assert_array_equal(ours.lines[0].get_xdata(), mostly_right.coef_)
    ends = np.array(ours.lines[2][0].get_segments())[:, :, 0]
    np.testing.assert_allclose(ends, mostly_right.conf_int()[1:])
    plain = LinearRegression().fit(partial.X, partial.y)
    np.testing.assert_allclose(given.lines[0].get_xdata(), plain.coef_)
    np.testing.assert_array_equal(right.lines[0].get_xdata(), known.coef_)
    assert right.lines[2] == ()  # scikit-learn's regression has no intervals
    assert [c.get_label() for c in display.ax_.containers] == list(display.series)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["x0", "x1", "x2"]
    assert display.ax_.get_xlabel() == "coefficient, 95% intervals"
    assert display.figure_ is display.ax_.figure


def test_known_order_may_bring_intervals_and_features_may_be_chosen(partial, mostly_right):
    known = ShuffledRegressor(pairing="known").fit(partial.X, partial.y_ordered)
    display = CoefficientDisplay.from_estimator(
        mostly_right, known_order=known, features=[2, 0], level=0.8
    )
    assert display.names == ["x2", "x0"]
    np.testing.assert_array_equal(
        display.series["known order"].interval, known.conf_int(0.8)[1:][[2, 0]]
    )
    with pytest.raises(ValueError, match=r"shape \(2,\) but the model has 3 features"):
        CoefficientDisplay.from_estimator(mostly_right, known_order=[1.0, 2.0])


def test_series_differ_without_colour(partial, mostly_right):
    display = CoefficientDisplay.from_estimator(mostly_right, known_order=partial.coef)
    markers = [c.lines[0].get_marker() for c in display.ax_.containers]
    assert len(set(markers)) == 3
    lines = PathDisplay.from_estimator(mostly_right).ax_[1].get_lines()[::2]
    assert len({(line.get_marker(), str(line.get_linestyle())) for line in lines}) == 3


def test_coefficients_without_intervals(partial):
    model = HardEMRegressor(max_iter=500, random_state=0).fit(partial.X, partial.y)
    display = CoefficientDisplay.from_estimator(model)
    assert list(display.series) == ["unshuffle"]
    assert display.ax_.get_xlabel() == "coefficient"


@pytest.mark.long
def test_names_are_shown_as_they_are(partial):
    import pandas as pd

    names = ["$cost$", "_hidden", "a" * 60]
    frame = pd.DataFrame(partial.X, columns=names)
    model = StochasticEMRegressor(random_state=0, mismatch_rate="estimate").fit(frame, partial.y)
    display = PathDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    shown = [entry.get_text() for entry in display.ax_[1].get_legend().get_texts()]
    assert shown == [r"\$cost\$", "\u200b_hidden", "a" * 23 + "…"]


def test_path_is_the_path(mostly_right):
    display = PathDisplay.from_estimator(mostly_right)
    objective, coef = display.ax_
    np.testing.assert_array_equal(
        objective.get_lines()[0].get_ydata(), mostly_right.objective_path_
    )
    drawn = np.array([line.get_ydata() for line in coef.get_lines()[::2]])
    np.testing.assert_array_equal(drawn, mostly_right.coef_path_.T)
    ends = [float(line.get_ydata()[0]) for line in coef.get_lines()[1::2]]
    np.testing.assert_array_equal(ends, mostly_right.coef_)
    assert objective.get_xlabel() == coef.get_xlabel() == "iteration"


def test_many_features_have_no_legend():
    data = make_shuffled_regression(120, 12, noise=0.2, shuffle="groups", n_groups=40, random_state=0)  # fmt: skip
    model = HardEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    display = PathDisplay.from_estimator(model)
    assert display.ax_[1].get_legend() is None
    assert len(display.ax_[1].get_lines()) == 24


def test_residuals_are_expected_labels_less_fitted_values(partial, mostly_right):
    display = ResidualDisplay.from_estimator(mostly_right, partial.X, ax=axes_on_new_figure())
    points = display.ax_.get_lines()[0]
    fitted = mostly_right.predict(partial.X)
    np.testing.assert_allclose(points.get_xdata(), fitted)
    np.testing.assert_allclose(points.get_ydata(), mostly_right.expected_labels_ - fitted)
    few = ResidualDisplay.from_estimator(mostly_right, partial.X, max_points=20)
    shown = few.ax_.get_lines()[0].get_xdata()
    assert len(shown) == 20
    assert {shown[0], shown[-1]} == {few.fitted.min(), few.fitted.max()}
    assert "20 of 300 rows" in few.ax_.get_xlabel()


def test_residuals_need_the_rows_of_the_fit(partial, mostly_right):
    loaded = pickle.loads(pickle.dumps(mostly_right))
    display = ResidualDisplay.from_estimator(loaded)
    np.testing.assert_allclose(display.fitted, mostly_right.predict(partial.X))
    hard = HardEMRegressor(n_init=2, random_state=0).fit(partial.X, partial.y)
    with pytest.raises(ValueError, match=r"shows fitted_values_, .* pass X"):
        ResidualDisplay.from_estimator(hard)
    display = ResidualDisplay.from_estimator(loaded, partial.X)
    np.testing.assert_allclose(display.fitted, mostly_right.predict(partial.X))
    with pytest.raises(ValueError, match="10 rows but the model was fitted to 300"):
        ResidualDisplay.from_estimator(loaded, partial.X[:10])


def test_solutions_and_null_scores_are_those_of_the_search(lost):
    display = SolutionsDisplay.from_estimator(lost)
    found, null = display.ax_
    for k, line in enumerate(found.get_lines()[:2]):
        np.testing.assert_array_equal(line.get_xdata(), lost.solution_objectives_)
        np.testing.assert_array_equal(line.get_ydata(), lost.solutions_[:, k])
    steps, best = null.get_lines()
    np.testing.assert_array_equal(steps.get_xdata(), np.sort(lost.null_scores_))
    assert steps.get_ydata()[-1] == 1.0
    assert best.get_xdata()[0] == lost.match_score_
    assert f"{lost.null_pvalue_:.2g}" in null.get_title(loc="left")


def test_solutions_without_comparison_have_one_panel(lost):
    data = make_shuffled_regression(60, 2, noise=0.1, random_state=0)
    model = ShuffledRegressor(pairing="lost", search="population", n_candidates=60, random_state=0)
    display = SolutionsDisplay.from_estimator(model.fit(data.X, data.y))
    assert len(display.ax_) == 1
    with pytest.raises(ValueError, match="2 panels but ax holds 1"):
        SolutionsDisplay.from_estimator(lost, ax=axes_on_new_figure())


def test_groups_are_drawn_by_mean_probability(zones):
    data, model = zones
    display = MatchDisplay.from_estimator(model, groups=[f"zone {g}" for g in data.groups])
    assert display.kind == "groups"
    means = {g: model.match_proba_[data.groups == g].mean() for g in range(9)}
    assert display.names == [f"zone {g}" for g in sorted(means, key=means.get)]
    for name, line in zip(display.names, display.matrix, strict=True):
        rows = data.groups == int(name.removeprefix("zone "))
        np.testing.assert_array_equal(line[: rows.sum()], np.sort(model.match_proba_[rows]))
        assert np.isnan(line[rows.sum() :]).all()
    np.testing.assert_array_equal(display.image_.get_array(), display.matrix)
    few = MatchDisplay.from_estimator(model, groups=data.groups, max_groups=3)
    assert few.names == [name.removeprefix("zone ") for name in display.names[:3]]


def test_known_rows_and_single_rows_have_no_cell(zones):
    data, model = zones
    groups = np.where(np.arange(90) == 5, 99, data.groups)
    known = data.groups == 4
    display = MatchDisplay.from_estimator(model, groups=groups, known=known)
    assert set(display.names) == set("01235678")
    assert np.isfinite(display.matrix).sum() == 90 - 10 - 1


def test_pairs_agree_with_enumeration():
    data = make_shuffled_regression(
        25, 2, noise=0.5, shuffle="groups", n_groups=5, group_by="random", random_state=1
    )
    model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    pairs = pairs_of(model, lost=True)
    display = MatchDisplay.from_pairs(*pairs, name="first")
    assert display.lost and display.names == ["first"]
    rows = np.flatnonzero(data.groups == data.groups[0])
    fitted, y = model.predict(data.X)[rows], data.y[rows]
    np.testing.assert_allclose(pairs[1], fitted)
    perms, probability = enumerated_posterior(fitted, y, model.noise_scale_, [0, len(rows)])
    exact = np.zeros((len(rows), len(rows)))
    for perm, p in zip(perms, probability, strict=True):
        exact[np.arange(len(rows)), perm] += p
    exact = exact[np.argsort(fitted)][:, np.argsort(y)]
    # 200 snapshots, taken as independent: they are several sweeps of five rows apart
    error = np.sqrt(exact * (1 - exact) / 200) + 1 / 200
    assert (np.abs(display.matrix - exact) < 4.5 * error).all()
    # the control: another arrangement of the same numbers is detected
    assert not (np.abs(display.matrix[::-1] - exact) < 4.5 * error).all()


def test_pairs_are_sorted_by_fitted_value_and_label():
    proba = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.3, 0.5, 0.2]])
    beside = MatchDisplay.from_pairs(proba, [2.0, 3.0, 1.0])
    np.testing.assert_array_equal(beside.matrix, proba[[2, 0, 1]][:, [2, 0, 1]])
    lost = MatchDisplay.from_pairs(proba, [2.0, 3.0, 1.0], [5.0, 4.0, 6.0])
    np.testing.assert_array_equal(lost.matrix, proba[[2, 0, 1]][:, [1, 0, 2]])
    assert lost.lost and not beside.lost
    with pytest.raises(ValueError, match=r"shape \(3, 3\) but there are 2 fitted values"):
        MatchDisplay.from_pairs(proba, [1.0, 2.0])


def test_large_groups_are_averaged(mostly_right):
    display = MatchDisplay.from_pairs(*pairs_of(mostly_right, lost=False))
    assert display.kind == "pairs" and not display.lost
    assert display.matrix.shape == (60, 60)
    np.testing.assert_allclose(display.matrix.sum(axis=1), 1.0)  # every row holds one label
    assert np.trace(display.matrix) / 60 > 0.6  # a fifth of the labels moved


def test_matches_that_cannot_be_shown_say_why(partial, zones):
    data, model = zones
    with pytest.raises(ValueError, match="groups has shape"):
        MatchDisplay.from_estimator(model, groups=data.groups[:5])
    shown = MatchDisplay.from_estimator(model)  # the groups of the fit
    given = MatchDisplay.from_estimator(model, groups=data.groups)
    np.testing.assert_array_equal(shown.matrix, given.matrix)
    known = ShuffledRegressor(pairing="known").fit(
        partial.X, partial.y, groups=np.arange(len(partial.y))
    )
    with pytest.raises(ValueError, match="no label of this fit can move"):
        MatchDisplay.from_estimator(known, groups=np.arange(len(partial.y)))


def test_calibration_counts_each_bin():
    rng = np.random.default_rng(0)
    proba = rng.uniform(size=2000)
    truth = rng.uniform(size=2000) < proba
    display = MatchCalibrationDisplay.from_predictions(truth, proba, n_bins=4)
    order = np.argsort(proba)
    for k, rows in enumerate(np.array_split(order, 4)):
        assert display.counts[k] == len(rows)
        assert display.predicted[k] == pytest.approx(proba[rows].mean())
        assert display.observed[k] == pytest.approx(truth[rows].mean())
    line = display.ax_.containers[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), display.predicted)
    np.testing.assert_array_equal(line.get_ydata(), display.observed)


def test_calibrated_probabilities_lie_in_their_intervals_and_others_do_not():
    rng = np.random.default_rng(1)
    proba = rng.uniform(size=4000)
    truth = rng.uniform(size=4000) < proba

    def n_outside(predicted):
        display = MatchCalibrationDisplay.from_predictions(truth, predicted)
        low, high = wilson(display.observed, display.counts)
        return np.sum((display.predicted < low) | (display.predicted > high))

    assert n_outside(proba) <= 3  # of ten; more has a probability of about a thousandth
    assert n_outside(np.sqrt(proba)) >= 7


def test_wilson_agrees_with_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    counts = np.array([1, 7, 50, 50])
    right = np.array([0, 7, 13, 50])
    low, high = wilson(right / counts, counts)
    expected = proportion_confint(right, counts, method="wilson")
    np.testing.assert_allclose([low, high], expected, atol=1e-4)


def test_calibration_of_a_model_and_equal_probabilities(partial, mostly_right):
    truth = partial.permutation == np.arange(300)
    display = MatchCalibrationDisplay.from_estimator(mostly_right, truth, n_bins=5)
    assert display.counts.sum() == 300
    one = MatchCalibrationDisplay.from_predictions(truth, np.full(300, 0.8))
    assert one.counts.tolist() == [300]
    with pytest.raises(ValueError, match=r"permutation == np\.arange"):
        MatchCalibrationDisplay.from_estimator(mostly_right, partial.permutation)
    with pytest.raises(ValueError, match="300 match probabilities"):
        MatchCalibrationDisplay.from_estimator(mostly_right, truth[:9])


@pytest.mark.parametrize(
    ("display", "missing"),
    [
        (PathDisplay, "objective_path_"),
        (ResidualDisplay, "expected_labels_"),
        (SolutionsDisplay, "solutions_"),
    ],
)
def test_a_missing_attribute_is_named(display, missing, partial):
    model = MixtureRegressor().fit(partial.X, partial.y)
    with pytest.raises(ValueError, match=f"shows {missing}, which this fit of MixtureRegressor"):
        display.from_estimator(model)
    with pytest.raises(NotFittedError, match="call fit first"):
        display.from_estimator(ShuffledRegressor())


def test_displays_read_public_attributes_only(lost, mostly_right, partial):
    class Public:
        """Any attribute of the model but private ones; methods that sample are refused."""

        def __init__(self, model):
            vars(self).update(
                {name: value for name, value in vars(model).items() if name[0] != "_"}
            )
            self.summary, self.predict = model.summary, model.predict

    CoefficientDisplay.from_estimator(Public(mostly_right))
    PathDisplay.from_estimator(Public(mostly_right))
    ResidualDisplay.from_estimator(Public(mostly_right), partial.X)
    MatchDisplay.from_estimator(Public(mostly_right))
    SolutionsDisplay.from_estimator(Public(lost))
    with pytest.raises(AttributeError, match="_permutations"):  # the control: this reads more
        StochasticEMRegressor.pair_probabilities(Public(mostly_right))


def test_a_missing_matplotlib_names_the_command(monkeypatch, mostly_right):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "unshuffle\[plots\]"'):
        CoefficientDisplay.from_estimator(mostly_right)


def test_sensitivity_draws_estimates_bands_and_the_fit(mostly_right):
    result = mostly_right.mismatch_sensitivity()
    display = SensitivityDisplay.from_estimator(mostly_right, level=0.8)
    assert len(display.ax_) == 3
    for j, axes in enumerate(display.ax_, start=1):
        curve = axes.get_lines()[0]
        np.testing.assert_allclose(curve.get_xdata(), 100.0 * result.rates)
        np.testing.assert_allclose(curve.get_ydata(), result.coef[:, j])
        band = axes.collections[0].get_paths()[0].vertices
        ends = result.interval(0.8)[:, j]
        np.testing.assert_allclose([band[:, 1].min(), band[:, 1].max()], [ends.min(), ends.max()])
        (fit,) = axes.containers
        np.testing.assert_array_equal(fit.lines[0].get_xdata(), 100.0 * result.fitted_rate)
        np.testing.assert_array_equal(fit.lines[0].get_ydata(), mostly_right.coef_[j - 1])
        segment = fit.lines[2][0].get_segments()[0][:, 1]
        np.testing.assert_allclose(segment, mostly_right.conf_int(0.8)[j])
        assert axes.get_title(loc="left") == f"x{j - 1}"
    (legend,) = display.figure_.legends
    assert [entry.get_text() for entry in legend.get_texts()][1] == "80% interval"


def test_sensitivity_on_given_axes_with_chosen_rates(mostly_right):
    axes = axes_on_new_figure(2)
    display = SensitivityDisplay.from_estimator(
        mostly_right, rates=[0.5, 0.1], features=[2, 0], ax=axes
    )
    assert [panel.get_title(loc="left") for panel in display.ax_] == ["x2", "x0"]
    np.testing.assert_allclose(axes[0].get_lines()[0].get_xdata(), [10.0, 50.0])
    assert all(panel.get_xlabel() and panel.get_ylabel() for panel in axes)
    assert display.figure_.legends == []  # the figure is the user's
    with pytest.raises(ValueError, match="this picture has 3 panels but ax holds 2 axes"):
        SensitivityDisplay.from_estimator(mostly_right, ax=axes)


def test_sensitivity_of_a_fit_far_from_all_rates_is_a_level_line(zones):
    _, model = zones
    display = SensitivityDisplay.from_estimator(model)
    line = display.ax_[0].get_lines()[1]
    assert line.get_label() == "this fit"
    assert set(line.get_ydata()) == {model.coef_[0]}
    for n_panels, shape in ((1, (1, 1)), (4, (2, 2)), (5, (2, 3))):
        many = SensitivityDisplay(model.mismatch_sensitivity(), features=[1] * n_panels).plot()
        assert many.ax_[0].get_gridspec().get_geometry() == shape
        assert len(many.figure_.axes) == n_panels


def test_sensitivity_needs_a_fit_that_has_it(partial):
    with pytest.raises(NotFittedError):
        SensitivityDisplay.from_estimator(ShuffledRegressor())
    with pytest.raises(ValueError, match="MixtureRegressor does not have; use ShuffledRegressor"):
        SensitivityDisplay.from_estimator(MixtureRegressor().fit(partial.X, partial.y))
