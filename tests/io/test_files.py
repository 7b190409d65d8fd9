"""A kill at any moment leaves the old output or the new one."""

import os
import signal
import subprocess
import sys
import time

import pytest

from unshuffle.io import files

# A writer that replaces a folder again and again; both files of a version say the same number.
WRITER = """
import sys
from pathlib import Path
from unshuffle.io.files import replacing_folder, write_atomically
target, n = Path(sys.argv[1]), 0
while True:
    n += 1
    with replacing_folder(target, frozenset({"a", "b"})) as part:
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
        with files.replacing_folder(tmp_path / "out", frozenset({"a", "b"})) as part:
            (part / "a").write_text(content)
    assert (tmp_path / "out" / "a").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_a_failure_leaves_the_old(tmp_path):
    files.write_atomically(tmp_path / "file", b"old")
    with files.replacing_folder(tmp_path / "out", frozenset({"a"})) as part:
        (part / "a").write_text("old")
    with pytest.raises(ZeroDivisionError), files.replacing(tmp_path / "file") as part:
        part.write_text("half")
        raise ZeroDivisionError
    with (
        pytest.raises(ZeroDivisionError),
        files.replacing_folder(tmp_path / "out", frozenset({"a"})) as part,
    ):
        (part / "a").write_text("half")
        raise ZeroDivisionError
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert names(tmp_path) == ["file", "out"]


def test_folders_of_others_are_never_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis").write_text("years")
    with pytest.raises(FileExistsError), files.replacing_folder(tmp_path / "out", frozenset("a")):
        pass
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(NotADirectoryError), files.replacing_folder(tmp_path / "link", frozenset()):
        pass
    assert names(tmp_path / "out") == ["thesis"]


def test_what_killed_processes_left_is_swept(tmp_path):
    old, fresh = tmp_path / ".out.part-1", tmp_path / ".out.part-2"
    old.mkdir(), fresh.mkdir()
    long_ago = time.time() - 100
    os.utime(old, (long_ago, long_ago))
    with files.replacing_folder(tmp_path / "out", frozenset(), stale_seconds=50):
        pass
    assert names(tmp_path) == [".out.part-2", "out"]


def test_a_folder_moved_aside_comes_back(tmp_path):
    """Killed between two renames, where the file system cannot exchange."""
    with files.replacing_folder(tmp_path / "out", frozenset({"a"})) as part:
        (part / "a").write_text("old")
    (tmp_path / "out").rename(tmp_path / f".out.part-1{files.OLD}")
    with (
        pytest.raises(ZeroDivisionError),
        files.replacing_folder(tmp_path / "out", frozenset({"a"})),
    ):
        raise ZeroDivisionError
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_modes_follow_the_mask(tmp_path):
    files.write_atomically(tmp_path / "file", b"")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
