"""Help texts: every command and option is explained, and every example can be called."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from unshuffle.cli.app import app

COMMANDS = [
    "fit", "predict", "suspects", "repair", "blocks", "audit", "simulate", "demo", "reproduce",
]  # fmt: skip


def commands():
    """Every command by its name, as the parser knows it."""
    return typer.main.get_command(app).commands


def test_help_names_the_commands():
    shown = subprocess.run(
        [sys.executable, "-m", "unshuffle", "--help"], capture_output=True, text=True, check=True
    )
    names = re.findall(r"^│ (\w+) +\S", shown.stdout, re.MULTILINE)
    assert names == COMMANDS == list(commands())


def examples_in(text):
    """Calls of `unshuffle` that a help text shows, as lists of words."""
    joined = re.sub(r"\\\s*\n", " ", text)
    lines = re.findall(r"^ *(unshuffle \w+ .*?) *$", joined, re.M)
    return [shlex.split(line)[1:] for line in lines]


def unknown_options(example):
    """Options of an example that its command does not have."""
    name, *words = example
    known = {option for parameter in commands()[name].params for option in parameter.opts}
    return {word for word in words if re.match("--?[a-z]", word)} - known


@pytest.mark.parametrize("name", commands())
def test_help_explains_every_option_and_its_examples_can_be_called(name):
    done = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    for option in (part for part in commands()[name].params if part.opts[0].startswith("-")):
        assert option.help, option.opts
        assert option.opts[0] in done.stdout
    examples = examples_in(done.stdout)
    own = [example for example in examples if example[0] == name]
    assert bool(own) == (name not in {"demo", "reproduce"})
    for example in examples:
        assert unknown_options(example) == set()


def test_an_example_with_an_option_that_is_not_there_is_found():
    """The control: an option of another command, and one that no command has."""
    (example,) = examples_in("  unshuffle predict model.json new.csv --label y --nonsense 3\n")
    assert unknown_options(example) == {"--label", "--nonsense"}


def test_help_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "narwhals", "pyarrow", "matplotlib"}
    code = (
        "import sys; sys.argv = ['unshuffle', '--help']\n"
        "import unshuffle.cli as cli\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", [*COMMANDS, None])
def test_the_short_option_of_help_is_the_long_one(name):
    words = [] if name is None else [name]
    short, long = (CliRunner().invoke(app, [*words, option]) for option in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.stdout == long.stdout
    assert "Usage:" in short.stdout


def complete(words):
    """What Bash offers for the last of these words."""
    code = "import sys; sys.argv = ['unshuffle']; from unshuffle.cli import main; main()"
    asked = {
        "_UNSHUFFLE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, **asked},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_shells_complete_commands_options_and_values():
    assert complete(["unshuffle", "su"]) == ["suspects"]
    assert complete(["unshuffle", "fit", "--exc"]) == ["--exclude"]
    assert complete(["unshuffle", "fit", "t.csv", "--pairing", "m"]) == ["mostly-right"]


def test_completion_can_be_installed():
    done = subprocess.run(
        [sys.executable, "-m", "unshuffle", "--help"], capture_output=True, text=True, check=True
    )
    assert "--install-completion" in done.stdout


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)])
def test_flags_do_not_ask_for_a_value(words):
    done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "120"})
    assert "--help" in done.stdout
    assert "<bool>" not in done.stdout


def test_help_says_how_to_start():
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"})
    assert "Start with unshuffle demo" in done.stdout
