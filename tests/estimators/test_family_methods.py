"""Which methods a fit of another family has, and which it lacks."""

import inspect

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, StochasticEMRegressor

X = np.random.default_rng(0).normal(size=(200, 2))
COUNTS = np.random.default_rng(1).poisson(np.exp(0.5 + X @ [0.8, -0.5])).astype(float)
LACKING = [
    "pair_probabilities", "noise_scale_interval", "mismatch_sensitivity", "likely_partners",
    "expect_repair", "repair",
]  # fmt: skip


@pytest.fixture(scope="module")
def counts():
    return ShuffledRegressor(family="poisson", random_state=0).fit(X, COUNTS)


@pytest.fixture(scope="module")
def normal():
    return ShuffledRegressor(random_state=0).fit(X, X @ [1.0, 2.0] + 0.1 * X[:, 0] ** 2)


@pytest.mark.parametrize("name", LACKING)
def test_methods_of_normal_labels_alone(name, counts, normal):
    assert not hasattr(counts, name)
    with pytest.raises(AttributeError, match=f"a fit of family 'poisson' .* has no {name}"):
        getattr(counts, name)
    assert callable(getattr(normal, name))
    assert callable(getattr(ShuffledRegressor(), name))


@pytest.mark.parametrize("name", LACKING)
def test_their_signatures_and_docstrings_can_be_read(name):
    method = getattr(StochasticEMRegressor, name)
    assert "Parameters" in method.__doc__ or "Returns" in method.__doc__
    assert next(iter(inspect.signature(method).parameters)) == "self"
