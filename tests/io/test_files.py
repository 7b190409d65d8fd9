"""A kill at any moment leaves the old output or the new one."""

import os
import signal
import subprocess
import sys
import time

import pytest

from unshuffle.io import files, parts

# A writer that replaces a folder again and again; both files of a version say the same number.
WRITER = """
import sys
from pathlib import Path
from unshuffle.io.files import replacing_folder, write_atomically
target, n = Path(sys.argv[1]), 0
while True:
    n += 1
    with replacing_folder(target) as part:
        (part / "a").write_text(f"{n} " * 20000)
        (part / "b").write_text(f"{n} " * 20000)
    write_atomically(target.with_name("file"), f"{n} ".encode() * 20000)
    print(n, flush=True)
"""


def versions(text):
    return set(text.split())


def whole(folder):
    """Whether a folder and a file hold one version each, and all of it."""
    a, b = (folder / "out" / name for name in "ab")
    file = folder / "file"
    same = a.read_text() == b.read_text() and len(versions(a.read_text())) == 1
    complete = all(len(p.read_text().split()) == 20000 for p in (a, b, file))
    return same and complete and len(versions(file.read_text())) == 1


@pytest.mark.long
def test_kills_at_random_moments(tmp_path):
    for k in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path / "out"], stdout=subprocess.PIPE
        )
        process.stdout.readline()  # the first version is there
        time.sleep(0.0137 * (k % 7))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert whole(tmp_path), f"kill number {k}"


def test_the_check_sees_half_a_folder(tmp_path):
    """The control: files written one after the other fail the check above."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("2 " * 20000)
    (tmp_path / "out" / "b").write_text("1 " * 20000)
    (tmp_path / "file").write_text("1 " * 20000)
    assert not whole(tmp_path)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_with_or_without_exchange(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    for content in ("old", "new"):
        with files.replacing_folder(tmp_path / "out") as part:
            (part / "a").write_text(content)
    assert (tmp_path / "out" / "a").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_a_failure_leaves_the_old(tmp_path):
    files.write_atomically(tmp_path / "file", b"old")
    with files.replacing_folder(tmp_path / "out") as part:
        (part / "a").write_text("old")
    with pytest.raises(ZeroDivisionError), files.replacing(tmp_path / "file") as part:
        part.write_text("half")
        raise ZeroDivisionError
    with (
        pytest.raises(ZeroDivisionError),
        files.replacing_folder(tmp_path / "out") as part,
    ):
        (part / "a").write_text("half")
        raise ZeroDivisionError
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert names(tmp_path) == ["file", "out"]


# A process that makes a part of each kind and waits.
HOLDER = """
import sys, time
from pathlib import Path
from unshuffle.io import files
with files.replacing(Path(sys.argv[1], "file")) as part, files.replacing_folder(
    Path(sys.argv[1], "out")
) as folder:
    part.write_text("half")
    (folder / "a").write_text("half")
    print("ready", flush=True)
    time.sleep(100)
"""


def test_parts_live_as_long_as_their_process(tmp_path):
    """Another process starts while one holds parts, and after it was killed."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE)
    holder.stdout.readline()
    held = names(tmp_path)
    assert len(held) == 2
    assert all(parts.NAME.fullmatch(name) for name in held)
    files.write_atomically(tmp_path / "other", b"")
    assert names(tmp_path) == sorted([*held, "other"])
    holder.kill()
    holder.communicate()
    assert names(tmp_path) == sorted([*held, "other"])
    files.write_atomically(tmp_path / "other", b"")
    assert names(tmp_path) == ["other"]


def test_only_parts_are_removed(tmp_path):
    kept = [".unshuffle-part-thesis", ".out.part-12345678", ".unshuffle-part-ABCDEFGH"]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis").write_text("years")
    (tmp_path / ".unshuffle-part-link1234").symlink_to(tmp_path / "work")
    (tmp_path / ".unshuffle-part-abandon1").mkdir()
    (tmp_path / ".unshuffle-part-abandon2").write_text("half")
    parts.remove_abandoned(tmp_path)
    assert names(tmp_path) == sorted([*kept, ".unshuffle-part-link1234", "work"])
    assert names(tmp_path / "work") == ["thesis"]


def test_without_locks_the_age_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "fcntl", None)
    old, fresh = tmp_path / ".unshuffle-part-old12345", tmp_path / ".unshuffle-part-new12345"
    old.mkdir(), fresh.mkdir()
    long_ago = time.time() - 100
    os.utime(old, (long_ago, long_ago))
    parts.remove_abandoned(tmp_path, stale_seconds=50)
    assert names(tmp_path) == [fresh.name]
    with files.replacing_folder(tmp_path / "out") as part:
        (part / "a").write_text("new")
    assert names(tmp_path) == [fresh.name, "out"]


def test_a_folder_moved_aside_comes_back(tmp_path):
    """Killed between two renames, where the file system cannot exchange."""
    with files.replacing_folder(tmp_path / "out") as part:
        (part / "a").write_text("old")
    (tmp_path / "out").rename(files._aside(tmp_path / "out"))
    with (
        pytest.raises(ZeroDivisionError),
        files.replacing_folder(tmp_path / "out"),
    ):
        raise ZeroDivisionError
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_modes_follow_the_mask(tmp_path):
    files.write_atomically(tmp_path / "file", b"")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
