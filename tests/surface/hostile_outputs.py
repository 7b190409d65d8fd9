"""Calls whose output would replace what is not ours, or what they read."""

import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hostile.cases import FIT

THESIS = "years of work"


@dataclass(frozen=True)
class OutputCase:
    """A folder is prepared, then a command is called in it; `words` name the problem."""

    name: str
    prepare: Callable[[Path], object]
    arguments: tuple[str, ...]
    words: tuple[str, ...]
    inside: str = "."  # the working folder


FIT_CSV = ("fit", "good.csv", *FIT)
IN_PASSES = ("fit", "good.parquet", *FIT, "--pairing", "lost")
# Every option that names a file to write: the call, the option, a name of the right kind, an input.
FILES = (
    (("predict", "results", "good.csv"), "--out", "x.csv", "good.csv"),
    (("predict", "results", "good.csv"), "--out", "x.parquet", "results/model.npz"),
    (("suspects", "good.csv", *FIT), "--out", "x.csv", "good.csv"),
    (("repair", "good.csv", *FIT), "--out", "x.csv", "good.csv"),
    (("simulate",), "--out", "x.csv.gz", None),
    (("simulate", "--out", "new.csv"), "--truth", "x.json", None),
    (("demo",), "--out", "x.html", None),
    (IN_PASSES, "--checkpoint", "x.npz", "good.parquet"),
)
READ = "never overwritten"


def make_cases() -> list[OutputCase]:
    cases = [case for entry in FILES for case in file_cases(*entry)]
    cases += [*folder_cases(), *foreign_checkpoints(), *twice(), *reproductions(), *audits()]
    assert len({case.name for case in cases}) == len(cases)
    return cases


def forced(case: OutputCase) -> list[OutputCase]:
    """The case, and the same with --force, which must not help."""
    with_force = replace(case, name=f"{case.name}, forced", arguments=(*case.arguments, "--force"))
    return [case, with_force]


def write(name: str, content: str | bytes = THESIS) -> Callable[[Path], object]:
    def prepare(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return prepare


def file_cases(call, option, name, read):
    title = f"{call[0]} {option} {name}"

    def case(problem, prepare, *words, out=name):
        return OutputCase(f"{title}: {problem}", prepare, (*call, option, out), words)

    def link(target):
        return lambda folder: (folder / name).symlink_to(target)

    yield case("foreign", write(name), name, "exists", "--force replaces it")
    yield case("empty", write(name, ""), name, "exists")
    yield from forced(case("folder", lambda folder: (folder / name).mkdir(), name, "is a folder"))
    yield from forced(case("link", link("thesis.txt"), name, "symbolic link"))
    yield from forced(case("link to nothing", link("nothing"), name, "symbolic link"))
    yield from forced(case("pipe", lambda folder: os.mkfifo(folder / name), "no regular file"))
    inside = f"thesis.txt/{name}"
    yield from forced(case("in a file", lambda folder: None, "not a folder", out=inside))
    long = "n" * 300 + "".join(Path(name).suffixes)
    yield from forced(case("long name", lambda folder: None, "too long", out=long))
    if read is None:
        return
    yield from forced(case("link to input", link(read), name, READ))
    yield from forced(
        case("hard link to input", lambda folder: os.link(folder / read, folder / name), name, READ)
    )
    if Path(read).suffix == Path(name).suffix or option == "--checkpoint":
        yield from forced(case("input", lambda folder: None, READ, out=read))
        yield from forced(
            case("input by another way", lambda folder: None, READ, out=f"results/../{read}")
        )


def linked_inside(folder):
    (folder / "results" / "summary.csv").unlink()
    os.link(folder / "good.csv", folder / "results" / "summary.csv")


def folder_cases():
    def case(problem, prepare, *words, call=FIT_CSV, out="out", inside="."):
        name = f"fit --out: {problem}"
        return OutputCase(name, prepare, (*call, "--out", out), words, inside)

    def nothing(folder):
        return None

    for name in ("model.json", "model.npz", "summary.csv", "matches.csv", "report.html"):
        yield case(f"foreign {name}", write(f"out/{name}"), name, "exists", "--force replaces it")
        yield from forced(
            case(
                f"folder {name}",
                lambda f, n=name: (f / "out" / n).mkdir(parents=True),
                name,
                "lost",
            )
        )
        # One file of a whole result is not ours.
        yield case(f"changed {name}", write(f"results/{name}"), name, "is not", out="results")
    more = "coefficient,coef,std err,t,p,low,high,my notes\n"
    yield case("summary with notes", write("results/summary.csv", more), "is not", out="results")
    yield from forced(case("thesis", write("out/thesis.txt"), "thesis.txt", "lost"))
    yield from forced(case("thesis in a result", write("results/t.txt"), "lost", out="results"))
    yield from forced(case("hidden file", write("out/.git"), "'.git'", "lost"))
    yield from forced(case("tree", write("out/a/b/thesis.txt"), "'a'", "lost"))
    yield from forced(case("file", nothing, "not a folder", out="thesis.txt"))
    yield from forced(case("file in a file", nothing, "not a folder", out="thesis.txt/out"))
    yield from forced(
        case("link to a result", lambda f: (f / "out").symlink_to("results"), "symbolic link")
    )
    yield from forced(
        case(
            "link inside",
            lambda f: (f / "out").mkdir() or (f / "out/model.json").symlink_to("/etc/hosts"),
            "lost",
        )
    )
    yield from forced(case("pipe", lambda f: os.mkfifo(f / "out"), "not a folder"))
    yield from forced(case("long name", nothing, "too long", out="n" * 300))
    yield from forced(case("working folder", lambda f: (f / "w").mkdir(), "working", out=".",
                           call=("fit", "../good.csv", *FIT), inside="w"))  # fmt: skip
    yield from forced(case("no name", lambda f: (f / "w").mkdir(), "working", out="",
                           call=("fit", "../good.csv", *FIT), inside="w"))  # fmt: skip
    yield from forced(case("folder above", lambda f: (f / "w").mkdir(), "working", out="..",
                           call=("fit", "../good.csv", *FIT), inside="w"))  # fmt: skip
    matches = ("fit", "results/matches.csv", "--label", "y")
    yield from forced(case("input inside", nothing, "read", call=matches, out="results"))
    yield from forced(case("link of the input inside", linked_inside, READ, out="results"))
    whole = ("fit", "big", *FIT, "--pairing", "lost")
    yield from forced(case("folder that is read", nothing, READ, call=whole, out="big"))
    yield from forced(case("file that is read", nothing, READ, out="good.csv"))
    two = ("fit", "good.csv", "labels.csv", "--by", "zone", "-x", "a,b")
    yield from forced(case("second table", nothing, READ, call=two, out="labels.csv"))


def foreign_checkpoints():
    """Files that only look like checkpoints, with and without --resume."""

    def zipped(**files):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return file.getvalue()

    def npz(**arrays):
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    foreign = {
        "archive": zipped(thesis=THESIS),
        "other arrays": npz(coef=np.ones(3)),
        "other kind": npz(kind=np.array("your own checkpoints")),
        "longer kind": npz(kind=np.array("unshuffle checkpoints of mine")),
        "objects": npz(kind=np.array([{"a": 1}], dtype=object)),
        "numbers for a kind": npz(kind=np.ones(5)),
        "bytes": bytes(range(256)) * 40,
    }
    for problem, content in foreign.items():
        for extra in ((), ("--resume",)):
            arguments = (*IN_PASSES, "--checkpoint", "x.npz", *extra)
            name = f"checkpoint {' '.join(extra)}: {problem}"
            yield OutputCase(
                name, write("x.npz", content), arguments, ("x.npz", "not a checkpoint")
            )
    for name in ("results/model.npz", "thesis.txt", "good.csv", "other.parquet"):
        arguments = (*IN_PASSES, "--checkpoint", name)
        yield OutputCase(
            f"checkpoint {name}", lambda folder: None, arguments, (name, "not a checkpoint")
        )
    whole = ("fit", "big", *FIT, "--pairing", "lost", "--checkpoint", "big/0.parquet")
    yield from forced(OutputCase("checkpoint in the folder", lambda f: None, whole, (READ,)))


def twice():
    """Two outputs of one call in one place."""
    passes = (*IN_PASSES, "--out", "out", "--checkpoint")
    calls = {
        "same": (*passes, "out"),
        "checkpoint inside": (*passes, "out/c.npz"),
        "by another way": (*passes, "results/../out/c.npz"),
        "out inside": (*IN_PASSES, "--out", "c.npz/out", "--checkpoint", "c.npz"),
        "table and truth": ("simulate", "--out", "x.csv", "--truth", "x.csv"),
        "truth inside": ("simulate", "--out", "x.csv", "--truth", "x.csv/t.json"),
    }
    for problem, call in calls.items():
        yield from forced(OutputCase(f"twice: {problem}", lambda f: None, call, ("also asked",)))


def reproductions():
    call = ("reproduce", "consistency", "--quick", "--out", "out")
    for name in ("index.html", *(f"consistency.{kind}" for kind in ("csv", "png", "svg", "json"))):
        prepare = write(f"out/{name}")
        yield OutputCase(f"reproduce: {name}", prepare, call, (name, "exists", "--force"))
        folder = lambda f, n=name: (f / "out" / n).mkdir(parents=True)  # noqa: E731
        yield from forced(OutputCase(f"reproduce: folder {name}", folder, call, ("is a folder",)))
    inside = ("reproduce", "consistency", "--quick", "--out", "thesis.txt")
    yield from forced(
        OutputCase("reproduce: file", lambda f: None, inside, ("thesis.txt", "not a folder"))
    )
    table = write("out/gated.csv", "sequence,affinity\nACGT,1\nTTGA,2\n")
    read = ("reproduce", "gated", "--quick", "--out", "out", "--aptamers", "out/gated.csv")
    yield from forced(OutputCase("reproduce: input", table, read, (READ,)))


def audits():
    call = ("audit", "good.csv", *FIT, "--out")
    for name in ("report.html", "zones.csv", "rows.csv"):
        words = (name, "exists", "--force replaces it")
        yield OutputCase(f"audit: foreign {name}", write(f"out/{name}"), (*call, "out"), words)
    thesis = OutputCase("audit: thesis", write("out/t.txt"), (*call, "out"), ("t.txt", "lost"))
    yield from forced(thesis)
    # The folder of a fit is ours, but not that of an audit.
    yield from forced(OutputCase("audit: fit", lambda f: None, (*call, "results"), ("lost",)))
    link = OutputCase(
        "audit: link", lambda f: (f / "out").symlink_to("big"), (*call, "out"), ("symbolic link",)
    )
    yield from forced(link)
    read = OutputCase("audit: input", lambda f: None, (*call, "good.csv"), (READ,))
    yield from forced(read)
