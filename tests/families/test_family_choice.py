"""Families chosen by held-out groups, and the density that scores them."""

from itertools import pairwise

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, ShuffledRegressorCV, UnshuffleWarning
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.catalogue import FAMILIES
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.predictive import family_densities
from unshuffle.kernels.permanent import log_permanent
from unshuffle.show.plots import ChoiceDisplay


def grouped(name, n_groups=60, size=5, precision=2.0, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 2)) + rng.normal(size=(n_groups, 2))[groups]
    y = FAMILIES[name].simulate(0.8 + X @ [0.5, -0.3], precision, rng)
    return X, y[np.lexsort([rng.random(len(groups)), groups])], groups


@pytest.mark.parametrize("name", ["normal", "poisson", "gamma", "negative-binomial"])
@pytest.mark.parametrize("size", [4, 12])
def test_densities_are_means_over_all_permutations(name, size):
    X, y, groups = grouped(name, 6, size)
    known = np.arange(len(y)) < 2
    data = arrange_data(make_problem(X, y, groups, known), fit_intercept=True)
    family, eta = FAMILIES[name], 0.6 + data.Z @ [0.1, 0.6, -0.2]
    with Workers(1) as workers:
        found = family_densities(data, family, eta, 2.0, seed=0, workers=workers)
    starts, exact = data.problem.starts, []
    for first, last in pairwise(starts):
        labels = data.y[first:last]
        table = np.array(
            [family.log_density(labels, np.full(len(labels), at), 2.0) for at in eta[first:last]]
        )
        exact.append(log_permanent(table) - np.log(np.arange(1, len(labels) + 1)).sum())
    tolerance = 1e-9 if size == 4 else 0.2  # a chain at several temperatures
    np.testing.assert_allclose(found.blocks, exact, atol=tolerance)
    n = data.n_movable
    np.testing.assert_allclose(found.pinned, family.log_density(data.y[n:], eta[n:], 2.0))
    assert np.abs(found.blocks - np.roll(exact, 1)).max() > 1.0  # the control


@pytest.mark.parametrize("truth", ["poisson", "negative-binomial"])
def test_the_family_of_the_labels_is_chosen(truth):
    X, y, groups = grouped(truth, precision=1.0)
    model = ShuffledRegressorCV(family=("poisson", "negative-binomial"), cv=3, random_state=0)
    model.fit(X, y, groups=groups)
    assert model.family_ == truth
    assert model.cv_results_["family"][model.chosen_index_] == truth
    assert model.cv_results_["gain_by_fold"].shape == (4, 3)
    assert model.cv_results_["lost"][model.best_index_] == 0.0
    assert np.all(model.cv_results_["gain"] > 0.0)
    assert model.start_ == "sums of groups"
    direct = ShuffledRegressor(family=truth, pairing="lost", random_state=0)
    assert np.array_equal(model.coef_, direct.fit(X, y, groups=groups).coef_)
    assert model.verdict_.level != "reject"
    shown = ChoiceDisplay.from_estimator(model).ax_
    assert shown.get_yticklabels()[0].get_text() == "poisson, sums of groups"


def test_one_family_with_exposures_and_any_number_of_threads():
    X, y, groups = grouped("poisson", 30)
    exposure = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    found = [
        ShuffledRegressorCV(family="poisson", cv=2, random_state=0, n_jobs=n_jobs)
        .fit(X, y, groups=groups, exposure=exposure)
        .cv_results_
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(found[0]["lost"], found[1]["lost"])
    assert set(found[0]["start"]) == {"sums of groups", "labels as given"}


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_few_groups_choose_nothing():
    X, y, groups = grouped("poisson", 7, 20)
    model = ShuffledRegressorCV(family=("poisson", "negative-binomial"), random_state=0)
    with pytest.warns(UnshuffleWarning, match="7 groups are too few"):
        model.fit(X, y, groups=groups)
    assert model.family_ == "poisson"
    assert not hasattr(model, "cv_results_")


def test_refusals():
    X, y, groups = grouped("poisson", 20)
    for settings, beside, words in (
        ({"family": "x"}, {}, "family must be one or more of"),
        ({"family": ()}, {}, "family must be one or more of"),
        ({"family": "cox"}, {}, "use ShuffledCoxRegressor"),
        ({"family": "poisson", "tempers": (1.0, 3.0)}, {}, "tempers=.*family and start"),
        ({"family": "poisson", "ridges": (0.5,)}, {}, "ridges=.*family and start"),
        ({"family": ("poisson", "gamma")}, {}, "family='gamma' is for positive labels"),
        ({"family": "poisson"}, {"match_prob": np.full(100, 0.9)}, "use ShuffledRegressor"),
        ({"family": "poisson"}, {"sample_weight": np.ones(100)}, "use ShuffledRegressor"),
    ):
        with pytest.raises(ValueError, match=words):
            ShuffledRegressorCV(**settings).fit(X, y, groups=groups, **beside)
