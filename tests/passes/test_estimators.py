"""Fits in passes as users call them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from unshuffle import StochasticEMRegressor, Streaming, fit_parquet
from unshuffle.estimators._sources import SourceSettings, find_source

SHORT = {"max_iter": 4, "tol": 0, "random_state": 0}


@pytest.fixture
def frame(grouped):
    names = ["a", "b", "c", "d"]
    return pd.DataFrame(grouped.X, columns=names).assign(y=grouped.y, zone=grouped.groups)


def streamed(**more):
    return StochasticEMRegressor(streaming=Streaming(), **{**SHORT, **more})


def test_fits_in_passes_work_like_others(grouped, frame):
    model = streamed(max_iter=40, tol="auto", init=grouped.coef)
    model.fit(frame[["a", "b", "c", "d"]], frame["y"], groups=frame["zone"])
    assert model.converged_
    assert np.all(np.abs(model.coef_ - grouped.coef) < 5 * model.standard_errors_[1:])
    assert model.n_groups_ == 40
    assert model.conf_int().shape == (5, 2)
    assert "400" in str(model.summary())
    again = pickle.loads(pickle.dumps(model))
    table = frame[["a", "b", "c", "d"]]
    assert np.array_equal(again.predict(table), model.predict(table))
    assert clone(model).streaming == model.streaming


def test_what_is_not_kept_is_said(grouped):
    model = streamed().fit(grouped.X, grouped.y, groups=grouped.groups)
    assert not hasattr(model, "match_proba_")
    with pytest.raises(AttributeError, match="keeps nothing per row, so that there is no expected"):
        _ = model.expected_labels_
    with pytest.raises(ValueError, match="does not keep them"):
        model._kept_problem()
    # A later fit in memory has it all again, and nothing of the streamed one.
    model.set_params(streaming="never").fit(grouped.X, grouped.y, groups=grouped.groups)
    assert len(model.expected_labels_) == len(grouped.y)
    model.set_params(streaming=Streaming()).fit(grouped.X, grouped.y, groups=grouped.groups)
    assert not hasattr(model, "permutation_")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = model.nonsense


@pytest.mark.parametrize(
    "wrong", [{"variant": "published"}, {"max_shift": 2}, {"alignment": "sinkhorn"}, {"thin": 3}]
)
def test_what_needs_all_rows_is_refused(grouped, wrong):
    with pytest.raises(ValueError, match="is not for data that are read in passes"):
        streamed(**wrong).fit(grouped.X, grouped.y)
    with pytest.raises(ValueError, match="match_prob and rates per stratum are not for data"):
        streamed().fit(grouped.X, grouped.y, match_prob=np.full(400, 0.5))


def test_size_alone_decides(grouped, tmp_path):
    X, y, groups = grouped.X, grouped.y, grouped.groups
    np.save(tmp_path / "X.npy", X)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r")
    in_memory = StochasticEMRegressor(**SHORT).fit(on_disk, y, groups=groups)
    assert np.array_equal(in_memory.coef_, StochasticEMRegressor(**SHORT).fit(X, y, groups).coef_)
    assert hasattr(in_memory, "expected_labels_")
    in_passes = streamed().fit(X, y, groups=groups)
    just_large, just_small = (SourceSettings(large=X.size + len(y) - k) for k in (1, 0))
    for table in (X, on_disk, pd.DataFrame(X)):
        assert find_source("auto", table, y, groups, None) is None
        assert find_source("auto", table, y, groups, None, just_small) is None
        assert find_source("never", table, y, groups, None, just_large) is None
        source = find_source("auto", table, y, groups, None, just_large)
        model = StochasticEMRegressor(**SHORT)._fit_in_passes(source)
        assert not hasattr(model, "expected_labels_")
        assert np.array_equal(model.coef_, in_passes.coef_)


def test_bad_input(grouped):
    X, y = grouped.X, grouped.y
    holes = X.copy()
    holes[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 7, column 2"):
        streamed().fit(holes, y, groups=grouped.groups)
    labels = y.copy()
    labels[5] = np.inf
    with pytest.raises(ValueError, match="y holds inf in row 5"):
        streamed().fit(X, labels, groups=grouped.groups)
    with pytest.raises(ValueError, match="all 400 labels equal 1"):
        streamed().fit(X, np.ones(400))
    with pytest.raises(ValueError, match="399 labels"):
        streamed().fit(X, y[:-1])
    with pytest.raises(ValueError, match="table of numbers"):
        streamed().fit(np.array([["a"], ["b"]]), y[:2])
    with pytest.raises(ValueError, match="more rows than coefficients"):
        streamed().fit(X[:4], y[:4])
    with pytest.raises(ValueError, match="leave none of n_steps"):
        streamed(n_steps=100, burn_in=100).fit(X, y)
    with pytest.raises(ValueError, match="scheduler is for Dask collections"):
        StochasticEMRegressor(streaming=Streaming(scheduler="tcp://a:1")).fit(X, y)
    with pytest.raises(ValueError, match="init has shape"):
        streamed(init=[1.0]).fit(X, y)


def test_small_files_are_fitted_in_memory(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    model = fit_parquet(tmp_path, label="y", group="zone", **SHORT)
    here = StochasticEMRegressor(**SHORT)
    here.fit(frame[["a", "b", "c", "d"]], frame["y"], groups=frame["zone"])
    assert np.array_equal(model.coef_, here.coef_)
    assert model.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    some = fit_parquet(tmp_path, label="y", group="zone", features=["c", "a"], **SHORT)
    assert some.coef_.shape == (2,)


def test_files_that_will_not_do(frame, tmp_path):
    path = tmp_path / "t.parquet"
    frame.assign(word="w", hole=frame["a"].where(frame["a"] > 0)).to_parquet(path)

    def fit(paths=path, **more):
        settings = {"label": "y", "group": "zone", "features": ["a", "b"], **more}
        fit_parquet(paths, streaming=Streaming(), **SHORT, **settings)

    with pytest.raises(FileNotFoundError, match="no Parquet file at"):
        fit(tmp_path / "nowhere*.parquet")
    with pytest.raises(ValueError, match=r"has no column 'q' .*; it has: a, b"):
        fit(features=["q"])
    with pytest.raises(ValueError, match=r"hold no numbers: 'word' \(text\); encode"):
        fit(features=["word"])
    with pytest.raises(ValueError, match=r"row .*, column 'hole': the value is missing"):
        fit(features=["hole"])
    with pytest.raises(ValueError, match=r"row .*, column 'hole': the value is missing"):
        fit(group="hole")
    with pytest.raises(ValueError, match="must hold true or false"):
        fit(known="c")
    with pytest.raises(ValueError, match="has the role 'label' and cannot be a feature as well"):
        fit(features=["y"])
    with pytest.raises(ValueError, match="names no column"):
        fit(features=[])
    (tmp_path / "u.parquet").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"u.parquet: cannot be read as Parquet"):
        fit(tmp_path / "u.parquet")
    frame[["a", "y", "zone"]].to_parquet(tmp_path / "u.parquet")
    with pytest.raises(ValueError, match=r"u.parquet: has no column 'b', which is in .*t.parquet"):
        fit(tmp_path)


def test_robust_standard_errors_are_refused_in_passes(grouped):
    refused = streamed(covariance_type="robust")
    with pytest.raises(ValueError, match=r"covariance_type='robust' is not for data .* in passes"):
        refused.fit(grouped.X, grouped.y, groups=grouped.groups)
    model = streamed().fit(grouped.X, grouped.y, groups=grouped.groups)
    assert model.covariance_type_ == "model" and np.isnan(model.covariance_pvalue_)
