"""`unshuffle fit --noise`: laws of the noise from the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from surface.shell import call


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame({"x": rng.normal(size=n), "zone": np.arange(n) // 4})
    y = frame.x + 0.4 * (np.exp(rng.normal(size=n)) - np.exp(0.5))
    frame["y"] = y.to_numpy()[np.lexsort((rng.random(n), frame.zone))]
    path = tmp_path_factory.mktemp("noise") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def fitted(table, *options):
    done = call("fit", table, "--label", "y", "--group", "zone", "--json", *options)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_law_changes_the_fit_and_is_reported(table):
    usual = fitted(table, "--pairing", "lost")
    skewed = fitted(table, "--pairing", "lost", "--noise", "mixture")
    assert skewed["coefficients"] != usual["coefficients"]
    assert any("mixture of normals" in reason for reason in skewed["reasons"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--noise", "cauchy"), "'cauchy' is not one of"),
        (("--noise", "t", "--family", "poisson"), "--noise"),
        (("--noise", "t", "--unmatched", "model"), "is for fits without"),
    ],
)
def test_where_it_means_nothing_it_is_refused(table, options, words):
    done = call("fit", table, "--label", "y", "--group", "zone", *options)
    assert done.exit_code == 2
    assert words in done.stderr
