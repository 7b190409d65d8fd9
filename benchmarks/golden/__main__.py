"""Record fits exactly, or compare two records.

``python -m benchmarks.golden --out new.json`` records the package that is imported; PYTHONPATH
chooses another source tree. ``--compare old.json new.json`` prints one line for each fit and ends
with code 1 if any number differs in any bit. Records of different machines may differ.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

# Rounding of linear algebra depends on its threads, and their number on the machine.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"


def all_cases():
    """Every case by its name; each is a function that returns what is recorded."""
    from . import cases, passes, surface

    found = {}
    for family, (estimator, table) in cases.TABLES.items():
        for name, (of, settings, methods) in table.items():
            found[f"{family}: {name}"] = partial(_fit, estimator, of, settings, methods)
    found |= {f"passes: {name}": case for name, case in passes.CASES.items()}
    return found | {f"surface: {name}": case for name, case in surface.CASES.items()}


def _fit(estimator, of, settings, methods):
    from .methods import ask
    from .record import attributes

    given = of()
    if hasattr(estimator(), "random_state"):
        settings = settings | {"random_state": 0}
    model = estimator(**settings).fit(**given)
    return attributes(model) | ask(model, given, methods)


def digest_of_cases():
    """Changes with the files that say what is fitted; records can be compared while it stays."""
    here = Path(__file__).parent
    names = ("data.py", "cases.py", "methods.py", "passes.py", "surface.py")
    return hashlib.sha256(b"".join((here / name).read_bytes() for name in names)).hexdigest()


def record(path, only):
    """Run every case and write what was found."""
    import unshuffle

    from .record import recorded

    print(f"recording {Path(unshuffle.__file__).parent}")
    fits, seconds = {}, {}
    for name, case in all_cases().items():
        if only not in name:
            continue
        begin = time.perf_counter()
        fits[name] = recorded(case)
        seconds[name] = round(time.perf_counter() - begin, 2)
        print(f"{seconds[name]:7.2f} s  {name}", flush=True)
    found = {"cases": digest_of_cases(), "fits": fits, "seconds": seconds}
    Path(path).write_text(json.dumps(found, indent=1))
    failed = [name for name, found in fits.items() if "error" in found]
    print(f"{len(fits)} fits in {sum(seconds.values()):.0f} s, written to {path}")
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "none failed")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.golden", description=__doc__)
    parser.add_argument("--out", help="file to write the record to")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), help="two records")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    given = parser.parse_args()
    if given.compare:
        from .compare import compare

        sys.exit(compare(*given.compare, given.only) > 0)
    if not given.out:
        parser.error("give --out or --compare")
    record(given.out, given.only)


if __name__ == "__main__":
    main()
