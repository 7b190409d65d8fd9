"""Reading the user's own aptamer table: what is taken, what is refused and in which words."""

import csv
import gzip
import re
from dataclasses import FrozenInstanceError
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.datasets.aptamer import AptamerData, load_aptamers
from unshuffle.exceptions import TableError

TABLE = "sequence,affinity\nACGT,1.5\nTTGA,-2e-3\n"


@pytest.fixture
def load(tmp_path):
    """Write content into a file, read it back; the path is ``load.path``."""

    def write_and_load(content):
        raw = content if isinstance(content, bytes) else content.encode()
        write_and_load.path.write_bytes(raw)
        return load_aptamers(write_and_load.path)

    write_and_load.path = tmp_path / "table"
    return write_and_load


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        TABLE.rstrip("\n"),
        TABLE.replace(",", "\t"),
        TABLE.replace("\n", "\r\n"),
        TABLE.replace("sequence,affinity", " Sequence , AFFINITY "),
        TABLE.lower().replace("acgt", "acGt"),
        TABLE.replace("ACGT,1.5", ' ACGT ,"1.5"'),
        TABLE + "\n\n",
        "\ufeff" + TABLE,
        'id,affinity,"a, b",sequence\n1,1.5,x,ACGT\n2,-0.002,"y, z",TTGA\n',
        TABLE.replace(",", ";"),
        gzip.compress(TABLE.encode(), mtime=0),
        gzip.compress(TABLE.replace(",", "\t").encode(), mtime=0),
    ],
)
def test_tables_that_mean_the_same(load, content):
    data = load(content)
    assert isinstance(data, AptamerData)
    assert data.sequences.tolist() == ["ACGT", "TTGA"]
    assert data.affinity.tolist() == [1.5, -0.002]
    assert data.sequences.dtype == np.dtype("U4")
    assert data.affinity.dtype == np.float64


def test_result_is_frozen(load):
    with pytest.raises(FrozenInstanceError):
        load(TABLE).affinity = np.zeros(2)


def test_path_may_be_a_string_with_a_tilde(load, monkeypatch):
    load(TABLE)
    monkeypatch.setenv("HOME", str(load.path.parent))
    monkeypatch.setenv("USERPROFILE", str(load.path.parent))
    assert load_aptamers("~/table").sequences.tolist() == ["ACGT", "TTGA"]


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(
            st.tuples(
                st.text("ACGT", min_size=n, max_size=n),
                st.floats(allow_nan=False, allow_infinity=False),
                st.text(st.characters(codec="utf-8", exclude_characters="\0")),
            ),
            min_size=1,
        )
    ),
    st.sampled_from([",", "\t"]),
)
def test_what_was_written_is_read(rows, delimiter):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(["sequence", "affinity", "note"])
            writer.writerows((s, repr(a), note) for s, a, note in rows)
        data = load_aptamers(path)
    assert data.sequences.tolist() == [s for s, _, _ in rows]
    assert data.affinity.tolist() == [a for _, a, _ in rows]


HEADER = "sequence,affinity\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "seq,Affinity\nACGT,1\n",
            ", line 1: the header must name one column 'sequence' (in either case); "
            "found 'seq', 'Affinity'",
        ),
        ("ACGT,1\n", ", line 1: the header must name one column 'sequence'"),
        (
            "sequence,affinity,Sequence\nA,1,C\n",
            ", line 1: the header must name one column 'sequence' (in either case); "
            "found 'sequence', 'affinity', 'Sequence'",
        ),
        (
            HEADER + "ACGT,1\nACNT,1\n",
            ", line 3: the sequence holds 'N' at position 2 (counted from 0); "
            "only A, C, G, T are allowed",
        ),
        (HEADER + "ACGU,1\n", ", line 2: the sequence holds 'U' at position 3"),
        (HEADER + "A C,1\n", ", line 2: the sequence holds ' ' at position 1"),
        (
            HEADER + "ACGT,1\nTTTT,1\nACG,1\nA,1\n",
            ", line 4: the sequence has 3 letters, but the first one has 4; "
            "all must be of one length",
        ),
    ],
)
def test_sequences_and_headers_that_are_refused(load, content, message):
    with pytest.raises(TableError, match="^" + re.escape(f"{load.path}{message}")):
        load(content)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", ":"),
        (" \n\n", ":"),
        (gzip.compress(b"", mtime=0), ":"),
        (HEADER, ":"),
        ("x,sequence,x,affinity\n1,A,1,1\n", ", line 1:"),
        ("\nACGT,1\n", ":"),
        (HEADER + "A,1\nC\n", ", line 3:"),
        (HEADER + "A,1\n\nC,1\n", ", line 3:"),
        (HEADER + "A,1\nC,1,5\n", ", line 3:"),
        *((HEADER + f"A,1\nC,{cell}\n", ", line 3, column 'affinity':")
          for cell in ("high", "", "1_5", "nan", "-inf", "1e999")),
        (HEADER + "A,1\n ,1\n", ", line 3, column 'sequence':"),
        (HEADER.encode() + b"A,1\nC\xff,1\n", ", line 3: byte 0xFF is not UTF-8"),
        (b"\xef\xbb\xbf" + HEADER.encode() + b"\xe9A,1\n", ", line 2: byte 0xE9 is not UTF-8"),
        (TABLE.encode("utf-16"), ": is UTF-16"),
        (gzip.compress(HEADER.encode() + b"\xff", mtime=0), ", line 2: byte 0xFF"),
        (HEADER + 'A,"1\n', ", line 2:"),
        (HEADER + 'A,1\n"C"C,1\n', ", line 3:"),
        (gzip.compress(TABLE.encode(), mtime=0)[:-9], ": the gzip file is damaged"),
        (gzip.compress(TABLE.encode(), mtime=0)[:12] + b"\0" * 30, ": the gzip file is damaged"),
        (b"\x1f\x8b", ": the gzip file is damaged"),
    ],
)  # fmt: skip
def test_tables_are_read_as_strictly_as_any_other(load, content, place):
    with pytest.raises(TableError, match="^" + re.escape(f"{load.path}{place}")):
        load(content)


def test_a_missing_file_says_where_the_data_come_from(tmp_path):
    path = tmp_path / "nothing.csv"
    with pytest.raises(FileNotFoundError) as caught:
        load_aptamers(path)
    message = str(caught.value)
    assert message.startswith(f"no file {path}. ")
    assert "not distributed with unshuffle" in message
    assert "C. G. Knight et al., Nucleic Acids Research 37:e6, 2009" in message
    assert message.endswith("save it as CSV or TSV with the columns 'sequence' and 'affinity'")


def test_the_docstring_says_where_the_data_come_from():
    text = " ".join(load_aptamers.__doc__.split())
    assert "not distributed with this package" in text
    assert "Nucleic Acids Research 37:e6, 2009" in text
    assert "columns `sequence` and `affinity`" in text
