"""The shipped 8-mers: complete, as published, and useful."""

import gzip
from dataclasses import FrozenInstanceError
from importlib.resources import files
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from unshuffle.datasets.binding import BindingData, load_binding
from unshuffle.datasets.kmers import KmerCounter

COMPLEMENT = str.maketrans("ACGT", "TGCA")


@pytest.fixture(scope="module")
def binding():
    return load_binding()


def test_holds_one_strand_of_every_word(binding):
    words = map("".join, product("ACGT", repeat=8))
    expected = [w for w in words if w <= w.translate(COMPLEMENT)[::-1]]
    assert len(expected) == 32_896
    assert binding.sequences.tolist() == expected


def test_scores_are_those_of_the_source(binding):
    # First rows, minimum and maximum of POU4F3_REF_R1_8mers.txt, column E-score.
    assert binding.affinity[:4].tolist() == [0.05297, 0.01541, -0.0934, 0.26355]
    assert binding.affinity.min() == -0.49992
    assert binding.affinity.max() == 0.49804
    assert binding.affinity.mean() == pytest.approx(-0.037521, abs=1e-6)
    assert binding.affinity.std(ddof=1) == pytest.approx(0.185321, abs=1e-6)


def test_types_and_shapes(binding):
    assert isinstance(binding, BindingData)
    assert binding.sequences.dtype == np.dtype("U8")
    assert binding.affinity.dtype == np.float64
    assert binding.sequences.shape == binding.affinity.shape == (32_896,)
    assert binding.sequences.flags.c_contiguous
    assert binding.affinity.flags.c_contiguous
    with pytest.raises(FrozenInstanceError):
        binding.affinity = np.zeros(1)


def test_every_call_gives_arrays_of_its_own(binding):
    load_binding().affinity[:] = 0
    assert load_binding().affinity[0] == binding.affinity[0] == 0.05297


def test_counts_of_words_explain_three_quarters_of_the_variance(binding):
    X = KmerCounter().fit_transform(binding.sequences)
    X_train, X_test, y_train, y_test = train_test_split(X, binding.affinity, random_state=0)
    assert 0.74 < LinearRegression().fit(X_train, y_train).score(X_test, y_test) < 0.78


def test_file_is_small_and_the_same_wherever_it_is_made():
    packed = (files("unshuffle.datasets") / "data" / "binding_pou4f3.csv.gz").read_bytes()
    assert len(packed) < 400_000
    assert packed[4:8] == bytes(4)  # no time of making
    assert gzip.decompress(packed).startswith(b"sequence,affinity\nAAAAAAAA,0.05297\n")
