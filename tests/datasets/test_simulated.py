import numpy as np
import pytest

from unshuffle.datasets import load_boston, make_shuffled_regression
from unshuffle.metrics import (
    coefficient_cosine,
    coefficient_error,
    matched_mse,
    permutation_accuracy,
)

# Share of rows that hold another row's label: lowest and highest to be expected of 120 rows.
MOVED = {"full": (0.9, 1), "groups": (0.8, 1), "swaps": (0.02, 14 / 120), "fraction": (0.2, 0.25)}


@pytest.mark.parametrize("shuffle", ["full", "swaps", "fraction", "groups"])
@pytest.mark.parametrize("group_by", ["feature", "label", "random"])
def test_truth_is_consistent(shuffle, group_by):
    data = make_shuffled_regression(
        120, 3, noise=0.2, shuffle=shuffle, n_swaps=7, fraction=0.25, n_groups=6,
        group_by=group_by, intercept=4.0, random_state=1,
    )  # fmt: skip
    assert np.array_equal(data.y[data.permutation], data.y_ordered)
    assert np.array_equal(data.groups[data.permutation], data.groups)
    residual = data.y_ordered - 4.0 - data.X @ data.coef
    assert 0.15 < residual.std() < 0.25
    moved = np.mean(data.permutation != np.arange(120))
    low, high = MOVED[shuffle]
    assert low < moved <= high
    if shuffle == "groups":
        assert list(np.bincount(data.groups)) == [20] * 6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shuffle": "some"}, "shuffle must be one of full, swaps, fraction, groups; got 'some'"),
        ({"group_by": "zone"}, "group_by must be one of"),
        ({"noise": -1}, "cannot be negative"),
        ({"fraction": 1.5}, "between 0 and 1"),
        ({"n_groups": 0}, "n_groups must lie between"),
        ({"coef": [1.0]}, "coef has shape"),
        ({"n_samples": 0}, "at least one row"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_shuffled_regression(**parameters)


def test_boston_is_the_table_everybody_knows():
    boston = load_boston()
    assert boston.data.shape == (506, 14)
    assert boston.column("MEDV").mean() == pytest.approx(22.5328, abs=1e-4)
    assert boston.column("CRIM")[0] == 0.00632
    assert boston.column("LSTAT").max() == 37.97
    assert boston.without("MEDV").shape == (506, 13)
    assert set(np.unique(boston.column("CHAS"))) == {0.0, 1.0}


def test_metrics():
    assert coefficient_error([1, 1], [1, 1]) == 0
    assert coefficient_cosine([0, 0], [1, 2]) == 0
    assert coefficient_cosine([-1, -2], [1, 2]) == pytest.approx(-1)
    assert matched_mse([2, 1], [1, 2]) == 0
    assert matched_mse([2, 1], [1, 2], groups=["a", "b"]) == 1
    assert permutation_accuracy([1, 0, 2], [0, 1, 2]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="2 labels but there are 3 predictions"):
        matched_mse([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="cannot be compared"):
        permutation_accuracy([1, 0], [0, 1, 2])
