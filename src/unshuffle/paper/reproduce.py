"""Run experiments one after the other, keeping what is finished."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from .catalogue import EXPERIMENTS
from .experiment import Experiment, Tick
from .files import Shelf
from .page import write_page

Announce: TypeAlias = Callable[[Experiment, str], Tick]


def choose(name: str) -> list[Experiment]:
    """The experiments that `name` stands for: one of them, or "all"."""
    if name == "all":
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ValueError(
            f"there is no experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}, or all"
        )
    return [EXPERIMENTS[name]]


def open_shelf(
    experiments: Iterable[Experiment], folder: Path, aptamers: Path | None, force: bool
) -> Shelf:
    """The folder of results; refused where files of others would be replaced."""
    shelf = Shelf(folder, () if aptamers is None else (aptamers,), force)
    shelf.prepare(experiments)
    return shelf


def reproduce(
    experiments: Iterable[Experiment],
    folder: Path,
    *,
    quick: bool,
    seed: int,
    aptamers: Path | None,
    force: bool = False,
    announce: Announce,
) -> None:
    """Run what is not finished yet; table, pictures and page are written after each experiment.

    Files of others in `folder` are replaced with `force` alone, and `aptamers` never is.
    ``announce(experiment, "running" or "finished before")`` returns what reports progress.
    """
    experiments = list(experiments)
    shelf = open_shelf(experiments, folder, aptamers, force)
    for experiment in experiments:
        settings = experiment.quick if quick else experiment.settings
        if aptamers is not None and hasattr(settings, "aptamers"):
            settings = replace(settings, aptamers=str(aptamers))
        if shelf.is_finished(experiment, settings, seed):
            announce(experiment, "finished before")
            continue
        tick = announce(experiment, "running")
        start = time.perf_counter()
        table = experiment.run(settings, seed, tick)
        shelf.keep(experiment, settings, seed, table, time.perf_counter() - start)
        write_page(shelf, EXPERIMENTS.values())
    write_page(shelf, EXPERIMENTS.values())
