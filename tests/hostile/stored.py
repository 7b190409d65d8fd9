"""Models and checkpoints that would take memory or never end; pipes and devices for files."""

import io
import json
import os
import socket
import zipfile
from pathlib import Path

import numpy as np

from hostile.cases import FIT, GOOD, Shelf
from hostile.large_parquet import written

WORDS = {
    "format": "unshuffle model", "schema": 1, "version": "0.1.0", "label": "y",
    "columns": [{"name": "a", "levels": None}, {"name": "b", "levels": None}],
    "fit_intercept": True, "freedom": 37, "facts": {}, "verdict": None, "has_as_given": False,
    "settings": {},
}  # fmt: skip
ARRAYS = {"coef": np.ones(2), "intercept": np.ones(1), "covariance": np.eye(3)}
STEPS = {
    "kind": np.array("unshuffle checkpoint"), "schema": np.array(2),
    "fingerprint": np.array("0"), "seed": np.array(0), "coef": np.ones(1),
    "numbers": np.ones(4), "coef_path": np.ones((3, 1)), "number_path": np.ones((3, 4)),
}  # fmt: skip


def make(shelf: Shelf) -> None:
    good = shelf.put("good.csv", GOOD)
    table = {"zone": ["z"] * 40, "a": np.arange(40.0), "y": np.arange(40.0) ** 2}
    rows = shelf.put("good.parquet", written(table))
    models(shelf, good)
    checkpoints(shelf, rows)
    streams(shelf, good, rows)


def npz(save=np.savez, **arrays) -> bytes:
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def npy(array, **edits) -> bytes:
    """One array; `edits` change words of its header, of the same length."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    content = file.getvalue()
    for old, new in edits.values():
        assert len(old) == len(new) and old in content
        content = content.replace(old, new, 1)
    return content


def archive(entries) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as stored:
        for name, content in entries:
            stored.writestr(name, content)
    return file.getvalue()


def many_entries() -> bytes:
    return archive((f"{k:x}.npy", b"") for k in range(60_000))


def overlapping(content: bytes) -> bytes:
    """The list of entries twenty times over: each points at the same bytes."""
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    listed, tail = content[start:end], bytearray(content[end:])
    n = int.from_bytes(tail[8:10], "little")
    tail[8:12] = (20 * n).to_bytes(2, "little") * 2
    tail[12:16] = (20 * len(listed)).to_bytes(4, "little")
    return content[:start] + listed * 20 + bytes(tail)


def models(shelf: Shelf, good: str) -> None:
    def put(name, words, content, *expected):
        shelf.put(f"{name}/model.json", words if isinstance(words, str) else json.dumps(words))
        if content is not None:
            shelf.put(f"{name}/model.npz", content)
        shelf.call(name, ("predict", str(shelf.folder / name), good), name, *expected)

    whole, start = npz(**ARRAYS), json.dumps(WORDS)[:-1]
    for name, unit in (("lists", "[],"), ("objects", '{"a":1},'), ("zeros", "0,")):
        put(f"model_of_{name}", f'{start},"x":[{unit * (9_000_000 // len(unit))}0]}}', whole,
            "4,194,304 bytes")  # fmt: skip
    put("model_of_blanks", " " * 9_000_000, whole, "4,194,304 bytes")
    levels = [{"name": "n" * 1_000_000, "levels": list("ab") * 100_000}]
    put("model_of_names", WORDS | {"columns": levels}, whole, "letters")
    levels = [{"name": "n", "levels": ["l"] * 600_000}]
    put("model_of_levels", WORDS | {"columns": levels}, whole, "(599999,)")
    columns = [{"name": f"{k:x}", "levels": None} for k in range(90_000)]
    put("model_of_columns", WORDS | {"columns": columns}, whole, "(90000,)")
    put("model_of_digits", start + ',"x":' + "9" * 1_000_000 + "}", whole, "not JSON")
    put("model_entries", WORDS | {"columns": columns[:1000]}, many_entries(), "60,000 arrays")
    put("model_twice", WORDS, overlapping(whole), "model.npz")
    put("model_bomb", WORDS, npz(np.savez_compressed, coef=np.zeros(10**6)), "compressed")
    put("model_npy", WORDS, npy(np.ones(2)), "damaged")
    put("model_folder/model.json", WORDS, None, "missing")
    shelf.put("model_in_folder/model.json/x", "")
    shelf.call(
        "model_in_folder", ("predict", str(shelf.folder / "model_in_folder"), good), "folder"
    )
    for name, target in (("zero", "/dev/zero"), ("random", "/dev/urandom"), ("full", "/dev/full")):
        place = shelf.folder / f"model_{name}"
        place.mkdir()
        (place / "model.json").symlink_to(target)
        shelf.call(f"model of {target}", ("predict", str(place), good), f"model_{name}", "regular")
        shelf.call(f"model {target}", ("predict", target, good), target, "regular file")
    pipe(shelf.folder / "model_pipe" / "model.json")
    shelf.call("model of a pipe", ("predict", str(shelf.folder / "model_pipe"), good), "regular")
    shelf.put("model_arrays/model.json", json.dumps(WORDS))
    pipe(shelf.folder / "model_arrays" / "model.npz")
    shelf.call("arrays of a pipe", ("predict", str(shelf.folder / "model_arrays"), good), "regular")
    empty = shelf.put("empty_model/model.json", "")
    shelf.call("empty model", ("predict", empty, good), "not JSON")


def checkpoints(shelf: Shelf, rows: str) -> None:
    def call(name, path, *words):
        resume = ("--pairing", "lost", "--resume", "--checkpoint", str(path))
        shelf.call(name, ("fit", rows, *FIT, *resume), Path(path).name, *words)

    def put(name, content, *words):
        call(name, shelf.put(name, content), *words)

    put("empty.npz", b"", "not a checkpoint")
    put("text.npz", "words", "not a checkpoint")
    put("array.npz", npy(np.ones(3)), "not a checkpoint")
    put("cut.npz", npz(**STEPS)[:-40], "not a checkpoint")
    put("other.npz", npz(**(STEPS | {"kind": np.array("other")})), "not a checkpoint")
    bomb = npz(np.savez_compressed, **(STEPS | {"coef": np.zeros(20_000_000)}))
    put("bomb.npz", bomb, "not a checkpoint")
    put("entries.npz", many_entries(), "not a checkpoint")
    put("overlapping.npz", overlapping(npz(**STEPS)), "checkpoint")
    declared = npy(np.ones(1000), shape=(b"(1000,)", b"(1e99,)"))
    put("shape.npz", archive([("coef.npy", declared)]), "checkpoint")
    declared = npy(np.ones((1000, 1000)), shape=(b"(1000, 1000)", b"(99999,9999)"))
    put("declared.npz", archive([("coef.npy", declared)]), "not a checkpoint")
    nothing = npy(np.ones((1000, 1000)), shape=(b"<f8", b"|V0"))
    put("nothing.npz", archive([("coef.npy", nothing)]), "checkpoint")
    objects = npy(np.array([{}], dtype=object))
    put("objects.npz", archive([("coef.npy", objects)]), "objects")
    put("no_header.npz", archive([("coef.npy", b"\x93NUMPY\x01\x00\xff\xff")]), "checkpoint")
    put("version.npz", archive([("coef.npy", b"\x93NUMPY\x09\x09\x10\x00")]), "checkpoint")
    locked = bytearray(npz(**STEPS))
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1
    put("locked.npz", bytes(locked), "checkpoint")
    (shelf.folder / "folder.npz").mkdir()
    call("folder.npz", shelf.folder / "folder.npz", "folder")
    for target in ("/dev/zero", "/dev/urandom", "/dev/null"):
        call(f"checkpoint {target}", target, "regular file")
    pipe(shelf.folder / "pipe.npz")
    call("pipe.npz", shelf.folder / "pipe.npz", "regular file")


def streams(shelf: Shelf, good: str, rows: str) -> None:
    """What has no end, and what nobody writes to."""
    for kind in ("csv", "csv.gz", "parquet", "fcs"):
        name = f"pipe.{kind}"
        pipe(shelf.folder / name)
        shelf.call(name, ("fit", str(shelf.folder / name), *FIT), name, "regular file")
        name = f"zero.{kind}"
        (shelf.folder / name).symlink_to("/dev/zero")
        shelf.call(name, ("fit", str(shelf.folder / name), *FIT), name, "regular file")
    shelf.put("pieces/a.parquet", Path(rows).read_bytes())
    pipe(shelf.folder / "pieces" / "b.parquet")
    shelf.call("a pipe among pieces", ("fit", str(shelf.folder / "pieces"), *FIT), "b.parquet")
    in_passes = ("--pairing", "lost", "--checkpoint", str(shelf.folder / "c.npz"))
    both = ("fit", str(shelf.folder / "pieces"), *FIT, *in_passes)
    shelf.call("a pipe in passes", both, "b.parquet", "regular file")
    with socket.socket(socket.AF_UNIX) as listening:
        where = os.open(shelf.folder, os.O_RDONLY)  # paths of sockets must be short
        listening.bind(f"/proc/self/fd/{where}/socket.csv")
        os.close(where)
    shelf.call("socket.csv", ("fit", str(shelf.folder / "socket.csv"), *FIT), "regular file")
    simulate = ("simulate", "--rows", "90", "--out", str(shelf.folder / "pipe.csv"))
    shelf.call("out is a pipe", simulate, "pipe.csv", "regular file")
    checkpoint = ("--pairing", "lost", "--checkpoint", str(shelf.folder / "pipe.npz"))
    shelf.call("checkpoint is a pipe", ("fit", rows, *FIT, *checkpoint), "pipe.npz", "regular")


def pipe(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
