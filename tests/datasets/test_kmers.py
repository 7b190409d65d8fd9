"""KmerCounter beside a plain count by slicing."""

import pickle
import time
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from unshuffle.datasets.kmers import KmerCounter

ALPHABETS = ["ACGT", "TGCA", "AC", "acgt", "ACDEFGHIKLMNPQRSTVWY", "aA", "-01", "αβ", "A"]


def count_by_slicing(sequences, k_min, k_max, alphabet):
    """One row per sequence, one column per word; no encoding, no arithmetic on letters."""
    words = ["".join(w) for k in range(k_min, k_max + 1) for w in product(alphabet, repeat=k)]
    table = []
    for s in sequences:
        seen = Counter(s[i : i + k] for k in range(k_min, k_max + 1) for i in range(len(s) - k + 1))
        table.append([seen[w] for w in words])
    return words, np.array(table, dtype=float)


@st.composite
def problems(draw):
    alphabet = draw(st.sampled_from(ALPHABETS))
    k_min = draw(st.integers(1, 2))
    k_max = draw(st.integers(k_min, 2 if len(alphabet) > 4 else 4))
    sequence = st.text(alphabet=alphabet, max_size=12)
    return alphabet, k_min, k_max, draw(st.lists(sequence, min_size=1, max_size=8))


@given(problems())
def test_counts_equal_those_by_slicing(problem):
    alphabet, k_min, k_max, sequences = problem
    words, expected = count_by_slicing(sequences, k_min, k_max, alphabet)
    counter = KmerCounter(k_min=k_min, k_max=k_max, alphabet=alphabet)
    counts = counter.fit_transform(sequences)
    assert counts.dtype == np.float64
    assert list(counter.get_feature_names_out()) == words
    np.testing.assert_array_equal(counts, expected)


@given(problems())
def test_sparse_counts_equal_those_by_slicing(problem):
    alphabet, k_min, k_max, sequences = problem
    _, expected = count_by_slicing(sequences, k_min, k_max, alphabet)
    counter = KmerCounter(k_min=k_min, k_max=k_max, alphabet=alphabet, sparse_output=True)
    counts = counter.fit_transform(sequences)
    assert issparse(counts)
    assert counts.format == "csr"
    assert counts.dtype == np.float64
    assert counts.nnz == np.count_nonzero(expected)
    np.testing.assert_array_equal(counts.toarray(), expected)


@given(st.lists(st.text(alphabet="ACGT", max_size=10), min_size=1, max_size=6), st.data())
def test_rows_do_not_depend_on_their_neighbours(sequences, data):
    i = data.draw(st.integers(0, len(sequences) - 1))
    alone = KmerCounter().transform([sequences[i]])
    np.testing.assert_array_equal(KmerCounter().transform(sequences)[[i]], alone)


def test_default_has_84_columns_by_length_then_alphabet():
    names = KmerCounter().get_feature_names_out()
    assert len(names) == 84
    assert names[[0, 3, 4, 5, 19, 20, 83]].tolist() == ["A", "T", "AA", "AC", "TT", "AAA", "TTT"]
    assert names.tolist() == sorted(names, key=lambda name: (len(name), name))


def test_a_count_worked_out_by_hand():
    counts = KmerCounter(k_min=2, k_max=2, alphabet="AB").transform(["AAAB", "", "B", "BA"])
    # columns AA AB BA BB
    assert counts.tolist() == [[2, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]


def test_lower_case_counts_as_upper_case():
    mixed, upper = KmerCounter().transform(["acGTt", "ACGTT"])
    np.testing.assert_array_equal(mixed, upper)
    assert upper.sum() == 5 + 4 + 3


def test_lower_case_alphabet_does_not_take_upper_case():
    with pytest.raises(ValueError, match="sequence 0 holds 'C' at position 1"):
        KmerCounter(alphabet="acgt").transform(["aC"])


def test_case_matters_where_the_alphabet_has_both():
    assert KmerCounter(k_max=1, alphabet="Aa").transform(["AaA"]).tolist() == [[2, 1]]
    with pytest.raises(ValueError, match="sequence 0 holds 'b' at position 2"):
        KmerCounter(alphabet="aB").transform(["aBb"])


def test_letters_that_change_their_length_in_upper_case_are_unknown():
    # "ß".upper() is "SS", which a count after upper() would take for two letters.
    with pytest.raises(ValueError, match="'ß' at position 1"):
        KmerCounter(alphabet="AS").transform(["AßA"])


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda s: np.array(s, dtype=object),
        pd.Series,
        lambda s: pd.Series(s, index=range(7, 7 + len(s))),
        lambda s: pd.Series(s, dtype="category"),
        lambda s: pd.DataFrame({"sequence": s}),
        lambda s: np.array(s)[:, None],
        lambda s: [[x] for x in s],
    ],
)
def test_any_container_of_strings(container):
    sequences = ["ACGT", "AA", "TTTTTT"]
    _, expected = count_by_slicing(sequences, 1, 3, "ACGT")
    np.testing.assert_array_equal(KmerCounter().fit_transform(container(sequences)), expected)


def test_input_is_left_alone():
    sequences = ["acgt", "AA"]
    KmerCounter().fit_transform(sequences)
    assert sequences == ["acgt", "AA"]


@pytest.mark.parametrize("method", ["fit", "transform"])
@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        (["ACGT", "ACNT"], r"sequence 1 holds 'N' at position 2 .*alphabet 'ACGT'.*add the letter"),
        (["", "A", "AC T"], r"sequence 2 holds ' ' at position 2 "),
        (["A\x00"], r"sequence 0 holds '\\x00' at position 1 "),
        (["A😀"], "sequence 0 holds '😀' at position 1 "),
        (["\ud800"], r"sequence 0 holds '\\ud800' at position 0 "),
        ([], "found no sequences; at least one is needed"),
        (np.empty((0, 1), dtype=object), "found no sequences"),
        (["A", None], r"sequence 1 is None \(NoneType\), not a string; leave out missing"),
        (["A", float("nan")], r"sequence 1 is nan \(float\), not a string"),
        # pandas 3 turns None into nan
        (pd.Series(["A", None]), f"sequence 1 is {pd.Series(['A', None])[1]} .*not a string"),
        ([b"A"], r"sequence 0 is b'A' \(bytes\), not a string"),
        ([1.5, 2.5], r"sequence 0 is 1.5 \(float\), not a string"),
        ([["A", "C"], ["G", "T"]], r"\(n_samples, 1\), got list of shape \(2, 2\)"),
        (np.full((1, 1, 1), "A"), r"got ndarray of shape \(1, 1, 1\)"),
        ({"A", "C"}, r"got set of shape \(\)"),
        ("ACGT", r"got the single string 'ACGT'; write \[X\]"),
    ],
)
def test_sequences_that_cannot_be_counted(method, sequences, message):
    with pytest.raises(ValueError, match=message):
        getattr(KmerCounter(), method)(sequences)


@pytest.mark.parametrize("method", ["fit", "transform"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k_min": 0}, "k_min must be a whole number from 1 on, got 0"),
        ({"k_min": 1.0}, "k_min must be a whole number from 1 on, got 1.0"),
        ({"k_max": True}, "k_max must be a whole number from 1 on, got True"),
        ({"k_max": "3"}, "k_max must be a whole number from 1 on, got '3'"),
        ({"k_min": 4}, "k_min=4 is larger than k_max=3"),
        ({"k_max": 12}, "k_max=12 with an alphabet of 4 letters makes more than 10,000,000"),
        ({"k_min": 10**9, "k_max": 10**9}, "choose a smaller k_max"),
        ({"alphabet": ""}, "alphabet must be a string of at least one letter.*got ''"),
        ({"alphabet": ["A", "C"]}, r"alphabet must be a string .*got \['A', 'C'\]"),
        ({"alphabet": "ACGA"}, "alphabet 'ACGA' holds 'A' more than once"),
        ({"sparse_output": "yes"}, "sparse_output must be True or False, got 'yes'"),
    ],
)
def test_parameters_that_make_no_sense(method, parameters, message):
    with pytest.raises(ValueError, match=message):
        getattr(KmerCounter(**parameters), method)(["A"])
    with pytest.raises(ValueError, match=message):
        KmerCounter(**parameters).get_feature_names_out()


def test_numpy_integers_are_whole_numbers():
    counter = KmerCounter(k_min=np.int64(1), k_max=np.int64(2))
    assert counter.fit_transform(["ACGT"]).shape == (1, 20)


def test_parameters_are_kept_untouched_and_keyword_only():
    alphabet = "ACGT"
    counter = KmerCounter(alphabet=alphabet, k_max=2)
    assert counter.fit(["A"]) is counter
    assert counter.get_params() == {
        "k_min": 1, "k_max": 2, "alphabet": "ACGT", "sparse_output": False,
    }  # fmt: skip
    with pytest.raises(TypeError):
        KmerCounter(1, 3)


@pytest.mark.parametrize("copy", [clone, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_count_alike(copy):
    counter = KmerCounter(k_min=2, k_max=2, alphabet="TGCA").fit(["A"])
    twin = copy(counter)
    assert twin is not counter
    np.testing.assert_array_equal(twin.transform(["ACGT"]), counter.transform(["ACGT"]))
    assert twin.transform(["ACGT"]).shape == (1, 16)


def test_pandas_output_has_the_words_as_columns():
    frame = (
        KmerCounter(k_max=1)
        .set_output(transform="pandas")
        .fit_transform(pd.Series(["AAC", "T"], index=["p", "q"]))
    )
    assert frame.loc["p", "A"] == 2
    assert frame.columns.tolist() == ["A", "C", "G", "T"]


def test_inside_a_column_transformer_and_a_pipeline():
    frame = pd.DataFrame({"sequence": ["A", "AA", "AAA", "CC"], "dose": [1.0, 0.0, 2.0, 5.0]})
    columns = make_column_transformer((KmerCounter(k_max=1), "sequence"), ("passthrough", ["dose"]))
    y = 3 * np.array([1, 2, 3, 0]) + 0.5 * frame["dose"] - 1
    model = make_pipeline(columns, LinearRegression()).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), y)
    names = columns.get_feature_names_out().tolist()
    assert names[0] == "kmercounter__A"
    assert names[-1] == "passthrough__dose"


def test_sparse_counts_suit_solvers_that_want_short_indices():
    counts = KmerCounter(sparse_output=True).fit_transform(["ACGT", "AAAA", "TTTT", "ATAT"])
    assert counts.indices.dtype == np.int32
    LogisticRegression(solver="liblinear").fit(counts, [0, 1, 0, 1])


def test_a_hundred_thousand_sequences_do_not_take_long():
    letters = np.random.default_rng(0).integers(4, size=(100_000, 30))
    sequences = np.array(list("ACGT"))[letters].view("U30").ravel()
    start = time.perf_counter()
    counts = KmerCounter().fit_transform(sequences)
    # Below a second on an idle machine; a loop over letters in Python takes ten times as long.
    assert time.perf_counter() - start < 5
    assert counts.shape == (100_000, 84)
    assert (counts.sum(axis=1) == 30 + 29 + 28).all()
