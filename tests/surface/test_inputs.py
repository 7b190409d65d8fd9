"""What commands read: standard input, workbooks, compressed tables, a file for each tube."""

import bz2
import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import openpyxl
import pytest
import zstandard

from hostile.cases import GOOD
from surface.shell import call, shell, write
from unshuffle.io.settings import READ
from unshuffle.io.standard_input import take_standard_input

pytestmark = pytest.mark.long

FIT = ("--label", "y", "--group", "zone")


def coefficients(done):
    text = done.stdout if isinstance(done.stdout, str) else done.stdout.decode()
    return json.loads(text)["coefficients"]


def workbook():
    book = openpyxl.Workbook()
    lines = [line.split(",") for line in GOOD.splitlines()]
    book.active.append(lines[0])
    for zone, *numbers in lines[1:]:
        book.active.append([zone, *map(float, numbers)])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def parquet():
    import pyarrow.csv as reader
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(reader.read_csv(io.BytesIO(GOOD.encode())), file)
    return file.getvalue()


CONTENTS = {
    "csv": GOOD.encode,
    "tsv": lambda: GOOD.replace(",", "\t").encode(),
    "csv.gz": lambda: gzip.compress(GOOD.encode()),
    "csv.bz2": lambda: bz2.compress(GOOD.encode()),
    "csv.zst": lambda: zstandard.compress(GOOD.encode()),
    "xlsx": workbook,
    "parquet": parquet,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "t.csv"
    path.write_text(GOOD)
    return coefficients(call("fit", path, *FIT, "--json"))


@pytest.mark.parametrize("kind", CONTENTS)
def test_every_kind_as_a_file_and_by_standard_input(tmp_path, expected, kind):
    content, path = CONTENTS[kind](), tmp_path / f"t.{kind}"
    path.write_bytes(content)
    assert coefficients(call("fit", path, *FIT, "--json")) == expected
    by_input = call("fit", "-", *FIT, "--json", input=content)
    assert by_input.exit_code == 0, by_input.stderr
    assert coefficients(by_input) == expected
    assert json.loads(by_input.stdout)["data"] == "standard input"


def test_a_pipe_of_commands(tmp_path, expected):
    (tmp_path / "t.csv").write_text(GOOD)
    python = f"'{sys.executable}' -m unshuffle"
    done = subprocess.run(
        f"cat t.csv | {python} fit - {' '.join(FIT)} --out results -q > fit.txt && "
        f"head -3 t.csv | {python} predict results - | cut -d, -f1",
        shell=True, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "row\n1\n2\n", done.stderr
    assert "Written: results/report.html" in (tmp_path / "fit.txt").read_text()
    assert "y in standard input" in (tmp_path / "results" / "report.html").read_text()


@pytest.mark.parametrize("command", ["suspects", "repair", "blocks", "audit"])
def test_other_commands_read_standard_input(tmp_path, command):
    more = {
        "repair": (*FIT, "--force", "--out", tmp_path / "r.csv"), "blocks": ("-y", "y", "--by", "zone"),
        "audit": (*FIT, "--shuffles", 2),
    }  # fmt: skip
    rows = "".join(
        f"z{k // 4},{np.sin(k):.4f},{np.sin(k) + np.cos(9 * k):.4f}\n" for k in range(80)
    )
    table = f"zone,a,y\n{rows}".encode()
    done = call(command, "-", *more.get(command, FIT), input=table)
    assert done.exit_code in {0, 1}, done.stderr
    assert done.stdout
    done = call(command, "-", *more.get(command, FIT), input=table + b"1,2\n")
    assert done.exit_code == 2
    assert f"unshuffle {command}: standard input, line 82: has 2 fields" in done.stderr


def test_a_file_that_is_redirected_is_not_overwritten(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(GOOD)
    with path.open("rb") as file:
        done = shell("repair", "-", *FIT, "--out", path, "--force", stdin=file)
    assert done.returncode == 2
    assert "is read by the same call and never overwritten" in done.stderr
    assert path.read_text() == GOOD


def test_nothing_stays_behind_and_a_terminal_is_not_waited_for(tmp_path):
    done = shell("fit", "-", *FIT, "--json", input=GOOD, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
    import pty

    leader, follower = pty.openpty()
    done = shell("fit", "-", *FIT, stdin=follower, timeout=60)
    for handle in (leader, follower):
        os.close(handle)
    assert done.returncode == 2
    assert "standard input: is a terminal; pipe a table" in done.stderr


def test_endless_input_ends(monkeypatch):
    class Endless:
        def isatty(self):
            return False

        buffer = property(lambda self: self)

        def read(self, size):
            return b"y\n" * (size // 2)

    monkeypatch.setattr(sys, "stdin", Endless())
    from dataclasses import replace
    from pathlib import Path

    with pytest.raises(ValueError, match=r"standard input: has more than 5\.0 MB; save it"):
        take_standard_input([Path("-")], replace(READ, standard_input=5_000_000))


@pytest.fixture(scope="module")
def tubes(tmp_path_factory):
    """Six files; labels are shuffled inside each, and the channels stand in two orders."""
    flowio = pytest.importorskip("flowio")
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("tubes")
    for k in range(6):
        a, b = rng.normal(size=(2, 50)) + 5 + 0.3 * k
        y = rng.permutation(2 * a - b + 0.1 * rng.normal(size=50))
        channels = {"FSC-A": a, "SSC-A": b, "GFP-A": y}
        names = list(channels)[:: 1 if k % 2 else -1]
        with (folder / f"tube{k}.fcs").open("wb") as file:
            events = np.stack([channels[name] for name in names], axis=1)
            flowio.create_fcs(file, events.ravel().tolist(), names)
    return sorted(folder.iterdir())


def test_one_file_for_each_tube(tubes):
    done = call("fit", *tubes, "--label", "GFP-A", "--by", "file", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["groups"] == 6
    assert document["data"].endswith("tube0.fcs and 5 more")
    assert document["pairing"] == "lost"
    found = {name: c["unshuffle"]["coef"] for name, c in document["coefficients"].items()}
    assert set(found) == {"(intercept)", "FSC-A", "SSC-A"}
    assert found["FSC-A"] == pytest.approx(2, abs=0.05)
    assert found["SSC-A"] == pytest.approx(-1, abs=0.05)
    same = call("fit", *tubes, "--label", "GFP-A", "--group", "file", "--json")
    assert json.loads(same.stdout)["coefficients"] == document["coefficients"]
    one_group = call("fit", *tubes, "--label", "GFP-A", "--json")
    assert json.loads(one_group.stdout)["groups"] == 1


def test_a_library_that_is_missing_is_named_with_its_command(tmp_path):
    path = tmp_path / "t.csv.zst"
    path.write_bytes(zstandard.compress(GOOD.encode()))
    code = "import sys; sys.modules['zstandard'] = None\nfrom unshuffle.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", str(path), *FIT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'zstandard is missing; install it with: pip install "unshuffle[zstd]"' in done.stderr


def test_messages_of_predict_speak_of_the_model(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    kind = np.array(["u", "v", "w"])[rng.integers(0, 3, 60)]
    data = write(tmp_path / "t.csv", a=a, b=b, kind=kind, y=a - b + (kind == "u"))
    fitted = call("fit", data, "-y", "y", "--pairing", "known", "--out", tmp_path / "out")
    assert fitted.exit_code == 0, fitted.stderr
    cases = {
        "A,kind\n1,u\n": "has no columns 'a', 'b', which the model was fitted with (is it called 'A' "
        "there?); it has: A, kind",
        "a,b,kind\n1,,u\n": "line 2, column 'b': the value is missing; fill it in, or leave out the row",
        "a,b,kind\n1,x,u\n": "column 'b': 'x' is not a number; the model was fitted to numbers in this "
        "column",
        "a,b,kind\n1,2,q\n": "column 'kind': 'q' is not among the categories of the model: 'u', 'v', 'w'",
        "a,b,kind\n1,2,3\n": "column 'kind': '3' is not among the categories of the model",
    }  # fmt: skip
    for text, message in cases.items():
        done = call("predict", tmp_path / "out", "-", input=text.encode())
        assert done.exit_code == 2
        assert message in done.stderr, done.stderr
        assert "label" not in done.stderr
        assert "option" not in done.stderr
