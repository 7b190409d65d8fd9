"""`unshuffle fit` on several Parquet files that are one table, in memory and in passes."""

import json

import dask
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unshuffle import Streaming, TableError, fit_parquet, load_model
from unshuffle.cli.app import app
from unshuffle.datasets.simulated import shuffle_inside

pytestmark = pytest.mark.long

LOST = ("-y", "y", "-g", "zone", "--pairing", "lost")


def call(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def table():
    """Two features and a category; labels shuffled inside 30 groups of 10."""
    rng = np.random.RandomState(0)
    zone, a, b = np.arange(300) % 30, *rng.normal(size=(2, 300))
    kind = rng.choice(["north", "south"], 300)
    y = 1 + a - 2 * b + 1.5 * (kind == "south") + 0.2 * rng.normal(size=300)
    shuffled = y[shuffle_inside(rng, zone)]
    return pd.DataFrame({"a": a, "b": b, "kind": kind, "zone": zone, "y": shuffled})


def cut(frame, folder):
    for k in range(3):
        frame.iloc[100 * k : 100 * k + 100].to_parquet(folder / f"{k}.parquet")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def pieces(table, tmp_path_factory):
    return cut(table.drop(columns="kind"), tmp_path_factory.mktemp("pieces"))


@pytest.fixture(scope="module")
def with_kinds(table, tmp_path_factory):
    return cut(table, tmp_path_factory.mktemp("kinds"))


def test_several_files_give_what_one_gives(table, with_kinds, tmp_path):
    """The same categories, coefficients, verdict and files."""
    table.to_parquet(tmp_path / "whole.parquet")
    arguments = ("-y", "y", "-g", "zone")
    whole = call(tmp_path / "whole.parquet", *arguments, "--json", "--out", tmp_path / "one")
    several = call(*with_kinds, *arguments, "--json", "--out", tmp_path / "several")
    assert whole.exit_code == several.exit_code == 0
    one, found = json.loads(whole.stdout), json.loads(several.stdout)
    assert list(found["coefficients"]) == ["(intercept)", "a", "b", "kind[T.south]"]
    assert found["data"].endswith("0.parquet and 2 more")
    for document in (one, found):
        del document["data"], document["files"]
    assert found == one
    for name in ("model.npz", "summary.csv", "matches.csv"):
        files = [(tmp_path / out / name).read_bytes() for out in ("one", "several")]
        assert files[0] == files[1], name
    assert "0.parquet and 2 more" in (tmp_path / "several" / "report.html").read_text()


def test_a_folder_stands_for_its_files(pieces, tmp_path):
    by_name = call(*pieces, "-y", "y", "-g", "zone", "--json")
    by_folder = call(pieces[0].parent, "-y", "y", "-g", "zone", "--json")
    assert by_folder.stdout == by_name.stdout


def test_the_order_is_tested_in_several_files(pieces):
    assert json.loads(call(*pieces, "-y", "y", "-g", "zone", "--json").stdout)["pairing"] == "lost"
    known = call(*pieces, "-y", "y", "-g", "zone", "--pairing", "known", "--json")
    assert json.loads(known.stdout)["pairing"] == "known"


@pytest.fixture
def checkpoint(tmp_path):
    return ("--checkpoint", tmp_path / "c.npz")


def test_passes_are_what_fit_parquet_does(pieces, checkpoint, tmp_path):
    out = tmp_path / "out"
    done = call(*pieces, *LOST, *checkpoint, "--out", out, "--json")
    assert done.exit_code == 0
    model = fit_parquet(pieces, label="y", group="zone", random_state=0, streaming=Streaming())
    found = json.loads(done.stdout)["coefficients"]
    assert found["a"]["unshuffle"]["coef"] == model.coef_[0]
    assert sorted(path.name for path in out.iterdir()) == ["model.json", "model.npz", "summary.csv"]
    assert load_model(out).coef_.tolist() == model.coef_.tolist()


def test_a_fit_continues_from_its_checkpoint(pieces, checkpoint, tmp_path):
    arguments = (*pieces, *LOST, "--json", *checkpoint)
    whole = call(*arguments)
    assert whole.exit_code == 0
    file = tmp_path / "c.npz"
    assert file.stat().st_size > 100
    assert call(*arguments, "--resume").stdout == whole.stdout
    file.write_bytes(file.read_bytes()[:200])
    refused = call(*arguments, "--resume")
    assert refused.exit_code == 2
    assert "c.npz" in refused.stderr


@pytest.mark.dask
def test_a_scheduler_that_is_not_there_is_named(pieces):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        refused = call(*pieces, *LOST, "--scheduler", "tcp://127.0.0.1:9")
    assert refused.exit_code == 2
    assert "tcp://127.0.0.1:9" in refused.stderr


def test_passes_have_no_verdict(pieces, checkpoint):
    assert "no verdict" in call(*pieces, *LOST, *checkpoint).stdout


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-g", "zone", "--pairing", "lost"), ["--label", "a, b, zone, y"]),
        (("-y", "y", "--pairing", "known"), ["--pairing known"]),
        (("-y", "y", "-g", "zone"), ["--pairing lost", "--pairing mostly-right", "not test"]),
        ((*LOST, "--match-prob", "a"), ["--match-prob"]),
        ((*LOST, "--categorical", "a"), ["--categorical"]),
        (("-y", "nowhere", "--pairing", "lost"), ["nowhere"]),
    ],
)
def test_what_passes_cannot_do_is_refused(pieces, checkpoint, more, words):
    refused = call(*pieces, *more, *checkpoint)
    assert refused.exit_code == 2
    assert [word for word in words if word not in refused.stderr] == []


def test_resume_needs_a_file(pieces):
    refused = call(*pieces, *LOST, "--resume")
    assert refused.exit_code == 2
    assert "--checkpoint" in refused.stderr


def test_passes_refuse_text_and_name_it(with_kinds, checkpoint):
    refused = call(*with_kinds, *LOST, *checkpoint)
    assert refused.exit_code == 2
    assert "'kind' (text)" in refused.stderr
    assert "--features" in refused.stderr
    assert call(*with_kinds, *LOST, *checkpoint, "-x", "a,b").exit_code == 0


@pytest.mark.parametrize("streaming", [None, Streaming()])
def test_fit_parquet_refuses_text_and_dates(table, tmp_path, streaming):
    more = table.assign(day=pd.Timestamp("2020-01-01"), flag=True)
    more.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError) as refused:
        fit_parquet(tmp_path, label="y", group="zone", streaming=streaming)
    for name in ("kind", "day", "flag"):
        assert f"{name!r} (" in str(refused.value)
    assert "--" not in str(refused.value)
    chosen = fit_parquet(
        tmp_path, label="y", group="zone", features=["a", "b"], streaming=streaming,
        max_iter=2, tol=0, random_state=0,
    )  # fmt: skip
    assert chosen.coef_.shape == (2,)


def test_other_files_are_not_pieces(pieces, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,y\n1,2\n")
    for arguments in ((*pieces, table), (table, "--checkpoint", tmp_path / "c.npz")):
        refused = call(*arguments, "-y", "y")
        assert refused.exit_code == 2
        assert "t.csv is not a Parquet file" in refused.stderr
        assert "--by" in refused.stderr
