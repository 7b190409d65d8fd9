"""Commands on linked files: pair tables, audits, and repairs that would make a file worse."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle.cli.app import app

N = 200


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files of the same persons, two candidates each, and the linked file; 20 % are wrong."""
    folder, rng = tmp_path_factory.mktemp("linked"), np.random.default_rng(0)
    ids = np.array([f"p{k:03d}" for k in rng.permutation(N)])
    a, b = rng.normal(size=(2, N))
    y = 1 + 2 * a - b + 0.3 * rng.normal(size=N)
    wrong = rng.permutation(N) < 40
    partner = np.arange(N)
    partner[wrong] = np.roll(np.flatnonzero(wrong), 1)
    second = (partner + 1) % N
    seen = np.flatnonzero(rng.random(N) < 0.6)
    pairs = {
        "unique_id_l": [*ids, *ids],
        "unique_id_r": [*ids[partner], *ids[second]],
        "match_probability": [*np.where(wrong, 0.55, 0.8), *np.full(N, 0.01)],
    }
    order = rng.permutation(N)
    return {
        "left": write(folder / "left.csv", unique_id=ids, a=a, b=b),
        "right": write(folder / "right.csv", unique_id=ids[order], y=y[order]),
        "pairs": write(folder / "pairs.csv", **pairs),
        "checked": write(
            folder / "checked.csv",
            unique_id_l=ids[seen],
            unique_id_r=ids[partner][seen],
            right=(~wrong[seen]).astype(int),
        ),
        "linked": write(folder / "linked.csv", a=a, b=b, y=y[partner]),
        "wrong": wrong,
        "folder": folder,
    }


def coefficients(done):
    return {k: v["unshuffle"]["coef"] for k, v in json.loads(done.stdout)["coefficients"].items()}


def test_fit_takes_a_table_of_pairs(files):
    done = call("fit", files["left"], files["right"], "--pairs", files["pairs"], "--json")
    assert done.exit_code == 0, done.output
    found = coefficients(done)
    assert abs(found["a"] - 2) < 0.1
    assert abs(found["b"] + 1) < 0.1
    notes = json.loads(done.stdout)["notes"]
    assert notes[0].startswith("200 of 200 left and 200 right records are linked one-to-one, 25.0%")
    done = call(
        "fit", files["left"], files["right"], "--pairs", files["pairs"], "--checked",
        files["checked"],         "--label", "y", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert abs(coefficients(done)["a"] - 2) < 0.1
    assert json.loads(done.stdout)["rows"] < N  # links checked as wrong are out


def test_fit_takes_an_audit(files):
    done = call("fit", files["linked"], "--label", "y", "--audit", "20/100", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["pairing"] == "mostly-right"
    assert document["settings"]["audit"] == "20/100"
    assert "(se 0.04)" in document["facts"]["mismatched"]
    assert abs(coefficients(done)["a"] - 2) < 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{linked}", "--audit", "300/21", "-y", "y"), "between 0 and checked=21"),
        (("{linked}", "--audit", "7 percent", "-y", "y"), "such as 21/300"),
        (("{linked}", "--audit", "1/9", "-y", "y", "--pairing", "lost"), "give the rate of"),
        (("{linked}", "-y", "y", "--checked", "{left}"), "--checked belongs to --pairs"),
        (("{left}", "--pairs", "{pairs}"), "--pairs is for two tables"),
        (("{left}", "{right}", "--pairs", "{pairs}", "--by", "a"), "not both"),
        (("{left}", "{right}", "--pairs", "{pairs}", "--match-prob", "a"), "not for --pairs"),
        (("{left}", "{right}", "--pairs", "{linked}"), "which two hold the ids"),
        (("{left}", "{right}", "--pairs", "{pairs}", "--id", "a"), "has no column 'a' with ids"),
        (("{linked}", "{right}", "--pairs", "{pairs}"), "has no column 'unique_id' with ids"),
        (("{left}", "{right}", "--pairs", "{pairs}", "--checked", "{left}"), "need the columns"),
    ],
)
def test_what_cannot_be_linked_is_named(files, arguments, message):
    done = call("fit", *(word.format(**files) for word in arguments))
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A linked file with so much noise that the owner of a label cannot be found."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 500))
    y, perm = a - b + 0.7 * rng.normal(size=500), np.arange(500)
    perm[:150] = np.roll(perm[:150], 1)
    path = tmp_path_factory.mktemp("noisy") / "linked.csv"
    return write(path, a=a, b=b, y=y[perm], p=np.where(np.arange(500) < 150, 0.1, 0.9))


def test_a_repair_that_makes_the_file_worse_is_refused(noisy, tmp_path):
    out = tmp_path / "mended.csv"
    options = ("--label", "y", "--match-prob", "p", "--features", "a,b", "--out", out)
    done = call("repair", noisy, *options, "--quiet")
    assert done.exit_code == 1
    assert not out.exists()
    words = " ".join(done.output.split())
    assert re.search(
        r"labels is expected to lower the share of right labels from 0\.\d+ to 0", words
    )
    assert "Nothing was written" in words
    done = call("repair", noisy, *options, "--json", "--accept-rejected")
    document = json.loads(done.stdout)
    assert out.exists()
    assert document["right_after"] < document["right_before"]


def test_a_repair_that_mends_the_file_is_made(files, tmp_path):
    """Two labels of a plate that were swapped."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=60)
    y = 3 * a + 0.1 * rng.normal(size=60)
    y[[3, 30]] = y[[30, 3]]
    path, out = write(tmp_path / "plate.csv", a=a, y=y), tmp_path / "mended.csv"
    done = call("repair", path, "--label", "y", "--out", out)
    assert done.exit_code == 0, done.output
    assert "is expected to raise the share of right labels" in " ".join(done.output.split())
    assert out.exists()
