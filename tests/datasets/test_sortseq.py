"""The shipped sort-seq data: shape, order of the bins, mean bin."""

import gzip
from dataclasses import FrozenInstanceError
from importlib.resources import files

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

from unshuffle.datasets.sortseq import SortSeqData, load_sortseq


@pytest.fixture(scope="module")
def sortseq():
    return load_sortseq()


def one_hot(sequences):
    letters = sequences.view("U1").reshape(len(sequences), -1)
    return np.concatenate([letters == letter for letter in "ACG"], axis=1).astype(float)


def test_types_and_shapes(sortseq):
    assert isinstance(sortseq, SortSeqData)
    assert sortseq.sequences.shape == (25_000,)
    assert sortseq.sequences.dtype == np.dtype("U75")
    assert sortseq.counts.shape == (25_000, 10)
    assert sortseq.counts.dtype == np.int64
    with pytest.raises(FrozenInstanceError):
        sortseq.counts = np.zeros((1, 10))


def test_sequences_are_distinct_dna_of_one_length(sortseq):
    assert set("".join(sortseq.sequences)) == set("ACGT")
    assert set(np.char.str_len(sortseq.sequences)) == {75}
    assert sortseq.sequences.tolist() == sorted(set(sortseq.sequences.tolist()))


def test_every_sequence_was_seen_in_a_sorted_bin(sortseq):
    assert set(np.unique(sortseq.counts)) == {0, 1}
    assert sortseq.counts[:, 1:].any(axis=1).all()
    assert (sortseq.counts.sum(axis=0)[1:] > 2_000).all()
    in_one_bin = np.mean(sortseq.counts[:, 1:].sum(axis=1) == 1)
    assert 0.97 < in_one_bin < 0.99


def test_mean_bin_worked_out_by_hand():
    counts = np.zeros((5, 10), dtype=np.int64)
    counts[0, 4] = 1
    counts[1, [1, 9]] = 1
    counts[2, [0, 6]] = 1  # the library does not count
    counts[3, 2], counts[3, 5] = 3, 1
    counts[4, 0] = 1  # seen in the library alone
    data = SortSeqData(np.array(["A"] * 5), counts)
    np.testing.assert_array_equal(data.mean_bin, [4, 5, 6, 2.75, np.nan])


def test_mean_bin_of_the_shipped_data(sortseq):
    expected = [np.mean(np.flatnonzero(row[1:]) + 1) for row in sortseq.counts[:500]]
    np.testing.assert_allclose(sortseq.mean_bin[:500], expected)
    assert sortseq.mean_bin.min() == 1
    assert sortseq.mean_bin.max() == 9
    assert not np.isnan(sortseq.mean_bin).any()


def test_bins_run_from_many_mutations_to_few(sortseq):
    letters = sortseq.sequences.view("U1").reshape(-1, 75)
    native = [max("ACGT", key=column.tolist().count) for column in letters.T]
    mutations = (letters != native).sum(axis=1)
    mean = [mutations[sortseq.counts[:, b] > 0].mean() for b in range(1, 10)]
    assert mean[0] > 9
    assert mean[-1] < 8
    assert (np.diff(mean[1:]) < 0).all()
    # About one letter in nine was mutated.
    assert 8 < mutations.mean() < 9


def test_letters_by_position_predict_the_mean_bin(sortseq):
    X, y = one_hot(sortseq.sequences), sortseq.mean_bin
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = Ridge().fit(X_train, y_train)
    assert 0.42 < model.score(X_test, y_test) < 0.5
    shuffled = np.random.default_rng(0).permutation(y_train)
    assert Ridge().fit(X_train, shuffled).score(X_test, y_test) < 0.05


def test_every_call_gives_arrays_of_its_own(sortseq):
    first = load_sortseq()
    first.counts[:] = 7
    assert load_sortseq().counts.max() == 1


def test_file_is_small_and_the_same_wherever_it_is_made():
    packed = (files("unshuffle.datasets") / "data" / "sortseq.csv.gz").read_bytes()
    assert len(packed) < 400_000
    assert packed[4:8] == bytes(4)  # no time of making
    header = gzip.decompress(packed).split(b"\n", 1)[0]
    assert header == b"sequence," + b",".join(b"ct_%d" % i for i in range(10))
