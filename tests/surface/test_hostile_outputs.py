"""Nothing of the user's is replaced: exit code 2, one line, and the folder is as it was."""

import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Annotated, get_type_hints

import numpy as np
import pytest
from typer.models import OptionInfo
from typer.testing import CliRunner

from hostile.cases import FIT, GOOD
from surface.hostile_outputs import IN_PASSES, THESIS, make_cases
from unshuffle.cli.app import app
from unshuffle.fits import checkpoint_format

pytestmark = pytest.mark.long

CASES = {case.name: case for case in make_cases()}


def call(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, list(arguments))


def noisy():
    """Labels shuffled inside 60 groups: a fit in passes takes more than ten iterations."""
    rng = np.random.default_rng(0)
    zone = np.repeat(np.arange(60), 10)
    a, b = rng.normal(size=(2, 600))
    return {
        "zone": zone,
        "a": a,
        "b": b,
        "y": (a + 2 * b).reshape(60, 10)[:, ::-1].ravel() + rng.normal(size=600),
    }


def cut_short(progress):
    """Ends a fit as a power cut would, but for the checkpoint."""
    if progress.done == 3:
        raise KeyboardInterrupt


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A folder of a user: tables, a result, a checkpoint, and work that must not be lost."""
    import pyarrow as pa
    import pyarrow.parquet

    from unshuffle import Streaming, fit_parquet

    folder = tmp_path_factory.mktemp("user")
    (folder / "good.csv").write_text(GOOD)
    labels = "\n".join(",".join(line.split(",")[::3]) for line in GOOD.splitlines())
    (folder / "labels.csv").write_text(labels + "\n")
    (folder / "thesis.txt").write_text(THESIS)
    table = pa.table(noisy())
    (folder / "big").mkdir()
    for name in ("good.parquet", "other.parquet", "big/0.parquet", "big/1.parquet"):
        pa.parquet.write_table(table, folder / name)
    out = str(folder / "results")
    done = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "--out", out])
    assert done.exit_code == 0, done.output
    with pytest.raises(KeyboardInterrupt):
        fit_parquet(
            folder / "good.parquet", label="y", group="zone", random_state=0, callback=cut_short,
            streaming=Streaming(checkpoint=folder / "fit.npz", checkpoint_every=1),
        )  # fmt: skip
    return folder


@pytest.fixture
def folder(prepared, tmp_path):
    return Path(shutil.copytree(prepared, tmp_path / "user"))


def listing(folder):
    """Every file, folder, link and pipe, with its identity and content."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root, name)
            facts = path.lstat()
            content = ""
            if stat.S_ISREG(facts.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = str(path.readlink())
            found[str(path)] = (facts.st_mode, facts.st_ino, facts.st_mtime_ns, content)
    return found


def refused(done, command, words):
    """Everything that is wrong with how a call was refused; empty where all is well."""
    found = [] if done.exit_code == 2 else [f"exit code {done.exit_code}"]
    if done.stdout:
        found.append(f"printed {done.stdout!r}")
    if len(done.stderr.splitlines()) != 1 or not done.stderr.startswith(f"unshuffle {command}: "):
        found.append(f"not one plain line: {done.stderr!r}")
    return found + [
        f"{word!r} is not in {done.stderr!r}" for word in words if word not in done.stderr
    ]


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_replaced(folder, name, monkeypatch):
    case = CASES[name]
    case.prepare(folder)
    before = listing(folder)
    done = call(folder / case.inside, case.arguments, monkeypatch)
    assert refused(done, case.arguments[0], case.words) == []
    assert listing(folder) == before


def output_options():
    """Every option of a command that names a place to write."""
    return {
        (command.callback.__name__, f"--{name}")
        for command in app.registered_commands
        for name, hint in get_type_hints(command.callback, include_extras=True).items()
        if hint in {Annotated[kind, part] for kind in (Path, Path | None) for part in facts(hint)}
        and name not in {"aptamers", "checked", "pairs", "reviewed"}  # what is read
    }


def facts(hint):
    """What is declared about an option; nothing about an argument."""
    return [fact for fact in getattr(hint, "__metadata__", ()) if isinstance(fact, OptionInfo)]


def test_every_output_of_every_command_has_cases():
    covered = {
        (case.arguments[0], word)
        for case in CASES.values()
        for word in case.arguments
        if word in {"--out", "--truth", "--checkpoint"}
    }
    assert output_options() == covered
    assert len(CASES) >= 60
    forced = [name for name in CASES if name.endswith(", forced")]
    assert len(forced) >= 60


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (("predict", "results", "good.csv", "--out"), "x.csv"),
        (("suspects", "good.csv", *FIT, "--out"), "x.csv"),
        (("repair", "good.csv", *FIT, "--accept-rejected", "--out"), "x.csv"),
        (("simulate", "--groups", "5", "--out"), "x.csv"),
        (("simulate", "--groups", "5", "--out", "new.csv", "--truth"), "x.json"),
        ((*IN_PASSES, "--checkpoint"), "x.npz"),
        (("fit", "good.csv", *FIT, "--out"), "out/summary.csv"),
    ],
    ids=lambda value: " ".join(value[:1] + value[-1:]) if isinstance(value, tuple) else value,
)
def test_force_replaces_and_nothing_else_does(folder, arguments, out, monkeypatch):
    """The control: the calls that are refused above can write."""
    path = folder / out
    path.parent.mkdir(exist_ok=True)
    path.write_text(THESIS)
    arguments = (*arguments, out.split("/")[0])
    assert refused(call(folder, arguments, monkeypatch), arguments[0], ["--force"]) == []
    assert path.read_text() == THESIS
    done = call(folder, (*arguments, "--force"), monkeypatch)
    assert done.exit_code in (0, 1), done.stderr
    assert path.read_bytes() != THESIS.encode()
    beside = {entry.name for entry in folder.iterdir()}
    assert not [name for name in beside if name.startswith(".")]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "good.csv", *FIT, "--seed", "1", "--out", "results"),
        ("simulate", "--groups", "5", "--out", "new.csv", "--truth", "truth.json"),
        (*IN_PASSES, "--checkpoint", "fit.npz"),
    ],
    ids=["result", "truth", "checkpoint"],
)
def test_what_is_ours_is_replaced_without_force(folder, arguments, monkeypatch):
    if "truth.json" in arguments:
        assert call(folder, arguments, monkeypatch).exit_code == 0
        (folder / "new.csv").unlink()
    before = listing(folder)
    done = call(folder, arguments, monkeypatch)
    assert done.exit_code == 0, done.stderr
    name = arguments[-1]
    assert listing(folder)[str(folder / name)] != before[str(folder / name)]


def test_a_report_of_ours_is_replaced_and_names_its_maker(folder, monkeypatch):
    """`demo` would take half a minute: the rule is asked directly."""
    from unshuffle.exceptions import OutputError
    from unshuffle.io.outputs import Outputs
    from unshuffle.show.report.builder import REPORT

    Outputs().claim(folder / "results" / "report.html", REPORT)
    (folder / "page.html").write_text("<html>my own page about unshuffle</html>")
    with pytest.raises(OutputError):
        Outputs().claim(folder / "page.html", REPORT)


def test_names_with_line_breaks_give_one_line(folder, monkeypatch):
    (folder / "a\nb\x1b[2J.csv").write_text(THESIS)
    done = call(folder, ("suspects", "good.csv", *FIT, "--out", "a\nb\x1b[2J.csv"), monkeypatch)
    assert refused(done, "suspects", ["exists", r"\x1b"]) == []


def changed(**fields):
    """Fields that are altered, with the digest left as it was."""
    return lambda stored: {**stored, **{k: np.asarray(f(stored[k])) for k, f in fields.items()}}


def signed(**fields):
    """The same by somebody who can compute the digest."""

    def alter(stored):
        found = changed(**fields)(stored)
        return {**found, "digest": np.array(checkpoint_format.digest(found))}

    return alter


def at(place, value):
    def alter(array):
        array = array.copy()
        array[place] = value
        return array

    return alter


def without(name):
    return lambda stored: {k: v for k, v in stored.items() if k != name}


ALTERED = {
    "coefficient": changed(coef=lambda c: c * (1 + 1e-15)),
    "a step": changed(coef_path=lambda c: c + 1e-9),
    "intercept": changed(numbers=at(0, 1.0)),
    "noise": changed(numbers=at(1, 2.0)),
    "a number of a step": changed(number_path=at((0, 2), 1.0)),
    "seed": changed(seed=lambda s: s + 1),
    "fingerprint": changed(fingerprint=lambda f: "0" * 64),
    "digest": changed(digest=lambda f: "0" * 64),
    "fewer steps": changed(coef_path=lambda c: c[1:], number_path=lambda c: c[1:]),
    "type": changed(coef=lambda c: c.astype(np.float32)),
    "order of bytes": changed(coef=lambda c: c.astype(">f8")),
    "dimensions": changed(coef=lambda c: c[:, None]),
    "no digest": without("digest"),
    "no seed": without("seed"),
    "one field more": lambda stored: {**stored, "more": np.ones(3)},
    "schema 2": changed(schema=lambda s: 2),
    "schema 99": changed(schema=lambda s: 99),
    "objects": lambda stored: {**stored, "coef": np.array([{}, {}, {}], dtype=object)},
    "signed: other data": signed(fingerprint=lambda f: "0" * 64),
    "signed: other seed": signed(seed=lambda s: s + 1),
    "signed: negative seed": signed(seed=lambda s: -1),
    "signed: nan": signed(coef=at(0, np.nan)),
    "signed: infinite": signed(coef_path=at((0, 0), np.inf)),
    "signed: nan noise": signed(numbers=at(1, np.nan)),
    "signed: no noise": signed(numbers=at(1, 0.0)),
    "signed: negative noise": signed(number_path=at((0, 1), -1.0)),
    "signed: negative squares": signed(numbers=at(2, -1.0)),
    "signed: rate": signed(numbers=at(3, 1.5)),
    "signed: acceptance": signed(number_path=at((0, 3), -0.5)),
    "signed: steps and numbers": signed(number_path=lambda c: c[1:]),
    "signed: fewer coefficients": signed(
        coef=lambda c: c[1:], coef_path=lambda c: c[:, 1:]
    ),
    "signed: no coefficients": signed(coef=lambda c: c[:0], coef_path=lambda c: c[:, :0]),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERED)
def test_altered_checkpoints_are_refused(folder, name, monkeypatch):
    path = folder / "fit.npz"
    with np.load(path) as stored:
        np.savez(path, **ALTERED[name](dict(stored)))
    before = listing(folder)
    done = call(folder, (*IN_PASSES, "--checkpoint", "fit.npz", "--resume"), monkeypatch)
    assert refused(done, "fit", ["fit.npz"]) == []
    assert listing(folder) == before


@pytest.mark.parametrize("how", ["compressed", "cut", "one byte", "declared"])
def test_damaged_checkpoints_are_refused(folder, how, monkeypatch):
    path = folder / "fit.npz"
    whole = path.read_bytes()
    if how == "compressed":
        with np.load(path) as stored:
            np.savez_compressed(path, **stored)
    elif how == "cut":
        path.write_bytes(whole[:-100])
    elif how == "one byte":
        at = whole.index(b"coef.npy") + 150
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    else:
        path.write_bytes(whole.replace(b"'shape': (2,), }   ", b"'shape': (2000000,)", 1))
        assert path.read_bytes() != whole
    before = listing(folder)
    done = call(folder, (*IN_PASSES, "--checkpoint", "fit.npz", "--resume"), monkeypatch)
    assert refused(done, "fit", ["fit.npz"]) == []
    assert listing(folder) == before


def test_the_checkpoint_without_a_fault_is_resumed(folder, monkeypatch):
    """The control: fields written again as they are give the fit that was never cut."""
    with np.load(folder / "fit.npz") as stored:
        np.savez(folder / "fit.npz", **signed()(dict(stored)))
    whole = call(folder, (*IN_PASSES, "--checkpoint", "new.npz", "--json"), monkeypatch)
    done = call(folder, (*IN_PASSES, "--checkpoint", "fit.npz", "--resume", "--json"), monkeypatch)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == whole.stdout


def test_checkpoints_in_python_follow_the_rule(folder):
    from unshuffle import OutputError, Streaming, fit_parquet

    columns = {"label": "y", "group": "zone", "random_state": 0}
    for name in ("thesis.txt", "good.parquet", "results"):
        before = listing(folder)
        with pytest.raises(OutputError, match=name):
            fit_parquet(folder / "good.parquet", checkpoint=folder / name, **columns)
        assert listing(folder) == before
    streaming = Streaming(checkpoint=folder / "thesis.txt", overwrite=True, checkpoint_every=1)
    fit_parquet(folder / "good.parquet", streaming=streaming, **columns)
    assert checkpoint_format.is_checkpoint(folder / "thesis.txt")


def test_saved_models_replace_models_alone(folder):
    from unshuffle import OutputError, ShuffledRegressor, load_model, save_model
    from unshuffle.datasets import make_shuffled_regression

    data = make_shuffled_regression(100, 2, noise=0.1, shuffle="fraction", random_state=0)
    model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    (folder / "mine").mkdir()
    (folder / "mine" / "model.json").write_text("{}")
    before = listing(folder)
    with pytest.raises(OutputError, match=r"model\.json"):
        save_model(model, folder / "mine")
    assert listing(folder) == before
    for _ in range(2):
        save_model(model, folder / "model")
    assert load_model(folder / "model").coef_.tolist() == model.coef_.tolist()


def test_an_output_that_appears_during_the_work_is_kept(folder):
    """What a user writes while a fit runs is found when the result is put in its place."""
    from unshuffle.exceptions import OutputError
    from unshuffle.io.outputs import Outputs
    from unshuffle.io.tables.write import TABLE

    output = Outputs().claim(folder / "x.csv", TABLE)
    with pytest.raises(OutputError), output.replacing() as part:
        part.write_text("row,y\n")
        (folder / "x.csv").write_text(THESIS)
    assert (folder / "x.csv").read_text() == THESIS
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("label", ["y", "row", "partner", "match_probability", "two\nlines", "a,b"])
def test_results_are_recognised_whatever_the_label_is_called(tmp_path, label):
    from unshuffle.cli.kinds import RESULTS
    from unshuffle.io.tables.write import as_csv

    path, problem = tmp_path / "matches.csv", RESULTS.files["matches.csv"].problem
    one = np.ones(1)
    for given in ({label: one, "match_probability": one}, {}):
        columns = {"row": one, **given, "likely_partner": one, f"likely_{label}": one}
        path.write_bytes(as_csv(columns))
        assert problem(path) is None
        path.write_bytes(as_csv({**columns, "my notes": one}))
        assert problem(path) is not None
    path.write_bytes(b"")
    assert problem(path) is not None
