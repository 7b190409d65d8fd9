"""Two tables, formulas, audits, data sets, and the command line on files."""

import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path

from unshuffle import ShuffledRegressor, audit_release, datasets, fit_formula, load_model

from . import data as made
from .cases import FEW, KNOWN
from .methods import ask, bootstrap, posterior, predict, summary
from .passes import write_parquet
from .record import attributes, exact, verdict


def unpaired(of, **settings):
    """Rows and labels as two tables."""
    given = made.two_tables(of)
    model = ShuffledRegressor(random_state=0, **settings).fit_unpaired(**given)
    return attributes(model) | ask(model, given, (predict, summary, bootstrap, posterior))


def formula():
    """A formula with a category and a product."""
    frame = made.frame()
    table = frame["X"].assign(y=frame["y"], zone=frame["groups"])
    table["d"] = (table["d"] > 0).map({True: "yes", False: "no"})
    model = fit_formula("y ~ a + b:c + C(d)", table, "zone", random_state=0, **FEW)
    return attributes(model) | ask(model, {"X": table}, (predict, summary))


def audit():
    """How much of a shuffled release can be recovered."""
    given = made.groups(200, 2, 20)
    result = audit_release(given["X"], given["y"], given["groups"], n_shuffles=2, random_state=0)
    return exact(asdict(result))


def simulated():
    """The simulated data sets, and the shipped ones."""
    found = {}
    for shuffle in ("full", "swaps", "fraction", "groups"):
        data = datasets.make_shuffled_regression(90, 3, shuffle=shuffle, random_state=1)
        found |= {f"{shuffle} {name}": value for name, value in vars(data).items()}
    sortseq = datasets.load_sortseq()
    binding = datasets.load_binding()
    words = datasets.KmerCounter(k_min=1, k_max=3).fit_transform(binding.sequences[:300])
    return exact(
        found
        | {"boston": datasets.load_boston().data, "sortseq": sortseq.counts}
        | {"mean bin": sortseq.mean_bin, "binding": binding.affinity, "words": words}
    )


def command(files, options, of=made.groups, name="fit"):
    """`unshuffle fit` on files, in a process of its own; columns are read without their heads."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        frame = write_parquet(here, of())
        frame = frame.assign(p=0.6 + 0.3 * (frame["a"] > 0), sure=frame["sure"].astype(int))
        frame.to_csv(here / "table.csv", index=False)
        frame[["a", "b", "c", "d", "zone"]].to_csv(here / "rows.csv", index=False)
        frame[["y", "zone"]].sample(frac=1.0, random_state=0).to_csv(
            here / "labels.csv", index=False
        )
        outcome = subprocess.run(
            [sys.executable, "-m", "unshuffle", name, *files, *options, "--json"],
            cwd=here, capture_output=True, text=True, check=False,
        )  # fmt: skip
        found = {"exit code": outcome.returncode}
        if outcome.returncode > 1:
            raise RuntimeError(outcome.stderr[-300:])
        document = json.loads(outcome.stdout)
        for key in ("pairing", "rows", "groups", "noise", "mismatch_rate", "converged", "moved"):
            if key in document:
                found[key] = exact(document[key])
        for path in sorted(here.glob("out*/*.csv")) + sorted(here.glob("out.csv")):
            lines = path.read_bytes().partition(b"\n")[2]
            found[path.name] = hashlib.sha256(lines).hexdigest()
        if (here / "out").is_dir():
            model = load_model(here / "out")
            found |= attributes(model) | exact({"as given": model.as_given})
            if model.verdict_ is not None:
                found |= verdict(model.verdict_)
    return found


TABLE, PARTS = ["table.csv"], ["0.parquet", "1.parquet"]
LABEL, OUT = ["--label", "y", "--features", "a,b,c,d"], ["--out", "out"]
GROUP = ["--group", "zone"]

CASES = {
    "two tables, groups": partial(unpaired, made.groups, **FEW),
    "two tables, one group": partial(unpaired, made.full, n_jobs=2),
    "formula": formula,
    "audit": audit,
    "data sets": simulated,
    "fit, groups": partial(command, TABLE, LABEL + GROUP + OUT),
    "fit, two tables": partial(command, ["rows.csv", "labels.csv"], ["--by", "zone", *OUT]),
    "fit, known rows, no intercept": partial(
        command, TABLE, [*LABEL, *GROUP, "--known", "sure", "--no-intercept", *OUT], KNOWN
    ),
    "fit, probabilities": partial(
        command, TABLE, [*LABEL, "--match-prob", "p", *OUT], made.swapped_in_groups
    ),
    "fit, one parquet": partial(command, PARTS[:1], LABEL + GROUP + OUT),
    "fit, two parquet": partial(command, PARTS, LABEL + GROUP + OUT),
    "fit, two parquet, mostly right": partial(
        command, PARTS, [*LABEL, *GROUP, "--pairing", "mostly-right", *OUT], made.swapped_in_groups
    ),
    "suspects": partial(
        command, TABLE, [*LABEL, "--out", "out.csv"], made.swapped_in_groups, "suspects"
    ),
    "repair": partial(
        command, TABLE, [*LABEL, "--out", "out.csv"], made.swapped_in_groups, "repair"
    ),
}
