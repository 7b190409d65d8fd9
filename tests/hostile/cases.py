"""Files and calls that must be refused: each with the words by which its problem is named."""

import gzip
import io
import json
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    arguments: tuple[str, ...]
    words: tuple[str, ...]


GOOD = "zone,a,b,y\n" + "".join(
    f"z{k % 8},{np.sin(k):.4f},{np.cos(3 * k):.4f},{np.sin(k) + 2 * np.cos(3 * k):.4f}\n"
    for k in range(40)
)
FIT = ("--label", "y", "--group", "zone")


def make(shelf: "Shelf") -> None:
    """Write every hostile file, and note the calls."""
    good = shelf.put("good.csv", GOOD)
    for kind in (texts, compressed, parts, parquets, flows, models, calls):
        kind(shelf, good)


class Shelf:
    def __init__(self, folder: Path) -> None:
        self.folder, self.cases = folder, []

    def put(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def fit(self, name, content, *words, options=FIT):
        """A file that `fit` must refuse, naming it."""
        path = self.put(name, content)
        self.call(name, ("fit", path, *options), name, *words)

    def call(self, name, arguments, *words):
        out = () if "--out" in arguments else ("--out", str(self.folder / "out"))
        with_out = out if arguments[0] == "fit" else ()
        self.cases.append(Case(name, (*arguments, *with_out), words))


def texts(shelf: Shelf, good: str) -> None:
    lines = GOOD.splitlines(keepends=True)

    def line(number: int, text: str) -> str:
        return "".join([*lines[: number - 1], text, *lines[number:]])

    fit = shelf.fit
    fit("empty.csv", "", "is empty")
    fit("blank.csv", "\n\n", "is empty")
    fit("header_only.csv", lines[0], "no rows")
    fit("short_row.csv", line(5, "z1,2\n"), "line 5", "2 fields", "names 4")
    fit("long_row.csv", line(41, "z1,2,3,4,5\n"), "line 41", "5 fields")
    fit("shifted.csv", line(7, "z1,1,5,2,7\n"), "line 7", "5 fields")
    fit("blank_inside.csv", line(9, "\n"), "line 9", "blank")
    fit("nul.csv", line(4, "z1,1\0,2,3\n"), "line 4", "NUL")
    fit("one_long_line.csv", "x," * 5_000_000, "line 1", "longer than")
    fit("long_line_inside.csv", line(3, "1," * 5_000_000), "line 3", "longer than")
    fit("long_field.csv", line(3, 'z1,"' + "1" * 3_000_000 + '",2,3\n'), "line 3", "field of more")
    fit("many_columns.csv", ",".join(f"c{j}" for j in range(60_000)) + "\n", "60,000 columns")
    fit("open_quote.csv", line(6, 'z1,"1,2,3\n'), "line 6", "never closed")
    fit("quote_inside.csv", line(6, 'z1,"1"2,2,3\n'), "line 6", "quote")
    fit("latin1.csv", line(8, "zoné,1,2,3\n").encode("latin-1"), "line 8", "0xE9", "UTF-8")
    fit("utf16.csv", GOOD.encode("utf-16"), "UTF-16")
    fit("duplicate.csv", GOOD.replace("zone,a,b,y", "zone,a,a,y"), "line 1", "'a'", "column 2")
    fit("unnamed.csv", GOOD.replace("zone,a,b,y", "zone,a,,y"), "line 1", "column 3", "no name")
    fit("no_header.csv", "1,2,3,4\n" * 30, "line 1", "header")
    fit("typo.csv", line(12, "z1,1.5x,2,3\n"), "line 12", "'a'", "1.5x", "not a number")
    fit("underscore.csv", line(12, "z1,1_5,2,3\n"), "line 12", "'a'", "1_5")
    fit("other_digits.csv", line(12, "z1,\u0661,2,3\n"), "line 12", "'a'", "not a number")
    fit("hexadecimal.csv", line(12, "z1,0x1F,2,3\n"), "line 12", "0x1F")
    fit("comma.csv", line(12, 'z1,"1,5",2,3\n'), "line 12", "1,5", "decimal comma")
    semicolons = GOOD.replace(",", ";")
    fit("commas_mixed.csv", semicolons.replace("1.0000", "1,0000", 1), "decimal", "alike")
    fit("missing.csv", line(20, "z1,,2,3\n"), "line 20", "'a'", "missing")
    fit("na.csv", line(20, "z1,NA,2,3\n"), "line 20", "'a'", "missing", "'NA'")
    fit("missing_group.csv", line(20, ",1,2,3\n"), "line 20", "'zone'", "missing")
    fit("infinite.csv", line(20, "z1,1,-inf,3\n"), "line 20", "'b'", "not finite")
    fit("carriage_returns.csv", GOOD.replace("\n", "\r"), "line 1", "carriage return")
    fit("text_label.csv", "zone,a,y\nz,1,u\nz,2,v\nz,3,w\n", "line 2", "'y'", "'u'")
    fit("late_typo.csv", "zone,a,y\n" + "z,1,2\n" * 9000 + "z,one,2\n", "line 9002", "'one'")
    fit("late_number.csv", "zone,a,y\n" + "z,u,2\n" * 9000 + "z,7,2\n", "line 9002", "'7'")
    fit("binary.csv", bytes(range(1, 256)) * 50, "UTF-8")
    fit("constant_label.csv", "zone,a,y\nz,1,2\nz,2,2\nz,3,2\nz,4,2\n", "all 4 labels equal 2")
    fit("too_few_rows.csv", "zone,a,b,y\nz,1,2,3\nz,2,1,3.5\n", "2 rows", "noise")
    many = "zone,name,y\n" + "".join(f"z,n{k},{k}\n" for k in range(150))
    fit("identifier.csv", many, "'name'", "150 different")
    fit("one_level.csv", "zone,a,kind,y\nz,1,u,1\nz,2,u,3\nz,3,u,4\n", "'kind'", "explain nothing")
    fit("workbook.xlsx", b"PK\x03\x04" + bytes(99), ".xlsx", "CSV")
    fit("workbook.csv", b"PK\x03\x04" + bytes(99), "spreadsheet")


def compressed(shelf: Shelf, good: str) -> None:
    whole = gzip.compress(GOOD.encode(), mtime=0)
    shelf.fit("cut.csv.gz", whole[: len(whole) // 2], "gzip", "cut short")
    shelf.fit("header_cut.csv.gz", whole[:6], "gzip")
    changed = bytearray(whole)
    changed[-6] ^= 0xFF
    shelf.fit("checksum.csv.gz", bytes(changed), "gzip", "damaged")
    shelf.fit("plain.csv.gz", GOOD, "not compressed")
    shelf.fit("zeros.csv.gz", gzip.compress(bytes(50_000_000), mtime=0), "NUL")
    row = b"z1,1," + b" " * 100_000 + b"2,3\n"
    bomb = gzip.compress(b"zone,a,b,y\n" + row * 2100, mtime=0)
    shelf.fit("bomb.csv.gz", bomb, "grows from", "200.0 MB", "gunzip")
    shelf.fit("ragged.tsv.gz", gzip.compress(b"zone\ta\ty\nz\t1\t2\nz\t1\n", mtime=0), "line 3")


def parts(shelf: Shelf, good: str) -> None:
    call = shelf.call
    call("label as feature", ("fit", good, *FIT, "--features", "a,y"), "'y'", "label", "feature")
    call("label as group", ("fit", good, "--label", "y", "--group", "y"), "'y'", "both")
    call("no such label", ("fit", good, "--label", "yy"), "'yy'", "did you mean 'y'")
    call("no such feature", ("fit", good, *FIT, "--features", "a,c"), "'c'", "zone, a, b, y")
    call("feature twice", ("fit", good, *FIT, "--features", "a,a"), "named twice", "--features")
    call("no label", ("fit", good), "--label", "zone, a, b, y")
    call("empty names", ("fit", good, *FIT, "--features", ",,"), "names between commas")
    call("categorical label", ("fit", good, *FIT, "--categorical", "y"), "'y'", "label")
    probability = shelf.put("prob.csv", GOOD.replace("zone", "p").replace("z", "1."))
    call("probability", ("fit", probability, "--label", "y", "--match-prob", "p"), "line 3", "'p'")
    call("neither", ("fit", good, "--label", "y", "--known", "zone"), "line 2", "neither true")
    call("by alone", ("fit", good, "--by", "zone", "--label", "y"), "--by", "two tables")
    call("both keys", ("fit", good, good, "--by", "zone", "--group", "zone"), "not both")
    labels = shelf.put("labels.csv", "zone,price\n" + "z1,2\n" * 3 + "z2,4\n" * 37)
    call("unequal", ("fit", good, labels, "--by", "zone", "-x", "a,b"), "'z0' has 5 rows and 0")
    call("ambiguous", ("fit", good, good, "--by", "zone"), "--label", "a, b, y")
    call("label in both", ("fit", good, good, "--by", "zone", "--label", "y"), "'y'", "features")
    call("no shared", ("fit", good, labels, "--by", "zon", "-x", "a,b"), "'zon'", "'zone'")


def parquets(shelf: Shelf, good: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = np.linspace(0, 1, 40)
    plain = {"zone": ["z"] * 40, "a": numbers, "y": numbers**2}

    def written(table: pa.Table) -> bytes:
        file = io.BytesIO()
        pq.write_table(table, file)
        return file.getvalue()

    def put(name, columns, *words):
        shelf.fit(name, written(pa.table(columns)), *words)

    whole = written(pa.table(plain))
    shelf.fit("cut.parquet", whole[: len(whole) // 2], "Parquet")
    shelf.fit("text.parquet", GOOD, "Parquet")
    middle = bytearray(whole)
    middle[20:120] = bytes(100)
    shelf.fit("middle.parquet", bytes(middle), "Parquet")
    page = whole.replace(b"\x15\x04\x15\x0a", b"\x15\x04\x15" + varint(2 * (2**31 - 1)), 1)
    assert page != whole
    shelf.fit("page.parquet", page, "GB", "55.0 MB", "without compression")
    put("list.parquet", {**plain, "b": [[1, 2]] * 40}, "'b'", "nested")
    put("struct.parquet", {**plain, "b": [{"u": 1}] * 40}, "'b'", "nested")
    put("map.parquet", {**plain, "b": pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int64()))},
        "'b'", "nested")  # fmt: skip
    put("null.parquet", {**plain, "b": [None, *numbers[1:]]}, "row 1", "'b'", "missing")
    put("nan.parquet", {**plain, "b": [*numbers[1:], float("nan")]}, "row 40", "'b'", "missing")
    put("time.parquet", {**plain, "b": pa.array(range(40), pa.timestamp("s"))}, "'b'", "timestamp")
    put("bytes.parquet", {**plain, "b": [b"u"] * 40}, "'b'", "binary")
    twice = pa.Table.from_arrays([pa.array(numbers)] * 3, names=["a", "a", "y"])
    shelf.fit("twice.parquet", written(twice), "'a'")
    put(
        "no_rows.parquet",
        {name: pa.array([], pa.float64()) for name in ("zone", "a", "y")},
        "no rows",
    )
    huge = with_many_rows(whole, 40, 10**13)
    shelf.fit("huge.parquet", huge, "10,000,000,000,000 rows", "--pairing lost")
    options = (*FIT, "--pairing", "lost")
    shelf.fit("huge_lost.parquet", huge, "10,000,000,000,000 rows", "GB", options=options)
    other = shelf.put("other.parquet", written(pa.table({**plain, "b": numbers})))
    one = shelf.put("one.parquet", whole)
    shelf.call("other columns", ("fit", one, other, *FIT), "other.parquet", "'b'", "one.parquet")
    words = {**plain, "y": ["u"] * 40}
    put("text_label.parquet", words, "row 1", "'y'", "'u' is not a number")
    word = str(shelf.folder / "text_label.parquet")
    checkpoint = ("--checkpoint", str(shelf.folder / "c.npz"), "--pairing", "lost")
    shelf.call("text label in passes", ("fit", word, *FIT, *checkpoint), "'y'", "must be numbers")
    kinds = shelf.put("kinds.parquet", written(pa.table({**plain, "kind": ["u", "v"] * 20})))
    shelf.call(
        "categories in passes", ("fit", kinds, *FIT, *checkpoint),
        "kinds.parquet", "'kind' (text)", "encode", "--features",
    )  # fmt: skip
    shelf.call(
        "order in passes", ("fit", kinds, *FIT, *checkpoint[:2]),
        "--pairing lost", "--pairing mostly-right", "test",
    )  # fmt: skip


def with_many_rows(content: bytes, found: int, declared: int) -> bytes:
    """Change the number of rows that the footer of a Parquet file declares."""
    size = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - size : -8]
    field = b"\x16" + varint(2 * found) + b"\x19"  # num_rows, then the list of row groups
    assert field in footer  # the first is that of the file, others follow in row groups
    footer = footer.replace(field, b"\x16" + varint(2 * declared) + b"\x19", 1)
    return content[: -8 - size] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def flow_file(n_events: int = 60, names=("FSC-A", "SSC-A", "GFP-A")) -> bytes:
    import flowio

    events = np.random.RandomState(0).lognormal(size=(n_events, len(names)))
    file = io.BytesIO()
    flowio.create_fcs(file, events.ravel().tolist(), list(names))
    return file.getvalue()


def flows(shelf: Shelf, good: str) -> None:
    whole = flow_file()
    options = ("--label", "GFP-A")

    def put(name, content, *words):
        shelf.fit(name, content, *words, options=options)

    put("cut.fcs", whole[:-200], "damaged or cut short")
    put("header.fcs", whole[:40], "FCS")
    put("text.fcs", GOOD, "FCS")
    put("offsets.fcs", whole[:26] + b"99999999" + whole[34:], "DATA", "99999999")
    put("noise.fcs", whole[:58] + bytes(len(whole) - 58), "FCS")
    put("words.fcs", whole[:10] + b"   words" + whole[18:], "TEXT")

    def declare(key: bytes, value: bytes) -> bytes:
        start = whole.index(key) + len(key) + 1
        delimiter = whole[int(whole[10:18])]
        end = whole.index(delimiter, start)
        return whole[:start] + value.ljust(end - start)[: end - start] + whole[end:]

    put("total.fcs", declare(b"$TOT", b"61"), "61 events")
    wide = flow_file(10**5 // 100)
    start = wide.index(b"$TOT") + 5
    put("many_events.fcs", wide[:start] + b"9999" + wide[start + 4 :], "events")
    put("channels.fcs", declare(b"$PAR", b"9"), "9 channels")
    nan = whole[:-20] + struct.pack("<f", float("nan")) * 5
    put("nan.fcs", nan, "event", "finite")


def models(shelf: Shelf, good: str) -> None:
    """Each is a good model with one thing wrong."""
    columns = [{"name": "a", "levels": None}, {"name": "b", "levels": None}]
    words = {
        "format": "unshuffle model", "schema": 1, "version": "0.1.0", "label": "y",
        "columns": columns, "fit_intercept": True, "freedom": 37, "facts": {}, "verdict": None,
        "has_as_given": False, "settings": {},
    }  # fmt: skip
    arrays = {"coef": np.ones(2), "intercept": np.ones(1), "covariance": np.eye(3)}

    def npz(compress=False, **changed):
        file = io.BytesIO()
        (np.savez_compressed if compress else np.savez)(file, **(arrays | changed))
        return file.getvalue()

    def put(name, json_text, content, *expected, data=good):
        path = shelf.folder / name
        if json_text is not None:
            shelf.put(f"{name}/model.json", json_text)
        if content is not None:
            shelf.put(f"{name}/model.npz", content)
        shelf.call(name, ("predict", str(path), data), name, *expected)

    def changed(**more):
        return json.dumps(words | more)

    text = json.dumps(words)
    put("model_absent", None, None, "no such")
    put("model_not_json", "{", npz(), "not JSON")
    put("model_latin1", "é".encode("latin-1"), npz(), "not JSON")
    put("model_deep", "[" * 100_000, npz(), "not JSON")
    put("model_other_json", '{"a": 1}', npz(), "not a model")
    put("model_list", "[1]", npz(), "not a model")
    put("model_newer", changed(schema=7, version="9.1"), npz(), "schema 7", "unshuffle>=9.1")
    put("model_no_schema", changed(schema="x"), npz(), "schema")
    put("model_no_columns", changed(columns=None), npz(), "not a complete model")
    put("model_bad_verdict", changed(verdict={"level": "fine", "reasons": []}), npz(), "fine")
    put("model_no_arrays", text, None, "missing")
    put("model_wrong_shape", text, npz(coef=np.ones(5)), "'coef'", "(5,)", "(2,)")
    put("model_big_shape", text, npz(covariance=np.eye(900)), "'covariance'", "bytes")
    put("model_extra", text, npz(other=np.ones(1)), "'other'")
    put("model_integers", text, npz(coef=np.ones(2, dtype=int)), "int64")
    put("model_objects", text, npz(coef=np.array([{}, {}], dtype=object)), "'coef'")
    put("model_compressed", text, npz(compress=True, coef=np.zeros(2)), "compressed")
    put("model_cut", text, npz()[:-30], "damaged")
    put("model_nan", text, npz(coef=np.array([1.0, np.nan])), "not finite")
    put("model_npz_text", text, "words", "damaged")
    put("model_declared", text, declared_npz(arrays), "'coef'", "(1000000000000,)")
    few = shelf.put("few.csv", "a\n1\n")
    other = "model_other_columns"
    shelf.put(f"{other}/model.json", text), shelf.put(f"{other}/model.npz", npz())
    shelf.call(other, ("predict", str(shelf.folder / other), few), "few.csv", "'b'")
    levels = [{"name": "a", "levels": ["u", "v"]}, {"name": "b", "levels": None}]
    kinds = shelf.put("kinds.csv", "a,b\nu,1\nq,2\n")
    name = "model_unknown_level"
    shelf.put(f"{name}/model.json", changed(columns=levels)), shelf.put(f"{name}/model.npz", npz())
    shelf.call(name, ("predict", str(shelf.folder / name), kinds), "line 3", "'a'", "'q'", "'u'")


def declared_npz(arrays) -> bytes:
    """An array whose header says that it has 10^12 entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, array)
            content = entry.getvalue()
            if name == "coef":
                shape = b"'shape': (1000000000000,), }"
                at = content.index(b"'shape'")
                content = content[:at] + shape + content[at + len(shape) :]
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def calls(shelf: Shelf, good: str) -> None:
    folder = shelf.folder
    call = shelf.call
    call("absent", ("fit", str(folder / "absent.csv"), *FIT), "absent.csv", "no such file")
    shelf.put("mine/thesis.txt", "years of work")
    call("folder", ("fit", str(folder / "mine"), *FIT), "no Parquet file", "folder", "mine")
    call("foreign", ("fit", good, *FIT, "--out", str(folder / "mine")), "thesis.txt", "lost")
    call("out is a file", ("fit", good, *FIT, "--out", str(folder / "typo.csv")), "not a folder")
    call("out is read", ("fit", good, *FIT, "--out", good), "never overwritten")
    call("same file", ("repair", good, *FIT, "--out", good), "never overwritten")
    call("other kind", ("repair", good, *FIT, "--out", str(folder / "b.parquet")), "same kind")
    call("no kind", ("predict", str(folder / "m"), good, "--out", str(folder / "b.doc")), ".csv")
    call("huge", ("simulate", "--rows", str(10**12), "--out", str(folder / "b.csv")), "GB")
    call("suspects", ("suspects", str(folder / "typo.csv"), *FIT), "line 12", "1.5x")
    call(
        "repair",
        ("repair", str(folder / "typo.csv"), *FIT, "--out", str(folder / "b.csv")),
        "line 12",
    )
    call("audit", ("audit", str(folder / "short_row.csv"), *FIT), "line 5")
    call("blocks", ("blocks", str(folder / "short_row.csv"), "-y", "y", "--by", "a"), "line 5")
    call("audit label", ("audit", str(folder / "constant_label.csv"), *FIT), "labels equal 2")
