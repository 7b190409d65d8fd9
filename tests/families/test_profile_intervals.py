"""Profile intervals: the likelihood lost at their ends, and where there is none."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, poisson

from unshuffle import Audit, ShuffledClassifier, ShuffledCoxRegressor, ShuffledRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
COUNTS = RNG.poisson(np.exp(X @ [0.8, -0.5]))
YES = RNG.random(60) < 1 / (1 + np.exp(-2 * X[:, 0]))


def lost_with(y, family, design, k, value):
    """Twice the log-likelihood lost where one coefficient is held fixed, by another program."""
    free = sm.GLM(y, design, family=family).fit(tol=1e-12)
    others = np.delete(design, k, axis=1)
    held = sm.GLM(y, others, family=family, offset=value * design[:, k]).fit(tol=1e-12)
    return 2.0 * (free.llf - held.llf)


@pytest.mark.parametrize("name", ["bernoulli", "poisson"])
def test_known_order(name):
    yes_no = name == "bernoulli"
    model = (
        ShuffledClassifier(pairing="known")
        if yes_no
        else ShuffledRegressor(family=name, pairing="known")
    )
    y = (YES if yes_no else COUNTS).astype(float)
    found = model.fit(X, y).conf_int(0.9, method="profile")
    law = sm.families.Binomial() if yes_no else sm.families.Poisson()
    for k, ends in enumerate(found):
        for end in ends:
            lost = lost_with(y, law, sm.add_constant(X), k, end)
            assert lost == pytest.approx(chi2.ppf(0.9, 1), rel=0.01)
    wald = model.conf_int(0.9)
    assert np.all(np.abs(found - wald) < 0.4 * np.diff(wald))
    assert not np.allclose(found, wald, rtol=1e-3)  # the control


def test_mostly_right_counts_with_a_given_rate():
    y = COUNTS.copy()
    y[:12] = np.roll(y[:12], 1)
    model = ShuffledRegressor(
        family="poisson", pairing="mostly-right", mismatch_rate=0.2, fit_intercept=False
    ).fit(X[:, :1], y)
    redrawn = 0.2 / (1 - 1 / 60)

    def value(coef):
        density = poisson.pmf(y, np.exp(coef * X[:, :1]))  # rows in lines
        return np.log((1 - redrawn) * np.diag(density) + redrawn * density.mean(axis=0)).sum()

    top = value(model.coef_[0])
    for end in model.conf_int(method="profile")[0]:
        assert 2 * (top - value(end)) == pytest.approx(chi2.ppf(0.95, 1), rel=0.01)
    assert 2 * (top - value(model.coef_[0] + 0.05)) != pytest.approx(3.84, rel=0.1)


def test_the_rate_of_mismatches_is_the_best_one_everywhere():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 1))
    ill = rng.random(400) < 1 / (1 + np.exp(-3 * rows[:, 0]))
    ill[:80] = np.roll(ill[:80], 1)
    free = ShuffledClassifier(pairing="mostly-right").fit(rows, ill)
    given = ShuffledClassifier(pairing="mostly-right", mismatch_rate=free.mismatch_rate_)
    wide = np.diff(free.conf_int(method="profile"))[1]
    assert wide > 1.1 * np.diff(given.fit(rows, ill).conf_int(method="profile"))[1]
    low, high = free.conf_int(method="profile")[1]
    assert high - free.coef_[0] > 1.2 * (free.coef_[0] - low)  # longer away from zero


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_lost_yes_no_labels_and_times():
    groups = np.arange(60) // 3
    lost = ShuffledClassifier(pairing="lost").fit(X, YES, groups=groups)
    ends = lost.conf_int(method="profile")
    assert np.all((ends[:, 0] < lost._found.values) & (lost._found.values < ends[:, 1]))
    y = np.column_stack([np.ones(60), RNG.exponential(np.exp(-X[:, 0]))])
    cox = ShuffledCoxRegressor(pairing="mostly-right", mismatch_rate=0.05).fit(X, y)
    ratio = np.diff(cox.conf_int(method="profile")) / np.diff(cox.conf_int())
    assert np.all(np.abs(np.log(ratio)) < 0.3)
    with pytest.raises(ValueError, match="no profile of the likelihood of times"):
        ShuffledCoxRegressor(pairing="known").fit(X, y).conf_int(method="profile")


@pytest.mark.filterwarnings("ignore::unshuffle.RankWarning")
def test_what_has_no_profile():
    groups = np.arange(60) // 3
    lost = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    lost.fit(X, COUNTS, groups=groups)
    with pytest.raises(ValueError, match="no profile of the likelihood of family 'poisson'"):
        lost.conf_int(method="profile")
    model = ShuffledRegressor(family="poisson", pairing="mostly-right", mismatch_rate=Audit(50, 3))
    with pytest.raises(ValueError, match="and an audit"):
        model.fit(X, COUNTS).conf_int(method="profile")
    with pytest.raises(ValueError, match="takes no further options"):
        model.conf_int(method="profile", n_boot=3)
    constant = np.column_stack([X, np.ones(60)])
    model = ShuffledRegressor(family="poisson", pairing="known").fit(constant, COUNTS)
    assert np.isnan(model.conf_int(method="profile")[3]).all()
    del model._family_data
    with pytest.raises(ValueError, match="loaded from a file"):
        model.conf_int(method="profile")


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_separated_classes_have_no_maximum():
    model = ShuffledClassifier(pairing="known").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="no maximum to start from"):
        model.conf_int(method="profile")


@pytest.mark.filterwarnings("ignore::unshuffle.exceptions.MixingWarning")
def test_intervals_of_the_posterior():
    model = ShuffledRegressor(family="poisson", pairing="known").fit(X, COUNTS)
    options = {"n_draws": 500, "n_warmup": 100, "random_state": 0}
    found = model.conf_int(0.8, method="posterior", **options)
    assert np.array_equal(found, model.posterior(**options).interval(0.8))
    assert np.abs(np.log(np.diff(found) / np.diff(model.conf_int(0.8)))).max() < 0.3
