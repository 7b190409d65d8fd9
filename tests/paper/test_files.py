import json
from dataclasses import dataclass, replace

import pandas as pd
import pytest

from unshuffle.exceptions import OutputError
from unshuffle.paper.experiment import Experiment, Reading, judge
from unshuffle.paper.files import Shelf
from unshuffle.paper.page import write_page
from unshuffle.paper.reproduce import reproduce
from unshuffle.paper.style import new_figure


@dataclass(frozen=True)
class Settings:
    values: tuple[int, ...] = (1, 2)


def experiment_of(name, run):
    return Experiment(
        name=name,
        figure="Fig. 9",
        title="A <b>bold</b> title",
        settings=Settings(),
        quick=Settings((1,)),
        run=run,
        draw=lambda table: new_figure()[0],
        summarise=lambda table: table,
        read=lambda table: Reading(
            "a < b", "none", f"{len(table)} rows", "holds if a < b", "holds", "so & so"
        ),
    )


@pytest.fixture
def counted():
    calls = []

    def run(settings, seed, tick):
        calls.append((settings, seed))
        tick(1, 1)
        return pd.DataFrame({"value": settings.values})

    return experiment_of("counted", run), calls


def go(experiments, folder, **more):
    options = {"quick": False, "seed": 0, "aptamers": None, **more}
    states = []

    def announce(experiment, state):
        states.append((experiment.name, state))
        return lambda done, total: None

    reproduce(experiments, folder, announce=announce, **options)
    return states


def test_finished_experiments_are_not_run_again(tmp_path, counted):
    experiment, calls = counted
    assert go([experiment], tmp_path) == [("counted", "running")]
    assert go([experiment], tmp_path) == [("counted", "finished before")]
    assert len(calls) == 1
    go([experiment], tmp_path, seed=1)
    go([experiment], tmp_path, quick=True)
    assert len(calls) == 3
    (tmp_path / "counted.png").unlink()
    go([experiment], tmp_path, quick=True)
    assert len(calls) == 4


@pytest.mark.parametrize("missing", ["csv", "png", "svg", "the time"])
def test_what_a_kill_leaves_counts_as_not_finished(tmp_path, counted, missing):
    """The stamp is written before and after the other files."""
    experiment, calls = counted
    go([experiment], tmp_path)
    stamp = tmp_path / "counted.json"
    if missing == "the time":
        stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"seconds": None}, indent=1))
    else:
        (tmp_path / f"counted.{missing}").unlink()
    assert go([experiment], tmp_path) == [("counted", "running")]
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["counted.json", "counted.csv", "counted.png", "index.html"])
def test_files_of_others_are_replaced_by_force_alone(tmp_path, counted, name):
    experiment, calls = counted
    (tmp_path / name).write_text("[" * 100_000)
    with pytest.raises(OutputError, match=r"exists and is not .* of unshuffle"):
        go([experiment], tmp_path)
    assert (tmp_path / name).read_text() == "[" * 100_000
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert calls == []
    go([experiment], tmp_path, force=True)
    assert len(calls) == 1
    assert go([experiment], tmp_path) == [("counted", "finished before")]


def test_the_table_that_is_read_is_never_replaced(tmp_path, counted):
    experiment, _ = counted
    table = tmp_path / "counted.csv"
    table.write_text("sequence,affinity\n")
    with pytest.raises(OutputError, match="read by the same call"):
        go([experiment], tmp_path, aptamers=table, force=True)
    assert table.read_text() == "sequence,affinity\n"


def test_interruption_keeps_what_is_finished(tmp_path, counted):
    experiment, _calls = counted

    def interrupted(settings, seed, tick):
        raise KeyboardInterrupt

    broken = experiment_of("broken", interrupted)
    with pytest.raises(KeyboardInterrupt):
        go([experiment, broken], tmp_path)
    assert (tmp_path / "counted.csv").read_text() == "value\n1\n2\n"
    assert not list(tmp_path.glob("broken*"))
    assert not list(tmp_path.glob(".*"))
    repaired = replace(broken, run=experiment.run)
    states = go([experiment, repaired], tmp_path)
    assert states == [("counted", "finished before"), ("broken", "running")]


def test_the_page_holds_everything_and_escapes_text(tmp_path, counted):
    experiment, _ = counted
    go([experiment], tmp_path)
    write_page(Shelf(tmp_path), [experiment])
    page = (tmp_path / "index.html").read_text()
    assert "A &lt;b&gt;bold&lt;/b&gt; title" in page
    assert "a &lt; b" in page
    assert "so &amp; so" in page
    assert "data:image/png;base64," in page
    assert "{{" not in page
    assert "http://" not in page
    assert "https://" not in page
    stamp = json.loads((tmp_path / "counted.json").read_text())
    assert stamp["made with"]["settings"] == {"values": [1, 2]}


def test_judging():
    assert judge(True, True) == "holds"
    assert judge(False, True) == "holds in part"
    assert judge(False, False) == "does not hold"


def test_the_page_says_which_settings_are_quick(tmp_path, counted):
    experiment, _ = counted
    for quick in (False, True):
        go([experiment], tmp_path, quick=quick)
        write_page(Shelf(tmp_path), [experiment])
        page = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert ("Quick settings" in page) == quick
        assert "holds if a &lt; b" in page
