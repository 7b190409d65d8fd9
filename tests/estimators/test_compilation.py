"""Who waits for the compiler is told so."""

import gc
import io
import sys

import numba
import numpy as np
import pytest

from unshuffle.estimators._compilation import COMPILING, watched_compilation
from unshuffle.estimators._progress import reporting
from unshuffle.kernels.compilation import counting_compiled


def new_kernels():
    """Two kernels that nothing has compiled yet; they count as the package's own."""

    def inner(x):
        return x + 1.0

    inner.__module__ = "unshuffle.kernels"
    compiled = numba.njit(inner)

    def outer(x):
        return compiled(x) * 2.0

    outer.__module__ = "unshuffle.kernels"
    return numba.njit(outer)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_kernels_are_counted_when_they_are_compiled():
    counts = []
    outer = new_kernels()
    with counting_compiled(lambda n, under_way: counts.append((n, under_way))):
        assert outer(1.0) == 4.0
        assert outer(2.0) == 6.0
    assert counts == [(0, True), (0, True), (1, True), (2, False)]
    with counting_compiled(lambda n, under_way: counts.append((n, under_way))):
        outer(3.0)
    assert len(counts) == 4


def test_other_peoples_functions_are_not_counted():
    counts = []
    with counting_compiled(lambda n, under_way: counts.append(n)):
        assert numba.njit(lambda x: x + 3)(1) == 4
    assert counts == []


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_file_gets_one_line(verbose, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with watched_compilation(verbose):
        new_kernels()(np.float32(1.0))
    assert written.getvalue().count(COMPILING) == verbose
    assert written.getvalue().count("\n") == verbose


def test_a_terminal_gets_a_line_that_counts_and_vanishes(monkeypatch):
    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    with watched_compilation(1):
        new_kernels()(1.0)
    assert f"{COMPILING}: kernel 1 of about 40" in written.getvalue()
    assert "\n" not in written.getvalue()
    # The last line is overwritten by blanks.
    assert written.getvalue().endswith(" \r")


def test_an_open_bar_shows_the_count_instead(monkeypatch):
    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    with watched_compilation(1), reporting(1, None)(3, "iterations"):
        new_kernels()(1.0)
    assert "unshuffle: compiling" not in written.getvalue()


@pytest.fixture
def collector():
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_after_a_compilation_as_before(enabled, collector):
    (gc.enable if enabled else gc.disable)()
    seen = []
    with watched_compilation(0), counting_compiled(lambda *_: seen.append(gc.isenabled())):
        new_kernels()(1.0)
    assert seen[0] is False  # the outer kernel is under way, and the inner one in the next two
    assert not any(seen[:3])
    assert gc.isenabled() is enabled


def test_garbage_is_collected_after_a_compilation_that_failed(collector):
    gc.enable()
    with watched_compilation(0), pytest.raises(numba.TypingError):
        numba.njit(lambda x: x + "one")(1)
    assert gc.isenabled()
