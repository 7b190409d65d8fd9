import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.data.groups import encode_groups
from unshuffle.data.problem import make_problem


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_arranging_can_be_undone(rows):
    names, known = zip(*rows, strict=True)
    n = len(rows)
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) * 1.0
    known = np.array(known)
    problem = make_problem(X, y, encode_groups(names, n), known)
    assert np.array_equal(problem.restore(problem.y), y)
    assert np.array_equal(problem.arrange(y), problem.y)
    assert problem.n_groups == len(set(names))
    order = problem.arrange(np.arange(n) * 1.0).astype(int)
    movable = order[: problem.n_movable]
    assert not known[movable].any()
    for g in range(problem.n_blocks):
        block = order[problem.starts[g] : problem.starts[g + 1]]
        assert len(block) >= 2
        assert len({names[i] for i in block}) == 1
    identity = problem.restore_permutation(np.arange(n))
    assert np.array_equal(identity, np.arange(n))


def test_permutations_come_back_in_the_users_numbers():
    groups = ["b", "a", "b", "a"]
    y = np.array([10.0, 20.0, 30.0, 40.0])
    problem = make_problem(np.zeros((4, 1)), y, encode_groups(groups, 4), np.zeros(4, dtype=bool))
    swap_first_block = np.array([1, 0, 2, 3])  # the two rows of "b"
    perm = problem.restore_permutation(swap_first_block)
    assert list(y[perm]) == [30.0, 20.0, 10.0, 40.0]


def test_arranged_data_are_not_copied():
    X, y = np.zeros((5, 2)), np.arange(5.0)
    problem = make_problem(X, y, np.array([0, 0, 1, 1, 1]), np.zeros(5, dtype=bool))
    assert problem.X is X
    assert problem.order is None
    assert make_problem(X, y, np.array([0, 1, 0, 1, 1]), np.zeros(5, dtype=bool)).X is X
