"""Fork for every order read from standard input; print the number of the process and its end."""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import tempfile
import traceback
import warnings

# What the commands load, so that forks need not.
LIBRARIES = (
    "unshuffle.cli.app", "unshuffle.cli.fitting", "unshuffle.cli.output", "unshuffle.cli.passes",
    "unshuffle.cli.reviewed", "unshuffle.estimators.shuffled", "unshuffle.estimators.stochastic",
    "unshuffle.estimators.streaming", "unshuffle.estimators.parquet", "unshuffle.io.parquet",
    "unshuffle.fits.model_files", "unshuffle.io.tables.write", "unshuffle.show.report",
    "pyarrow.parquet", "pyarrow.csv", "rich.console", "rich.table",
)  # fmt: skip


def become(command: list[str], folder: str, temporary: str, errors: str) -> None:
    """Be the process that ``python *command`` would start; does not return."""
    os.chdir(folder)
    os.environ["TMPDIR"], tempfile.tempdir = temporary, None
    nothing, written = os.open(os.devnull, os.O_RDWR), os.open(errors, os.O_RDWR | os.O_CREAT)
    os.ftruncate(written, 0)
    for number, file in ((0, nothing), (1, nothing), (2, written)):
        os.dup2(file, number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: object = 0
    try:
        if command[0] == "-c":
            exec(compile(command[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv = ["", *command[2:]]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def main() -> None:
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()
    warnings.simplefilter("ignore", DeprecationWarning)  # libraries have threads, which are idle
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            warnings.resetwarnings()
            become(**json.loads(line))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


main()
