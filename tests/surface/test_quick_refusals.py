"""A table that is refused costs no libraries of a fit: the message comes at once."""

import subprocess
import sys

CALL = """
import sys
sys.argv = ["unshuffle", "fit", sys.argv[1], "--label", "y"]
from unshuffle.cli import main
try:
    main()
except SystemExit as end:
    print(end.code, *sorted({"numba", "sklearn", "scipy.stats", "scipy.optimize"} & set(sys.modules)))
"""


def run(path):
    return subprocess.run(
        [sys.executable, "-c", CALL, str(path)], capture_output=True, text=True, check=True
    )


def test_a_refusal_loads_no_libraries_of_a_fit(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b,y\n1,2,3\n1,2\n")
    done = run(path)
    assert done.stdout == "2\n"
    assert "line 3: has 2 fields" in done.stderr
