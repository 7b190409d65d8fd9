"""Fits that are cut short and go on."""

import numpy as np
import pytest

from fitting import SHORT, same_fit
from unshuffle import StochasticEMRegressor, Streaming
from unshuffle.fits.checkpoint_format import (
    CHECKPOINT,
    CheckpointFields,
    read_fields,
    write_fields,
)
from unshuffle.fits.model_files.kinds import FILES


class CutError(Exception):
    """What stops a fit."""


def stop_after(k):
    def callback(progress):
        if progress.done == k:
            raise CutError

    return callback


def model(path=None, **more):
    streaming = {k: more.pop(k) for k in ("resume", "checkpoint_every") if k in more}
    return StochasticEMRegressor(
        streaming=Streaming(checkpoint=path, rows_per_part=500, **streaming), **{**SHORT, **more}
    )


def fit(table, estimator):
    X, y, groups, known = table
    return estimator.fit(X, y, groups=groups, known=known)


@pytest.mark.long
@pytest.mark.parametrize("rate", [None, "estimate"])
def test_resumed_fits_are_those_that_were_never_cut(table, rate, tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.raises(CutError):
        fit(table, model(path, checkpoint_every=2, callback=stop_after(5), mismatch_rate=rate))
    assert np.load(path)["coef_path"].shape == (4, 3)
    whole = fit(table, model(mismatch_rate=rate))
    seen = []
    resumed = model(path, resume=True, mismatch_rate=rate, callback=lambda p: seen.append(p.done))
    assert same_fit(fit(table, resumed), whole)
    assert seen == [5, 6]
    # A fit without a random_state keeps the seed that it began with.
    assert same_fit(
        fit(table, model(path, resume=True, random_state=None, mismatch_rate=rate)), whole
    )
    assert not list(tmp_path.glob("*.tmp"))


def test_an_iteration_that_fails_leaves_a_checkpoint(table, tmp_path, monkeypatch):
    from unshuffle.data import passes

    path, calls, align = tmp_path / "fit.npz", [], passes.align

    def fails(part, *rest):
        calls.append(rest[2])
        if rest[2] == 3:
            raise CutError
        return align(part, *rest)

    monkeypatch.setattr(passes, "align", fails)
    with pytest.raises(CutError):
        fit(table, model(path, checkpoint_every=1000))
    monkeypatch.undo()
    assert same_fit(fit(table, model(path, resume=True)), fit(table, model()))


def test_files_that_are_no_checkpoint_are_refused(table, tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.raises(CutError):
        fit(table, model(path, checkpoint_every=1, callback=stop_after(3)))
    whole = path.read_bytes()
    for wrong in (whole[: len(whole) // 2], whole[:-30], b"", b"nonsense"):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=r"no checkpoint, or it is cut short.*start anew"):
            fit(table, model(path, resume=True))
    np.savez(path, coef=np.ones(3))
    with pytest.raises(ValueError, match=r"is no checkpoint.*holds \['coef'\]"):
        fit(table, model(path, resume=True))
    np.savez(path, kind=np.array([{"a": 1}], dtype=object))  # a pickle must not be opened
    with pytest.raises(ValueError, match="no checkpoint"):
        fit(table, model(path, resume=True))


def test_random_damage_is_refused_or_harmless(tmp_path):
    """Bits flipped, ends cut off, pieces exchanged: never other numbers than those written."""
    rng = np.random.default_rng(0)
    shares = rng.uniform(size=(5, 4))
    fields = CheckpointFields(
        "0" * 64, 3, rng.normal(size=3), shares[0], np.ones((4, 3)), shares[1:]
    )
    path = tmp_path / "fit.npz"
    write_fields(path, fields)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    refused = 0
    for k in range(600):
        damaged, place = whole.copy(), rng.integers(len(whole))
        if k % 3 == 0:
            damaged[place] ^= 1 << rng.integers(8)
        elif k % 3 == 1:
            damaged = damaged[:place]
        else:
            damaged[place : place + 20] = rng.integers(256, size=len(damaged[place : place + 20]))
        path.write_bytes(damaged.tobytes())
        CHECKPOINT.problem(path), FILES["model.npz"].problem(path)  # answer, and do not fail
        try:
            found = read_fields(path)
        except ValueError:
            refused += 1
            continue
        for one, other in zip(found, fields, strict=True):
            np.testing.assert_array_equal(one, other)
    assert refused > 500


def test_checkpoints_of_other_fits_are_refused(table, tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.raises(CutError):
        fit(table, model(path, checkpoint_every=1, callback=stop_after(3)))
    with pytest.raises(ValueError, match="other data or with other settings"):
        fit(table, model(path, resume=True, temper=1.2))
    X, y, groups, known = table
    with pytest.raises(ValueError, match="other data or with other settings"):
        model(path, resume=True).fit(X, y[::-1], groups=groups, known=known)
    with pytest.raises(ValueError, match="another random_state"):
        fit(table, model(path, resume=True, random_state=1))
    fields = dict(np.load(path))
    np.savez(path, **{**fields, "schema": np.array(99)})
    with pytest.raises(ValueError, match="schema 99, this version reads schema 3"):
        fit(table, model(path, resume=True))


def test_settings_that_make_no_sense():
    with pytest.raises(ValueError, match="resume needs a checkpoint"):
        Streaming(resume=True)
    with pytest.raises(ValueError, match="from 1 on"):
        Streaming(rows_per_part=0)
