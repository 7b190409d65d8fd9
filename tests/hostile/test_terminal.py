"""What reaches the terminal: names as text, letters that it has, one line after Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from hostile.cases import FIT, GOOD, Case
from hostile.names import BAD, LATIN, accepted
from hostile.run import COMMANDS, run_cases
from unshuffle.cli import screen
from unshuffle.cli.app import app
from unshuffle.io.visible import visible, visible_json

pytestmark = pytest.mark.long


def test_names_are_shown_by_every_command_that_succeeds(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    calls = accepted(folder)
    found = run_cases(folder, [Case(str(k), call, ()) for k, call in enumerate(calls)])
    for k, call in enumerate(calls):
        done = found[str(k)]
        assert (done["code"], done["err"], done["raised"]) == (0, "", None), (call, done)
        assert not COMMANDS.search(done["out"]), call
        assert "\nForged line" not in done["out"], call
        if "--json" in call:
            shown = json.dumps(json.loads(done["out"]))
            assert "\\u001b[31m" in shown
    for kind in ("fit", "predict", "suspects", "blocks", "audit"):
        assert any(r"\x1b[31m" in found[str(k)]["out"] for k, c in enumerate(calls) if c[0] == kind)


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "model", "a.csv", f"b{BAD}.csv"),
        ("fit", "a.csv", f"--{BAD}"),
        (f"fit{BAD}", "a.csv"),
        ("fit", "a.csv", "--pairing", BAD),
        (f"--{BAD}",),
    ],
)
def test_wrong_arguments_are_shown_escaped(arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 2
    assert r"\x1b[31m" in done.stderr
    assert not COMMANDS.search(done.output)


def shell(*arguments, **environment):
    """A call as from a terminal of an encoding; bytes out and in."""
    return subprocess.run(
        [sys.executable, "-m", "unshuffle", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("environment", "encoding"),
    [
        ({"PYTHONIOENCODING": "latin-1"}, "latin-1"),
        ({"PYTHONIOENCODING": "ascii"}, "ascii"),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "ascii"),
        ({"LC_ALL": "C"}, "utf-8"),
    ],
    ids=["latin-1", "ascii", "C without UTF-8", "C"],
)
def test_a_terminal_may_have_few_letters(tmp_path, environment, encoding):
    table = tmp_path / "水é.csv"
    table.write_text(GOOD.replace("zone,a,b", "zone,aé,水"), encoding="utf-8")
    refused = shell("fit", table, "--label", "nowhere", **environment)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert len(refused.stderr.decode(encoding).splitlines()) == 1
    assert (r"\u6c34" in refused.stderr.decode(encoding)) == (encoding != "utf-8")
    fitted = shell("fit", table, *FIT, "--out", tmp_path / "out", **environment)
    assert (fitted.returncode, fitted.stderr) == (0, b"")
    assert fitted.stdout.decode(encoding).startswith("Verdict: ")
    document = json.loads(
        shell("fit", table, *FIT, "--json", **environment).stdout.decode(encoding)
    )
    assert {"aé", "水"} <= document["coefficients"].keys()
    assert shell("fit", "--help", **environment).returncode == 0


def test_a_file_whose_name_is_not_utf8_is_fitted_by_a_shell(tmp_path):
    table = tmp_path / f"{LATIN}.csv"
    table.write_text(GOOD)
    done = shell("fit", table, *FIT, "--out", tmp_path / LATIN)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"caf\xe9" in done.stdout
    assert rb"caf\xe9.csv" in (tmp_path / LATIN / "report.html").read_bytes()


def test_tracebacks_are_shown_escaped(tmp_path):
    done = shell("fit", tmp_path / f"a{BAD}.csv", *FIT, "--debug")
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert b"\x1b" not in done.stderr


def test_escapes():
    assert visible("a b é水\\") == "a b é水\\"
    assert visible("\t\x1b\x9b\u202e\n") == r"\t\x1b\x9b\u202e\n"
    assert visible(LATIN) == r"caf\xe9"
    text = json.dumps({"a\x9b\u202e\U000e0001\x7f": "é水"}, ensure_ascii=False, indent=1)
    assert json.loads(visible_json(text)) == json.loads(text)
    assert not COMMANDS.search(visible_json(text))


def test_json_uses_letters_that_the_terminal_has(monkeypatch):
    said = []
    monkeypatch.setattr(screen.typer, "echo", lambda text, file: said.append(text))
    monkeypatch.setattr(screen.sys, "stdout", open(os.devnull, "w", encoding="latin-1"))  # noqa: PTH123, SIM115
    screen.say_json('{"é": "水"}')
    screen.sys.stdout.close()
    assert said == [r'{"\u00e9": "\u6c34"}']


START = """
import signal, sys
from unshuffle.cli import main
sys.argv[0] = "unshuffle"
print("ready", flush=True)
main()
"""


def interrupted(arguments, seconds, **environment):
    """Send Ctrl-C some seconds after our code has begun; None where the call was quicker."""
    with subprocess.Popen(
        [sys.executable, "-c", START, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        rest, message = process.communicate(timeout=60)
    return None if rest else (process.returncode, message)


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.2])
def test_an_interruption_while_libraries_are_loaded_is_one_line(tmp_path, seconds):
    table = tmp_path / "good.csv"
    table.write_text(GOOD)
    found = interrupted(("fit", table, *FIT, "--out", tmp_path / "out"), seconds)
    assert found is None or found[0] == 130
    assert found is None or found[1].endswith(
        ": interrupted; every output is as it was, or complete\n"
    )
    assert found is None or found[1].count("\n") == 1
    assert seconds > 0.1 or found is not None


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0])
def test_an_interruption_while_loops_are_compiled_is_one_line(tmp_path, seconds):
    table = tmp_path / "good.csv"
    table.write_text(GOOD)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = interrupted(("fit", table, *FIT, "--out", tmp_path / "out"), seconds, **cache)
    expected = (130, "unshuffle fit: interrupted; every output is as it was, or complete\n")
    assert found in (None, expected)
    assert found is None or not (tmp_path / "out").exists()


SWALLOW = """
import gc, signal, sys, time
from unshuffle.cli import INTERRUPTS, main
import unshuffle.cli.app as app

class Swallows:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)  # Python cannot raise what comes out of this

def run():
    Swallows()
    gc.collect()
    time.sleep(20)

app.run = run
main()
"""
OTHER_ERROR = """
import signal
from unshuffle.cli import main
import unshuffle.cli.app as app

def run():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ImportError("a library made this of it")

app.run = run
main()
"""


@pytest.mark.parametrize("script", [SWALLOW, OTHER_ERROR], ids=["swallowed", "another error"])
def test_an_interruption_that_a_library_hides_is_one(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=15
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "unshuffle: interrupted; every output is as it was, or complete\n"


def test_background_calls_are_not_interrupted():
    script = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);" + (
        "from unshuffle.cli import INTERRUPTS; INTERRUPTS.watch();"
        "signal.raise_signal(signal.SIGINT); print('done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "done\n"
