"""Workbooks against openpyxl, which writes and reads them by other code."""

import datetime
import io
import zipfile

import numpy as np
import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from unshuffle.exceptions import TableError
from unshuffle.io.tables import open_table

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(60, 2)) * 10.0 ** RNG.integers(-12, 12, size=(60, 2))


def save(path, rows, *others, edit=lambda book: None):
    book = openpyxl.Workbook()
    book.active.title = "Data"
    for row in rows:
        book.active.append(row)
    for title in others:
        book.create_sheet(title)
    edit(book)
    book.save(path)
    return path


@pytest.fixture
def book(tmp_path):
    rows = [
        [f"z{k % 7}", *NUMBERS[k].tolist(), k, bool(k % 2), f"<&> \u00e9 {k % 3}"]
        for k in range(60)
    ]
    return save(tmp_path / "t.xlsx", [["zone", " a", "b ", "code", "flag", "kind"], *rows])


def as_openpyxl_reads(path):
    book = openpyxl.load_workbook(path, data_only=True)
    rows = list(book.worksheets[0].iter_rows(values_only=True))
    return dict(zip(map(str.strip, rows[0]), zip(*rows[1:], strict=True), strict=True))


def test_columns_are_those_that_openpyxl_reads(book):
    expected = as_openpyxl_reads(book)
    source = open_table(book)
    assert source.names == list(expected)
    table = source.read(source.names, ["zone", "code"], ["a"])
    for name in ("a", "b", "flag"):
        np.testing.assert_array_equal(table.columns[name], np.array(expected[name], dtype=float))
    assert table.columns["zone"].tolist() == list(expected["zone"])
    assert table.columns["kind"].tolist() == list(expected["kind"])
    assert table.columns["code"].tolist() == [str(code) for code in expected["code"]]
    assert table.remarks == ()
    assert "row 7" in str(table.error("is wrong", 5, "a"))


def rewritten(path, change):
    """The same workbook with its sheet changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            is_sheet = entry.filename.endswith("sheet1.xml")
            new.writestr(entry.filename, change(content) if is_sheet else content)
    path.write_bytes(out.getvalue())


def test_prefixes_of_names_change_nothing(book):
    before = open_table(book).read(["a", "kind"])

    def with_prefix(xml):
        xml = xml.replace(b"</", b"</x:").replace(b"<", b"<x:").replace(b"<x:/x:", b"</x:")
        return xml.replace(b"<x:?", b"<?").replace(b"xmlns=", b"xmlns:x=")

    rewritten(book, with_prefix)
    after = open_table(book).read(["a", "kind"])
    np.testing.assert_array_equal(before.columns["a"], after.columns["a"])
    assert before.columns["kind"].tolist() == after.columns["kind"].tolist()


def test_first_visible_sheet_is_read_and_named(tmp_path):
    def hide(book):
        book.worksheets[0].sheet_state = "hidden"
        book.worksheets[1].append(["a", "y"])
        book.worksheets[1].append([1, 2])

    path = save(tmp_path / "t.xlsx", [["x"], [3]], "Second", "Third", edit=hide)
    table = open_table(path).read(["a", "y"])
    assert table.columns["y"].tolist() == [2.0]
    assert "3 sheets" in table.remarks[0]
    assert "'Second'" in table.remarks[0]


def test_formulas_have_the_values_that_were_stored(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "y"], [1, "=A2*2"]])
    with pytest.raises(TableError, match=r"row 2, column 'y': the value is missing"):
        open_table(path).read(["a", "y"], (), ["y"])
    rewritten(path, lambda xml: xml.replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>"))
    assert open_table(path).read(["y"]).columns["y"].tolist() == [2.0]


def test_dates_are_refused_whatever_their_format(tmp_path):
    day = datetime.date(2020, 1, 2)
    for k, style in enumerate([None, "[h]:mm", 'dd/mm "in" yyyy']):

        def edit(book, style=style):
            if style:
                book.active["A2"].number_format = style

        path = save(tmp_path / f"{k}.xlsx", [["a", "y"], [day, 1]], edit=edit)
        with pytest.raises(TableError, match=r"row 2, column 'a': holds a date"):
            open_table(path).read(["a", "y"])
    money = save(
        tmp_path / "m.xlsx", [["a"], [5]],
        edit=lambda book: setattr(book.active["A2"], "number_format", '[Red]0.00 "days"'),
    )  # fmt: skip
    assert open_table(money).read(["a"]).columns["a"].tolist() == [5.0]


def test_rows_and_columns_without_values_at_the_ends_are_none(tmp_path):
    def edit(book):
        book.active["F1"].font = book.active["B9"].font = Font(bold=True)

    path = save(tmp_path / "t.xlsx", [["a", "y"], [1, 2], [3, 4]], edit=edit)
    assert open_table(path).read(["a", "y"]).n_rows == 2


def test_rows_with_gaps_can_be_left_out(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "y"], [1, 2], [None, 3], [4, 5], ["NA", 6], [7, 8]])
    table = open_table(path).read(["a", "y"], (), ["y"], drop_missing=True)
    assert table.columns["a"].tolist() == [1, 4, 7]
    assert table.rows.tolist() == [0, 2, 4]
    assert table.missing.by_column == {"a": 2}
    assert "row 6" in str(table.error("is wrong", 2, "a"))


def test_text_of_several_fonts_is_one_without_how_it_is_spoken(tmp_path):
    text = CellRichText("no", TextBlock(InlineFont(b=True), "rth"))
    path = save(tmp_path / "t.xlsx", [["kind", "y"], [text, 1], ["south", 2]])
    rewritten(path, lambda xml: xml.replace(b"</is>", b"<rPh><t>NORTH</t></rPh></is>"))
    assert open_table(path).read(["kind"], ["kind"]).columns["kind"].tolist() == ["north", "south"]
