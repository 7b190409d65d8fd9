"""Densities of labels in lost order, against enumeration and against sums over counts."""

from math import lgamma

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.inference.predictive import group_log_densities, normal_log_density
from unshuffle.inference.sampling_settings import BridgeSettings

BRIDGE_ONLY = BridgeSettings(largest_exact=1)


def problem_of(labels, size, known=None):
    n = len(labels)
    known = np.zeros(n, dtype=bool) if known is None else known
    return make_problem(np.zeros((n, 1)), labels, np.arange(n) // size, known)


def density(problem, fitted, noise, seed=0, settings=None, n_jobs=1):
    words = {} if settings is None else {"settings": settings}
    with Workers(n_jobs) as workers:
        return group_log_densities(
            problem, problem.arrange(fitted), noise, seed=seed, workers=workers, **words
        )


def log_density_by_counts(labels, levels, counts, noise):
    """Exact for fitted values that take a few levels: which level each label goes to is counted."""
    sums = np.full([c + 1 for c in counts], -np.inf)
    sums[(0,) * len(counts)] = 0.0
    for y in labels:
        after = np.full_like(sums, -np.inf)
        for k, level in enumerate(levels):
            moved = np.full_like(sums, -np.inf)
            before = [slice(None)] * len(counts)
            ahead = list(before)
            before[k], ahead[k] = slice(0, -1), slice(1, None)
            moved[tuple(ahead)] = sums[tuple(before)] + norm.logpdf(y, level, noise)
            after = np.logaddexp(after, moved)
        sums = after
    orders = lgamma(len(labels) + 1) - sum(lgamma(c + 1) for c in counts)
    return sums[tuple(counts)] - orders


def thirty(seed, noise):
    rng = np.random.default_rng(seed)
    levels, counts = rng.normal(size=3), (10, 12, 8)
    fitted = np.repeat(levels, counts)
    return fitted, fitted + noise * rng.normal(size=30), levels, counts


def test_the_oracle_of_counts_equals_exact_sums():
    rng = np.random.default_rng(0)
    levels, counts = rng.normal(size=2), (4, 5)
    fitted = np.repeat(levels, counts)
    labels = fitted + 0.5 * rng.normal(size=9)
    exact = density(problem_of(labels, 9), fitted, 0.5)
    assert exact.error == 0.0
    assert exact.total == pytest.approx(log_density_by_counts(labels, levels, counts, 0.5))


@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_the_reported_error_covers_groups_of_thirty(noise):
    inside, n_sets = 0, 40
    for seed in range(n_sets):
        fitted, labels, levels, counts = thirty(seed, noise)
        found = density(problem_of(labels, 30), fitted, noise, seed)
        truth = log_density_by_counts(labels, levels, counts, noise)
        inside += abs(found.total - truth) < student.ppf(0.975, found.freedom) * found.error
    # 95 % of 40 sets is 38; four standard deviations of a binomial lie 5.5 below.
    assert inside >= 33


def test_a_wrong_density_is_outside_the_error():
    fitted, labels, levels, counts = thirty(0, 0.5)
    found = density(problem_of(labels, 30), fitted, 0.5)
    wrong = norm.logpdf(labels, fitted, 0.5).sum()  # labels beside their own rows
    assert abs(found.total - wrong) > 10 * found.error
    truth = log_density_by_counts(labels, levels, counts, 0.5)
    assert abs(found.total - truth) < 5 * found.error


def test_groups_of_every_size_and_pinned_labels_add_up():
    rng = np.random.default_rng(1)
    n = 64
    fitted = rng.normal(size=n)
    labels = fitted + 0.4 * rng.normal(size=n)
    known = np.arange(n) >= 60
    codes = np.concatenate([np.zeros(5), np.ones(25), np.full(30, 2), np.full(4, 3)]).astype(int)
    problem = make_problem(np.zeros((n, 1)), labels, codes, known)
    found = density(problem, fitted, 0.4)
    assert len(found.blocks) == 3
    assert found.pinned.sum() == pytest.approx(norm.logpdf(labels[60:], fitted[60:], 0.4).sum())
    alone = density(problem_of(labels[:5], 5), fitted[:5], 0.4)
    assert found.blocks[0] == pytest.approx(alone.total)
    assert found.error > 0.0


def test_the_chain_agrees_with_exact_sums_over_many_groups():
    rng = np.random.default_rng(2)
    fitted = rng.standard_t(4, size=1_000)
    labels = fitted + 0.3 * rng.normal(size=1_000)
    exact = density(problem_of(labels, 10), fitted, 0.3)
    found = density(problem_of(labels, 10), fitted, 0.3, settings=BRIDGE_ONLY)
    assert abs(found.total - exact.total) < 5 * found.error
    assert np.corrcoef(found.blocks, exact.blocks)[0, 1] > 0.98


def test_threads_and_seeds():
    rng = np.random.default_rng(3)
    fitted = rng.normal(size=4_000)
    problem = problem_of(fitted + rng.normal(size=4_000), 40)
    one, two = (density(problem, fitted, 1.0, n_jobs=n).total for n in (1, 2))
    assert one == two
    assert density(problem, fitted, 1.0, seed=1).total != one


def test_predictions_that_do_not_vary_give_the_plain_density():
    labels = np.random.default_rng(4).normal(size=40)
    found = density(problem_of(labels, 20), np.full(40, 0.3), 0.7)
    assert found.total == pytest.approx(norm.logpdf(labels, 0.3, 0.7).sum())


def test_the_normal_without_features():
    labels = np.random.default_rng(5).normal(2.0, 3.0, size=50)
    assert normal_log_density(labels) == pytest.approx(
        norm.logpdf(labels, labels.mean(), labels.std()).sum()
    )
    assert np.isnan(normal_log_density(np.ones(3)))
