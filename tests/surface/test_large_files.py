"""`unshuffle fit` on several Parquet files that are one table."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from unshuffle import Streaming, fit_parquet, load_model
from unshuffle.cli.app import app
from unshuffle.datasets import make_shuffled_regression


def call(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    data = make_shuffled_regression(
        300, 2, noise=0.2, shuffle="groups", n_groups=30, group_by="random", random_state=0
    )
    frame = pd.DataFrame({"a": data.X[:, 0], "b": data.X[:, 1], "zone": data.groups, "y": data.y})
    folder = tmp_path_factory.mktemp("large")
    for k in range(3):
        frame.iloc[100 * k : 100 * k + 100].to_parquet(folder / f"{k}.parquet")
    return sorted(folder.iterdir())


def test_several_files_are_one_table(pieces, tmp_path):
    out = tmp_path / "out"
    said = call(*pieces, "-y", "y", "-g", "zone", "--out", out, "--json")
    assert said.exit_code == 0
    model = fit_parquet(pieces, label="y", group="zone", random_state=0, streaming=Streaming())
    told = json.loads(said.stdout)["coefficients"]
    assert told["a"]["unshuffle"]["coef"] == model.coef_[0]
    assert sorted(path.name for path in out.iterdir()) == ["model.json", "model.npz", "summary.csv"]
    assert load_model(out).coef_.tolist() == model.coef_.tolist()


def test_a_checkpoint_is_written_and_gone_on_from(pieces, tmp_path):
    checkpoint = tmp_path / "c.npz"
    arguments = (*pieces, "-y", "y", "-g", "zone", "--json", "--checkpoint", checkpoint)
    whole = call(*arguments)
    assert whole.exit_code == 0
    assert checkpoint.stat().st_size > 100
    assert call(*arguments, "--resume").stdout == whole.stdout
    checkpoint.write_bytes(checkpoint.read_bytes()[:200])
    refused = call(*arguments, "--resume")
    assert refused.exit_code == 2
    assert "c.npz" in refused.stderr


def test_a_scheduler_that_is_not_there_is_named(pieces):
    refused = call(*pieces, "-y", "y", "-g", "zone", "--scheduler", "tcp://127.0.0.1:9")
    assert refused.exit_code == 2
    assert "tcp://127.0.0.1:9" in refused.stderr


def test_no_verdict_is_said(pieces):
    assert "no verdict" in call(*pieces, "-y", "y", "-g", "zone").stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("-g", "zone"), "--label"),
        (("-y", "y", "--resume"), "--checkpoint"),
        (("-y", "y", "--pairing", "known"), "--pairing known"),
        (("-y", "y", "--match-prob", "a"), "--match-prob"),
        (("-y", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_done_is_refused(pieces, more, said):
    refused = call(*pieces, *more)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_other_files_are_not_pieces(pieces, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,y\n1,2\n")
    refused = call(*pieces, table, "-y", "y")
    assert refused.exit_code == 2
    assert "t.csv is not a Parquet file" in refused.stderr
