"""Text and FCS files below 10 MB that would take far more memory, or minutes."""

import gzip
import io

import numpy as np

from hostile.cases import FIT, Shelf

FACE = "\U0001f600"  # one such letter makes four bytes of every letter beside it


def make(shelf: Shelf) -> None:
    for kind in (compressed, plain, flows):
        kind(shelf)


def zipped(head: str, *blocks: tuple[str, int]) -> bytes:
    """A gzip file of blocks that are repeated."""
    file = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, file, 0) as stream:
        stream.write(head.encode())
        for text, times in blocks:
            for _ in range(times):
                stream.write(text.encode())
    return file.getvalue()


def compressed(shelf: Shelf) -> None:
    fit = shelf.fit
    head = "zone,a,b,y\n"
    cells = zipped("a,b,y\n", ("1,1,2\n" * 10_000, 800))
    fit("cells.csv.gz", cells, "110.0 MB", "gunzip", options=FIT[:2])
    path = str(shelf.folder / "cells.csv.gz")
    shelf.call("suspects cells", ("suspects", path, *FIT[:2]), "110.0 MB", "gunzip")
    rows = zipped(head, (("z,1," + " " * 100_000 + "2,3\n") * 10, 220))
    fit("long_cells.csv.gz", rows, "grows from", "200.0 MB", "gunzip")
    names = zipped(head, *((FACE + "a" * 100_000 + f"{k},1,2,3\n", 1) for k in range(900)))
    fit("long_names.csv.gz", names, "'zone'", "with its names")
    faces = zipped(head, *((FACE * 30_000 + f"{k},1,2,3\n", 1) for k in range(1300)))
    fit("faces.csv.gz", faces, "'zone'", "with its names")
    row = '"' + FACE + "a" * 50_000 + "\n" + "b" * 50_000 + '",'
    fit("endless_row.csv.gz", zipped("zone,a,y\n", (row, 300)), "line 1", "quote left open")
    some = "".join(f"{k:x}-,1,2\n" for k in range(100_000))
    blocks = ((some.replace("-", letter), 1) for letter in "abcdefgh")
    fit("groups.csv.gz", zipped("zone,a,y\n", *blocks), "'zone'", "with its names", "gunzip")
    unread = zipped("zone,a," + "".join(f"c{j}," for j in range(200)) + "y\n",
                    (("z,1," + "1," * 200 + "3\n") * 1000, 510))  # fmt: skip
    fit("unread.csv.gz", unread, "grows from", options=(*FIT, "-x", "a"))
    fit("blank_lines.csv.gz", zipped(head, ("\n" * 100_000, 2100)), "line 2")
    fit("header.csv.gz", zipped("", ("a," * 100_000, 100)), "line 1", "longer than")
    fit("commas.csv.gz", zipped("", ("," * 3_000_000 + "\n", 1)), "3,000,001 columns")
    known = zipped("a,k,y\n", ("1,true,2\n" * 10_000, 500))
    fit("known.csv.gz", known, "110.0 MB", options=("-y", "y", "--known", "k"))
    shelf.put("two.csv", "zone,y\nz,1\n")
    two = ("fit", path, str(shelf.folder / "two.csv"), "--by", "zone")
    shelf.call("two tables", two, "cells.csv.gz", "'zone'")


def plain(shelf: Shelf) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 100, 700_000)
    table = "k,a,y\n" + "".join(f"c{kind},1,{kind % 9}\n" for kind in kinds)
    shelf.fit("categories.csv", table, "'k' has 100 categories", "merge", options=FIT[:2])
    wide = ",".join(f"c{j}" for j in range(49_999)) + ",y\n" + ("1," * 49_999 + "2\n") * 30
    shelf.fit("wide.csv", wide, "labels equal 2", options=FIT[:2])
    shelf.call(
        "wide.csv without label", ("fit", str(shelf.folder / "wide.csv"), "-y", "d"), "c11, ..."
    )
    more = ("fit", str(shelf.folder / "wide.csv"), "-y", "y", "-x", "c1,c2,nowhere")
    shelf.call("wide.csv without feature", more, "'nowhere'")
    names = ",".join("n" * 100_000 + str(j) for j in range(30)) + ",y\n"
    shelf.fit("long_names.csv", names + ("1," * 30 + "2\n") * 9, "nnn...", options=("-y", "n" * 99))
    shelf.fit("long_label.csv", names + ("1," * 30 + "2\n") * 9, "'x'", options=("-y", "x"))
    quotes = 'zone,a,y\nz,"' + "\n" * 9_000_000 + '",1\n'
    shelf.fit("quoted_lines.csv", quotes, "line 2", "field of more than")
    distinct = "zone,a,y\n" + "".join(f"{k:x},1,{k % 7}\n" for k in range(900_000)) + "z,x,1\n"
    shelf.fit("distinct.csv", distinct, "110.0 MB", "names")
    last = "a,y\n" + "1,2\n" * 2_400_000 + "1,x\n"
    shelf.fit("last_line.csv", last, "line 2400002", "'x'", options=FIT[:2])


def flow(widths, n_events, *, more=b"", kind="I", data=None, ranges=None, edit=lambda text: text):
    """An FCS file of whole numbers."""
    order = [(f"c{j}", f"<u{width // 8}") for j, width in enumerate(widths)]
    if data is None:
        events = np.zeros(n_events, np.dtype(order))
        for name, _ in order:
            events[name] = np.arange(n_events) % 251
        data = events.tobytes()
    words = {
        "$BEGINANALYSIS": 0, "$ENDANALYSIS": 0, "$BEGINSTEXT": 0, "$ENDSTEXT": 0,
        "$BYTEORD": "1,2,3,4", "$DATATYPE": kind, "$MODE": "L", "$NEXTDATA": 0,
        "$PAR": len(widths), "$TOT": n_events,
    }  # fmt: skip
    for j, width in enumerate(widths):
        highest = 2**width if ranges is None else ranges[j]
        words |= {f"$P{j + 1}B": width, f"$P{j + 1}E": "0,0", f"$P{j + 1}N": f"c{j}"}
        words |= {f"$P{j + 1}R": highest}
    text = b""
    for _ in range(2):  # the second time with the places that the first one tells
        start = 58 + len(text)
        places = {"$BEGINDATA": f"{start:08d}", "$ENDDATA": f"{start + len(data) - 1:08d}"}
        pairs = (f"/{key}/{value}" for key, value in (places | words).items())
        text = edit("".join(pairs).encode() + b"/") + more
    fields = (58, start - 1, start, start + len(data) - 1, 0, 0)
    return b"FCS3.1    " + b"".join(b"%8d" % field for field in fields) + text + data


def flows(shelf: Shelf) -> None:
    def put(name, content, *words, options=("-y", "c1", "-x", "c0")):
        shelf.fit(name, content, *words, options=options)

    keywords = b"".join(b"%x/1/" % k for k in range(900_000))
    put("keywords.fcs", flow([8, 8], 20, more=keywords), "TEXT", "2.1 MB")
    small = flow([8, 8], 20)
    analysis = small[:42] + b"%8d%8d" % (len(small), len(small) + 5_000_000) + small[58:]
    put("analysis.fcs", analysis + b"/" + keywords[:5_000_001], "ANALYSIS", "2.1 MB")
    hidden = flow(
        [8, 8],
        20,
        edit=lambda text: text.replace(b"$BEGINANALYSIS/0", b"BEGIN$ANALYSIS/1").replace(
            b"$ENDANALYSIS/0", b"E$NDANALYSIS/4000000"
        ),
    )
    put("hidden.fcs", hidden + b"/" + keywords[:4_500_000], "ANALYSIS", "2.1 MB")
    put("underscore.fcs", flow([8, 8], 20, edit=lambda t: t.replace(b"TOT/20", b"TOT/2_0")), "TOT")
    put("negative.fcs", flow([8, 8], 20, edit=lambda t: t.replace(b"TOT/20", b"TOT/-20")), "TOT")
    put("digits.fcs", flow([8, 8], 20, edit=lambda t: t.replace(b"TOT/20", b"TOT/" + b"9" * 5000)),
        "TOT")  # fmt: skip
    put("many.fcs", flow([8, 8], 20, edit=lambda t: t.replace(b"PAR/2", b"PAR/99999")), "99,999")
    put("odd.fcs", flow([8, 16], 20, edit=lambda t: t.replace(b"P2B/16", b"P2B/24")), "24")
    put("odd_end.fcs", flow([8, 16], 20, data=bytes(61)), "61 bytes")
    mixed = flow([8, 16, 8], 2_400_000)
    put("mixed.fcs", mixed, "neither true", options=("-y", "c1", "-x", "c0", "--known", "c2"))
    masked = flow([8, 8, 8], 3_300_000, ranges=[100, 100, 100])
    put("masked.fcs", masked, "neither true", options=("-y", "c1", "-x", "c0", "--known", "c2"))
