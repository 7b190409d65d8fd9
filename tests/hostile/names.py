"""Names that command a terminal, or that are not UTF-8: of files, columns, groups, categories."""

import json
import os
from pathlib import Path

import numpy as np

from hostile.cases import FIT, GOOD, Shelf
from hostile.large_parquet import written
from hostile.large_tables import flow
from hostile.stored import ARRAYS, WORDS, npz

# What a terminal would do with it, the letters, and how they are shown.
LETTERS = {
    "colour": ("\x1b[31m", r"\x1b[31m"),
    "title": ("\x1b]0;mine\x07", r"\x1b]0;mine\x07"),
    "short escape": ("\x9b2J", r"\x9b2J"),
    "direction": ("\u202etxt", r"\u202etxt"),
    "delete": ("\x7f\x08\x08", r"\x7f\x08\x08"),
    "start of line": ("x\rVerdict: trust", r"x\rVerdict: trust"),
    "null width": ("\u200b\u2066", r"\u200b\u2066"),
}
LATIN = os.fsdecode(b"caf\xe9")  # how Python keeps a name that is not UTF-8
SHOWN = r"caf\xe9"
BAD = "\x1b[31m"


def make(shelf: Shelf) -> None:
    for title, (letters, shown) in LETTERS.items():
        commands(shelf, title, letters, shown)
    kinds(shelf)
    not_utf8(shelf)


def commands(shelf: Shelf, title: str, letters: str, shown: str) -> None:
    """One sequence everywhere in text files."""
    absent = str(shelf.folder / f"a{letters}.csv")
    shelf.call(f"{title} of a file", ("fit", absent, *FIT), shown, "no such file")
    quoted = f'"{letters}"' if "\r" in letters else letters
    table = f"zone,{quoted},y\n" + "z,1,2\nz,2,3\nz,3,5\n"
    path = shelf.put(f"column of {title}.csv", table)
    shelf.call(f"{title} of a column", ("fit", path, "-y", "nowhere"), shown, "'nowhere'")
    shelf.call(f"{title} of a label", ("fit", path, "-y", f"y{letters}"), shown, "has no column")
    cells = shelf.put(f"cell of {title}.csv", f"zone,a,y\nz,1,2\nz,{quoted},3\nz,3,4\n")
    shelf.call(f"{title} of a cell", ("fit", cells, *FIT), shown, "line 3", "not a number")
    shelf.call(f"{title} of an option", ("fit", path, "-y", "y", "-x", f"{letters},"), shown)


def kinds(shelf: Shelf) -> None:
    """One sequence in files of every kind."""
    numbers = np.arange(40.0)
    rows = shelf.put("rows.parquet", written({f"a{BAD}": numbers, "y": numbers, "t": [b"u"] * 40}))
    shelf.call("column of parquet", ("fit", rows, "-y", "nowhere"), r"a\x1b[31m", "'nowhere'")
    shelf.call("type of parquet", ("fit", rows, "-y", "y"), "'t'", "binary")
    for kind in ("parquet", "fcs", "csv.gz", "doc", "xlsx"):
        path = shelf.put(f"a{BAD}.{kind}", b"nothing of this kind")
        shelf.call(f"file of {kind}", ("fit", path, *FIT), rf"a\x1b[31m.{kind}")
    events = flow([8, 8], 20, edit=lambda text: text.replace(b"N/c0", b"N/\x1b["))
    cells = shelf.put("events.fcs", events)
    shelf.call("channel of fcs", ("fit", cells, "-y", "nowhere"), r"\x1b[")
    good = shelf.put("good.csv", GOOD)
    for name, words in (
        ("label", WORDS | {"columns": [{"name": f"a{BAD}", "levels": None}]}),
        ("level", WORDS | {"columns": [{"name": "a", "levels": ["u", f"v{BAD}"]}]}),
        ("version", WORDS | {"schema": 99, "version": BAD}),
        ("verdict", WORDS | {"verdict": {"level": BAD, "reasons": []}}),
    ):
        model = shelf.put(f"{name}{BAD}/model.json", json.dumps(words))
        sizes = {"coef": np.ones(1), "covariance": np.eye(2)} if name in {"label", "level"} else {}
        shelf.put(f"{name}{BAD}/model.npz", npz(**(ARRAYS | sizes)))
        shelf.call(f"{name} of a model", ("predict", model, good), r"\x1b[31m")
    shelf.call("folder to write", ("fit", good, *FIT, "--out", shelf.put(f"o{BAD}", "")),
               r"o\x1b[31m", "not a folder")  # fmt: skip
    shelf.put(f"mine/thesis{BAD}", "years of work")
    shelf.call("name in a folder", ("fit", good, *FIT, "--out", str(shelf.folder / "mine")),
               r"thesis\x1b[31m")  # fmt: skip
    shelf.call("address", ("fit", rows, "-y", "y", "--scheduler", f"tcp://{BAD}:1"), r"\x1b[31m")


def not_utf8(shelf: Shelf) -> None:
    """Files whose names are not UTF-8 are named all the same."""
    kinds = {"csv": "gzip", "csv.gz": "gzip", "parquet": "Parquet", "fcs": "FCS", "doc": "not read"}
    for kind, word in kinds.items():
        path = shelf.put(f"{LATIN}.{kind}", b"\x1f\x8bnothing of this kind")
        shelf.call(f"{SHOWN}.{kind}", ("fit", path, *FIT), f"{SHOWN}.{kind}", word)
    absent = str(shelf.folder / f"no {LATIN}.csv")
    for command in ("fit", "suspects", "audit"):
        shelf.call(f"{command} {SHOWN}", (command, absent, *FIT), SHOWN, "no such file")
    good = str(shelf.folder / "good.csv")
    shelf.call(f"model {SHOWN}", ("predict", str(shelf.folder / LATIN), good), SHOWN)
    shelf.put(f"{LATIN}/model.json", "{")
    shelf.call(f"broken model {SHOWN}", ("predict", str(shelf.folder / LATIN), good), SHOWN, "JSON")
    rows = str(shelf.folder / "rows.parquet")
    checkpoint = ("--pairing", "lost", "--resume", "--checkpoint", shelf.put(f"{LATIN}.npz", "x"))
    options = ("-y", "y", "-x", f"a{BAD}")
    shelf.call(
        f"checkpoint {SHOWN}", ("fit", rows, *options, *checkpoint), SHOWN, "not a checkpoint"
    )
    shelf.call(f"label {SHOWN}", ("fit", good, "-y", LATIN), r"caf\udce9", "no column")


def accepted(folder: Path) -> list[tuple[str, ...]]:
    """Calls that succeed, on files and columns with such names."""
    shelf = Shelf(folder)
    rng = np.random.default_rng(0)
    zone, a, b = np.arange(160) // 8, *rng.normal(size=(2, 160))
    y = a - 2 * b + 0.1 * rng.normal(size=160)
    y[3], y[4] = y[4], y[3]
    header = f'zone{BAD},a\u202e\u6c34$,"b\nForged line",y{BAD}[red]\n'
    cells = "".join(f"z{zone[k]}{BAD},{a[k]:.4f},{b[k]:.4f},{y[k]:.4f}\n" for k in range(len(y)))
    table = shelf.put(f"{LATIN}{BAD}.csv", header + cells)
    shelf.put(f"{LATIN}{BAD}.parquet", written({"zone": zone, "a": a, f"y{BAD}": y}))
    label, group, out = f"y{BAD}[red]", f"zone{BAD}", str(folder / f"{LATIN}{BAD}")
    rows = str(folder / f"{LATIN}{BAD}.parquet")
    fit = ("-y", label, "-g", group)
    passes = ("--pairing", "lost", "--checkpoint", str(folder / f"{LATIN}{BAD}.npz"))
    return [
        ("fit", table, *fit, "--out", out),
        ("fit", table, *fit, "--json"),
        ("fit", rows, "-y", f"y{BAD}", "-g", "zone", "--json"),
        ("fit", rows, "-y", f"y{BAD}", "-g", "zone", *passes),
        ("predict", out, table),
        ("predict", out, table, "--json"),
        ("suspects", table, *fit),
        ("suspects", table, *fit, "--json", "--threshold", "1"),
        ("repair", table, *fit, "--out", str(folder / f"{LATIN}{BAD} new.csv")),
        ("blocks", table, "-y", label, "--by", group),
        ("audit", table, *fit, "--shuffles", "2"),
    ]
