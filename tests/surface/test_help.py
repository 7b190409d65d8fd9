"""Help texts: every command and option is explained, and every example can be called."""

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
