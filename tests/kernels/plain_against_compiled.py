"""Run every kernel and print a digest of all it produced; see test_plain_python.py."""

import hashlib
import sys

import numpy as np

from unshuffle.kernels import hard_em, match, swap


def run():
    rng = np.random.default_rng(0)
    n, seed = 40, np.uint64(12345)
    starts = np.array([0, 15, 17, 36], dtype=np.int64)
    y, mu = rng.normal(size=n), rng.normal(size=n)
    y[3] = y[4]
    ranked, perm = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    match.rank_labels(y, starts, ranked)
    match.match_groups(mu, ranked, starts, perm)
    yield perm.copy()
    match.shuffle_groups(perm, starts, seed, 3)
    yield perm.copy()
    slots = np.zeros((36, 4))
    slots[:, 0], slots[:, 1] = mu[:36], y[perm[:36]]
    for piece in range(2):
        schedule = swap.Schedule(2000, 100, 40)
        accepted = swap.advance_groups(slots, perm, starts, 0, 3, 3.0, seed, 1, schedule, piece, 2)
        yield np.array([accepted])
    yield slots
    yield perm
    basis = np.linalg.qr(rng.normal(size=(n, 3)))[0].T.copy()
    thetas, explained, settled = np.empty((4, 3)), np.full(4, -1.0), np.zeros(4, dtype=bool)
    hard_em.shuffled_starts(basis, y, starts, seed, 2, thetas)
    yield thetas.copy()
    hard_em.descend(basis, y[ranked], starts, thetas, explained, settled, 20, 0.0)
    yield thetas
    yield explained


with np.errstate(over="ignore"):  # plain numpy warns where unsigned integers wrap around
    digest = hashlib.sha256(b"".join(a.tobytes() for a in run())).hexdigest()
sys.stdout.write(digest)
