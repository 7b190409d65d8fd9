"""`unshuffle audit --out`: a page and two tables about what is at risk."""

import json

import numpy as np
import pytest

from surface.shell import call, columns_of, shell, write

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 120))
    y = a + 2 * b + 0.02 * rng.normal(size=120)
    village = [f"<script>v{k // 8}</script>" for k in range(119)] + ["alone"]
    ill = np.where(y > 1, "<b>yes</b>", "no")
    path = tmp_path_factory.mktemp("people") / "p.csv"
    name = [f"<i>p{k}</i>" for k in range(120)]
    return write(path, name=name, village=village, a=a, b=b, salary=y, ill=ill), y


@pytest.fixture(scope="module")
def audited(people, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "out"
    options = ("-y", "salary", "-g", "village", "--id", "name", "--exclude", "ill", "--shuffles", 2)
    return shell("audit", people[0], *options, "--out", out), out


def test_page_and_tables_are_written(audited, people):
    done, out = audited
    assert done.returncode == 0, done.stderr
    assert "In short: unsafe: the attack names" in done.stdout
    assert "1 row is hidden by no shuffle" in " ".join(done.stdout.split())
    assert {path.name for path in out.iterdir()} == {"report.html", "zones.csv", "rows.csv"}
    zones, rows = columns_of(out / "zones.csv"), columns_of(out / "rows.csv")
    assert sum(map(int, zones["rows"])) == 120
    exposed = [float(e) * int(n) for e, n in zip(zones["exposed"], zones["rows"], strict=True)]
    assert exposed == sorted(exposed, reverse=True)
    assert dict(zip(zones["group"], zones["hidden_by_no_shuffle"], strict=True))["alone"] == "yes"
    numbers = np.array(rows["row"], dtype=int) - 1
    assert 119 in numbers
    assert len(numbers) > 60
    np.testing.assert_array_equal(np.array(rows["label"], float), people[1][numbers])
    assert rows["id"] == [f"<i>p{k}</i>" for k in numbers]
    assert "the attack finds" in done.stdout
    assert "of the labels within 0." in " ".join(done.stdout.split())
    assert all(float(share) >= 0.5 for share in rows["exposed"])


def test_the_page_says_how_safe_with_numbers_and_runs_nothing(audited):
    page = (audited[1] / "report.html").read_text(encoding="utf-8")
    first = {name: values[0] for name, values in columns_of(audited[1] / "rows.csv").items()}
    assert f"{float(first['label']):.10g}" in page
    assert f"{float(first['exposed']):.0%}" in page
    for words in (
        "Unsafe",
        "How safe is the release?",
        "at risk from 1%, unsafe from 10%",
        "alone",
    ):
        assert words in page
    assert "&lt;script&gt;v" in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert len(page) < 200_000


def test_an_audit_replaces_its_own_files_and_no_others(people, audited, tmp_path):
    options = ("-y", "salary", "-x", "a,b", "-g", "village", "--shuffles", 2)
    out = audited[1]
    assert call("audit", people[0], *options, "--out", out).exit_code == 0
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine" / "rows.csv", row=[1])
    done = call("audit", people[0], *options, "--out", tmp_path / "mine")
    assert done.exit_code == 2
    assert "rows.csv: exists and is not a list of rows at risk of unshuffle" in done.stderr


def test_secrets_of_categories_by_text_or_declared(people, tmp_path):
    options = ("-g", "village", "--shuffles", 2, "--json")
    text = json.loads(call("audit", people[0], "-y", "ill", "-x", "a,b", *options).stdout)
    assert text["categories"] == ["<b>yes</b>", "no"]
    table = columns_of(people[0])
    codes = [10 if value == "no" else 20 for value in table["ill"]]
    coded = write(tmp_path / "c.csv", **{n: table[n] for n in ("village", "a", "b")}, ill=codes)
    declared = ("-y", "ill", "--categorical", "ill", *options)
    found = json.loads(call("audit", coded, *declared).stdout)
    assert found["categories"] == ["10", "20"]
    assert found["found"]["value"] == pytest.approx(text["found"]["value"], abs=0.05)
    assert found["level"] in {"at risk", "unsafe"}
    assert [reason["level"] for reason in found["reasons"]][1] == "at risk"
    plain = json.loads(call("audit", coded, "-y", "ill", *options).stdout)
    assert plain["categories"] == []


def test_corners_by_the_command(people, tmp_path):
    table = columns_of(people[0])
    columns = {n: table[n] for n in ("a", "b", "salary")}
    path = write(tmp_path / "t.csv", **columns, who=[f"p{k}" for k in range(120)])
    done = call("audit", path, "-y", "salary", "-g", "who", "--shuffles", 2)
    assert "In short: unsafe: every row is alone" in " ".join(done.stdout.split())
    done = call("audit", path, "-y", "salary", "--exclude", "who", "--shuffles", 2)
    assert "120 rows in one group;" in done.stdout
    assert "inside groups" not in done.stdout
