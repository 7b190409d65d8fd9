"""How long match probabilities are averaged at the end of a fit."""

import numpy as np
import pytest

from unshuffle.alignment.state import Alignment, State
from unshuffle.em.settings import FinalSettings
from unshuffle.fits.final_runs import average_runs

N = 2000
MOST = 60


class NoisyTable:
    """Every run gives the same probabilities with independent errors of a known size."""

    def __init__(self, error):
        rng = np.random.default_rng(0)
        self.matched = np.where(np.arange(N) < 200, 0.5, 1.0)
        self.runs = self.matched + error * rng.normal(size=(MOST, N)) * (self.matched < 1.0)

    def align(self, state, stream):
        perm = np.full(N, stream)
        return Alignment(2.0 * self.runs[stream], 1.0, None, perm, 0.5, self.runs[stream])


STATE = State(np.zeros(1), 0.0, 1.0, 0.0, fitted=np.zeros(N), perm=np.arange(N))


def averaged(error, later=0.0, **changes):
    table = NoisyTable(error)
    return table, average_runs(table, STATE, 0, MOST, later, FinalSettings(**changes))


@pytest.mark.parametrize("later", [0.0, 5.0])
def test_runs_end_where_doubtful_probabilities_are_precise(later):
    table, runs = averaged(0.1, later)
    # The variance of 200 rows over a few runs is known to about sqrt(2 / (200 * 10)) = 3 %.
    expected = (0.1 / 0.025) ** 2 - later
    assert abs(runs.number - expected) <= 1.0 + 3 * 0.03 * (expected + later)
    error = runs.mean.match_proba[:200] - table.matched[:200]
    if later == 0.0:
        assert np.sqrt(np.mean(error**2)) < 0.025 * 1.2
    # The control: a tolerance ten times as large is reached at once, and the error is larger.
    assert averaged(0.1, later, match_error=0.25)[1].number == 2


def test_the_result_is_the_mean_over_the_runs_and_the_end_of_the_last():
    table, runs = averaged(0.1)
    np.testing.assert_allclose(runs.mean.match_proba, table.runs[: runs.number].mean(axis=0))
    np.testing.assert_allclose(runs.mean.expected, 2.0 * table.runs[: runs.number].mean(axis=0))
    assert runs.mean.perm[0] == runs.number - 1


def test_no_more_runs_than_allowed():
    assert averaged(5.0)[1].number == MOST
