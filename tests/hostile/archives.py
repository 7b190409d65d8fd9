"""Workbooks and compressed tables that are damaged, or that would fill memory; options as hostile."""

import bz2
import io
import struct
import zipfile

import zstandard

from hostile.cases import FIT, GOOD, Shelf, flow_file
from hostile.large_parquet import written

HEADER, MANY = b"zone,a,b,y\n", (b"z1,1," + b" " * 100_000 + b"2,3\n") * 21
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
BOOK = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>'
RELATIONS = (
    f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/worksheet" Target="s.xml"/>'
    f'<Relationship Id="r2" Type="{OFFICE}/sharedStrings" Target="t.xml"/>'
    f'<Relationship Id="r3" Type="{OFFICE}/styles" Target="/xl/y.xml"/></Relationships>'
)
STYLES = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'


def make(shelf: Shelf) -> None:
    for kind in (zstd, bzip2, sheets, archives, options):
        kind(shelf)


def zstd(shelf: Shelf) -> None:
    def put(name, content, *words):
        shelf.fit(name, content, *words)

    whole = zstandard.ZstdCompressor(write_checksum=True).compress(GOOD.encode())
    put("cut.csv.zst", whole[: len(whole) // 2], "zstd", "cut short")
    put("second_cut.csv.zst", whole + whole[:-9], "zstd", "cut short")
    put("after.csv.zst", whole + b"more bytes", "zstd", "damaged")
    put("checksum.csv.zst", whole[:-1] + bytes([whole[-1] ^ 255]), "zstd", "damaged")
    put("plain.csv.zst", GOOD, "not compressed")
    put(
        "bomb.csv.zst",
        zstandard.compress(HEADER) + zstandard.compress(MANY) * 100,
        "grows from",
        "200.0 MB",
        "unzstd",
    )
    # A kilobyte of such blocks is 32 MB of blanks; the whole file would be 300 GB.
    blanks = zstd_frame(
        0x38, [(b"zone,a,y\nz,1,2\n", 0), (b" ", 131_072)] + [(b" ", 131_072)] * 2_400_000
    )
    put("blanks.csv.zst", blanks, "line 3", "longer than")
    wide = zstd_frame((31 - 10) << 3, [(b"zone,a,y\n", 0)])
    put("window.csv.zst", wide, "67.1 MB to decompress", "unzstd")
    put("empty_frames.csv.zst", zstandard.compress(b"") * 1_000_000, "is empty")
    put("zeros.csv.zst", zstandard.compress(bytes(50_000_000)), "NUL")
    put("parquet.parquet.zst", whole, ".zst", "CSV")


def zstd_frame(window: int, blocks: list[tuple[bytes, int]]) -> bytes:
    """A frame by hand: text as it stands, or one letter so many times."""
    out = [b"\x28\xb5\x2f\xfd\x00", bytes([window])]
    for k, (text, times) in enumerate(blocks):
        last = k == len(blocks) - 1
        header = (times or len(text)) << 3 | (2 if times else 0) | last
        out += [struct.pack("<I", header)[:3], text]
    return b"".join(out)


def bzip2(shelf: Shelf) -> None:
    whole = bz2.compress(GOOD.encode())
    shelf.fit("cut.csv.bz2", whole[: len(whole) // 2], "bzip2", "cut short")
    shelf.fit("after.csv.bz2", whole + b"more bytes", "bzip2", "damaged")
    shelf.fit("second_cut.csv.bz2", whole + whole[:-4], "bzip2", "cut short")
    shelf.fit("plain.csv.bz2", GOOD, "not compressed")
    shelf.fit("changed.csv.bz2", whole[:40] + bytes(4) + whole[44:], "bzip2", "damaged")
    shelf.fit(
        "bomb.csv.bz2",
        bz2.compress(HEADER) + bz2.compress(MANY) * 100,
        "grows from",
        "200.0 MB",
        "bunzip2",
    )
    shelf.fit("empty_streams.csv.bz2", bz2.compress(b"") * 700_000, "is empty")


def sheet_xml(rows: str | bytes) -> bytes:
    rows = rows.encode() if isinstance(rows, str) else rows
    return b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (MAIN.encode(), rows)


def row(*cells: object) -> str:
    """A row of numbers and texts in place."""
    return "<row>" + "".join(
        f"<c><v>{cell}</v></c>" if not isinstance(cell, str)
        else f'<c t="inlineStr"><is><t>{cell}</t></is></c>' if not cell.startswith("<") else cell
        for cell in cells
    ) + "</row>"  # fmt: skip


HEAD = row("zone", "a", "y")
ROWS = "".join(row(f"z{k % 5}", k % 7, k % 11) for k in range(30))


def workbook(sheet: bytes, strings: bytes = b"<sst/>", more=(), **kept) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        parts = {
            "xl/workbook.xml": BOOK, "xl/_rels/workbook.xml.rels": RELATIONS, "xl/t.xml": strings,
            "xl/y.xml": STYLES, "xl/s.xml": sheet, **kept,
        }  # fmt: skip
        for name, content in parts.items():
            if content is not None:
                archive.writestr(name, content)
        for name in more:
            archive.writestr(name, b"")
    return file.getvalue()


def sheets(shelf: Shelf) -> None:
    """Workbooks whose first sheet is wrong."""

    def put(name, rows, *words, strings=b"<sst/>"):
        content = rows if isinstance(rows, bytes) else sheet_xml(rows)
        shelf.fit(name, workbook(content, strings), *words)

    put("no_header.xlsx", "", "row 1 is blank")
    put("header_below.xlsx", '<row r="3"><c><v>1</v></c></row>', "row 1 is blank")
    put("header_only.xlsx", HEAD, "no rows")
    put("numbers.xlsx", row(1, 2, 3) + ROWS, "row 1", "header")
    put("twice.xlsx", row("zone", "a", "a", "y") + ROWS, "row 1", "'a'", "column 2")
    put("unnamed.xlsx", row("zone", "<c/>", "y") + ROWS, "row 1", "column 2", "no name")
    put("typo.xlsx", HEAD + ROWS + row("z", "1.5x", 2), "row 32", "'a'", "1.5x", "not a number")
    put("missing.xlsx", HEAD + ROWS + row("z", "<c/>", 2), "row 32", "'a'", "missing")
    put("not_available.xlsx", HEAD + ROWS + row("z", '<c t="e"><v>#N/A</v></c>', 2), "missing")
    put(
        "division.xlsx",
        HEAD + ROWS + row("z", '<c t="e"><v>#DIV/0!</v></c>', 2),
        "row 32",
        "#DIV/0!",
    )
    put("error_group.xlsx", HEAD + ROWS + row('<c t="e"><v>#REF!</v></c>', 1, 2), "'zone'", "#REF!")
    put("date.xlsx", HEAD + row("z", '<c s="1"><v>45000</v></c>', 2), "row 2", "'a'", "date")
    put("iso_date.xlsx", HEAD + row("z", '<c t="d"><v>2020-01-01</v></c>', 2), "row 2", "date")
    put("long_row.xlsx", HEAD + ROWS + row("z", 1, 2, 3), "row 32", "column D", "no name")
    put("blank_inside.xlsx", HEAD + row("z", 1, 2) + "<row/>" + ROWS, "row 3", "blank")
    put("far_row.xlsx", HEAD + ROWS + '<row r="999999999"><c><v>1</v></c></row>', "row 32", "blank")
    put("endless_row.xlsx", HEAD + '<row r="1' + "0" * 99 + '"/>', "out of order")
    put("backwards.xlsx", HEAD + ROWS + '<row r="3"><c><v>1</v></c></row>', "out of order", "'3'")
    put("two_cells.xlsx", HEAD + '<row><c r="B2"/><c r="B2"/></row>', "row 2", "out of order")
    put("no_column.xlsx", HEAD + '<row><c r="2"/></row>', "row 2", "out of order")
    put("far_column.xlsx", HEAD + '<row><c r="ZZZZ2"/></row>', "row 2", "out of order")
    put("cells_in_a_row.xlsx", HEAD + "<row>" + "<c/>" * 3_000_000 + "</row>", "column 18279")
    put("kind.xlsx", HEAD + row("z", '<c t="x"><v>1</v></c>', 2), "row 2", "unknown kind")
    put("no_text.xlsx", HEAD + row("z", '<c t="s"><v>7</v></c>', 2), "row 2", "'7'", "not there")
    put("long_cell.xlsx", HEAD + row("z", "x" * 200_000, 2), "131,072 characters")
    put("prefixes.xlsx", HEAD + '<x:row xmlns:x="u"/>', "two vocabularies")
    put("tags.xlsx", HEAD + "<x/>" * 6_000_000, "10,000,000 tags")
    put("long_tag.xlsx", HEAD + '<row x="' + "1" * 6_000_000 + '"/>', "tag of more than")
    put("sheet_cut.xlsx", sheet_xml(HEAD + ROWS)[:-40], "damaged")
    put(
        "entities.xlsx", b'<!DOCTYPE x [<!ENTITY a "b">]>' + sheet_xml(HEAD + ROWS), "document type"
    )
    texts = (b"<si><t>%d%s</t></si>" % (k, b"x" * 1600) for k in range(70_000))
    many = b"<sst>" + b"".join(texts) + b"</sst>"
    put("texts.xlsx", HEAD + ROWS, "110.0 MB", "with its texts", strings=many)
    identifiers = "".join(row(f"z{k % 5}", f"n{k}", k % 7) for k in range(40))
    put("identifier.xlsx", HEAD + identifiers, "'a'", "another name in every row", "--exclude")


def archives(shelf: Shelf) -> None:
    """Workbooks whose archive is wrong."""
    good = sheet_xml(HEAD + ROWS)
    bomb = workbook(sheet_xml(HEAD.encode() + b" " * 205_000_000))
    shelf.fit("bomb.xlsx", bomb, "grows from", "200.0 MB", "CSV")
    shelf.fit("lie.xlsx", with_size(bomb, 500), "no workbook")
    shelf.fit("declared.xlsx", with_size(workbook(good), 2**32 - 2), "grows from", "200.0 MB")
    shelf.fit("files.xlsx", workbook(good, more=map(str, range(10_100))), "10,105 files")
    whole = workbook(good)
    shelf.fit("cut.xlsx", whole[: len(whole) // 2], "no workbook", "CSV")
    shelf.fit("empty_zip.xlsx", b"PK\x05\x06" + bytes(18), "no workbook", "workbook.xml")
    shelf.fit("no_sheet.xlsx", workbook(good, **{"xl/workbook.xml": "<workbook/>"}), "no sheet")
    shelf.fit("lost_sheet.xlsx", workbook(None), "'xl/s.xml'")
    shelf.fit("old.xlsx", b"\xd0\xcf\x11\xe0" + bytes(999), "old Excel", "password", "CSV")
    flagged = bytearray(whole)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = flagged.find(mark)
        while at >= 0:
            flagged[at + place] |= 1
            at = flagged.find(mark, at + 4)
    shelf.fit("password.xlsx", bytes(flagged), "password")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
    shelf.fit("lzma.xlsx", file.getvalue(), "compressed in a way")
    shelf.call("repair a workbook", ("repair", shelf.put("good.xlsx", whole), *FIT, "--out",
               str(shelf.folder / "b.csv")), "same kind")  # fmt: skip
    shelf.call("repair to parquet", ("repair", str(shelf.folder / "good.xlsx"), *FIT, "--out",
               str(shelf.folder / "b.parquet")), "same kind")  # fmt: skip


def with_size(content: bytes, declared: int) -> bytes:
    """Change the size that the directory of an archive declares for its last file."""
    at = content.rfind(b"PK\x01\x02") + 24
    return content[:at] + struct.pack("<I", declared) + content[at + 4 :]


def options(shelf: Shelf) -> None:
    """Columns and rows that are asked for and cannot be had."""
    good, call = shelf.put("good.csv", GOOD), shelf.call
    fit = ("fit", good, *FIT)
    call("exclude absent", (*fit, "--exclude", "c"), "'c'", "column to leave out")
    call("exclude label", (*fit, "--exclude", "y"), "'y'", "both label and left out", "--exclude")
    call("exclude feature", (*fit, "-x", "a", "--exclude", "a"), "'a'", "both feature")
    call("exclude all", (*fit, "--exclude", "a,b"), "no column is left")
    call("kmers alone", (*fit, "--kmers", "a"), "COLUMN:SHORTEST-LONGEST", "'a'")
    call("kmers backwards", (*fit, "--kmers", "a:3-1"), "k_min=3", "k_max=1")
    call("kmers many", (*fit, "--kmers", "a:1-99"), "10,000,000 columns")
    call("kmers twice", (*fit, "--kmers", "a:1,a:2"), "'a'", "twice")
    call("kmers of numbers", (*fit, "--kmers", "a:1-2"), "line 2", "'a'", "'0'", "ACGT")
    call("kmers absent", (*fit, "--kmers", "s:1-2"), "'s'", "feature")
    sequences = "s,y\n" + "".join("ACGT" * 20 + f",{k % 5}\n" for k in range(10_000))
    path = shelf.put("sequences.csv", sequences)
    call("kmers wide", ("fit", path, "-y", "y", "--kmers", "s:8"), "65,536 words", "shorter")
    gaps = "zone,a,b,y\n" + "z,NA,1,2\n" * 20
    path = shelf.put("gaps.csv", gaps)
    call("all missing", ("fit", path, *FIT, "--drop-missing"), "every row misses")
    call("missing", ("fit", path, *FIT), "line 2", "'a'", "--drop-missing")
    call("missing in suspects", ("suspects", path, *FIT), "line 2", "together with its own label")
    call("missing of two", ("fit", good, good, "--by", "zone", "--drop-missing"), "--drop-missing")
    checkpoint = ("--checkpoint", str(shelf.folder / "c.npz"), "--pairing", "lost")
    rows = shelf.put(
        "rows.parquet", written({"a": [1.0, 2.0] * 20, "y": [1.0, 3.0, 2.0, 5.0] * 10})
    )
    for option in (("--robust",), ("--drop-missing",), ("--kmers", "a:1")):
        title = f"{option[0]} in passes"
        call(title, ("fit", rows, "-y", "y", *checkpoint, *option), option[0], "in passes")
    call("standard input twice", ("fit", "-", "-", "--by", "zone"), "standard input", "once")
    call("nothing comes", ("fit", "-", *FIT), "standard input", "is empty")
    one = shelf.put("one.fcs", flow_file())
    other = shelf.put("other.fcs", flow_file(names=("FSC-A", "SSC-B", "GFP-A")))
    call("channels", ("fit", one, other, "-y", "GFP-A", "--by", "file"), "'SSC-", "other.fcs")
    call("file twice", ("fit", one, one, "-y", "GFP-A", "--by", "file"), "named twice")
    call("fcs and csv", ("fit", one, good, "-y", "GFP-A"), "not a Parquet file")
    secrets = "zone,a,s\n" + "".join(f"z{k % 4},{k},s{k % 30}\n" for k in range(90))
    path = shelf.put("secrets.csv", secrets)
    call("many secrets", ("audit", path, "-y", "s", "-g", "zone"), "30 different names", "merge")
    shelf.put("theirs/notes.txt", "years of work")
    theirs = str(shelf.folder / "theirs")
    call("audit into", ("audit", good, *FIT, "--out", theirs), "notes.txt", "lost")
