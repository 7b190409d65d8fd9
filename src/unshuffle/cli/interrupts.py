"""Ctrl-C at any time: one line and exit code 130, also while libraries are loaded or compiled."""

import signal
import sys
from types import FrameType
from typing import Any

INTERRUPTED = 130
AGAIN_SECONDS = 0.05
AFTERWARDS = "every output is as it was, or complete"


class Interrupts:
    """Whether the user has interrupted the command, and whether it has said so.

    An interruption in the middle of an import can reach us as another error, or as none: a library
    written in C may swallow it.
    """

    def __init__(self) -> None:
        self.came = False
        self.reported = False

    def watch(self) -> None:
        """Note interruptions from now on, unless they are ignored, as in the background."""
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        signal.signal(signal.SIGINT, self._note)
        sys.unraisablehook = self._swallowed

    def leave(self) -> None:
        """End the command; what follows is not interrupted again."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if not self.reported:
            sys.stderr.write(f"unshuffle: interrupted; {AFTERWARDS}\n")
        sys.exit(INTERRUPTED)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _swallowed(self, found: Any) -> None:
        """An error that Python cannot raise where it came about; an interruption comes again."""
        if not issubclass(found.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(found)
            return
        import threading

        # A moment later: here, too, it could not be raised. To the thread that may be waiting.
        main = threading.main_thread().ident
        again = threading.Timer(AGAIN_SECONDS, signal.pthread_kill, [main, signal.SIGINT])
        again.daemon = True
        again.start()


INTERRUPTS = Interrupts()
