"""Rows decided about in the report, and fitted again: in a real browser, by keyboard."""

import csv
import io
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from surface.browser import open_browser, requests_of

pytestmark = [pytest.mark.browser, pytest.mark.long]

EVIL = "<img src=x onerror='window.ran=1'></script><script>window.ran=1</script>"
N, GROUP = 4400, 400


def shell(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "unshuffle", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """4,400 samples on plates, half of which hold the label of another one of their batch."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    truth = 1.0 + X @ [2.0, -3.0, 1.5, 1.0] + 0.05 * rng.normal(size=N)
    batch, labels = np.arange(N) // GROUP, truth.copy()
    for first in range(0, N, GROUP):
        moved = first + rng.permutation(GROUP)[: GROUP // 2]
        labels[moved] = truth[np.roll(moved, 1)]
    path = tmp_path_factory.mktemp("review") / "samples.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", "note", "batch", "well", "a", "b", "c", "d", "dose"])
        for i in range(N):
            name = f"{EVIL} {i}" if i < 3 else f"S{i + 1}"
            well = f"P{i // 96}:{'ABCDEFGH'[i % 96 // 12]}{i % 12 + 1}"
            writer.writerow([name, EVIL, f"b{batch[i]}", well, *X[i].round(6), labels[i].round(6)])
    return path.parent


ARGUMENTS = ("--label", "dose", "--group", "batch", "--id", "sample", "--pairing", "mostly-right")


@pytest.fixture(scope="module")
def first(folder):
    more = ("--plate", "well", "--show", "note", "--out", folder / "first")
    done = shell("fit", folder / "samples.csv", *ARGUMENTS, *more)
    assert done.returncode == 0, done.stderr
    return folder / "first"


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        quiet = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": quiet})
        yield browser


@pytest.fixture
def page(browser, first):
    browser.get((first / "report.html").as_uri())
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    return browser


def press(page, keys):
    from selenium.webdriver import ActionChains

    ActionChains(page).send_keys(keys).perform()


def text(page, css):
    return page.execute_script(f"return document.querySelector({css!r}).textContent")


def test_two_thousand_suspects_are_below_a_megabyte_and_fetch_nothing(page, first):
    found = page.execute_script("return JSON.parse(document.getElementById('review-data').text)")
    assert len(found["rows"]) == 2000
    assert all(suspect for _, _, suspect, *_ in found["rows"])
    assert found["columns"] == ["note", "a", "b", "c", "d"]
    assert (first / "report.html").stat().st_size < 1_000_000
    assert requests_of(page) == []
    assert page.get_log("browser") == []


def test_names_never_run_and_are_shown_as_they_are(page):
    find = page.find_element("id", "find")
    page.execute_script("document.getElementById('kinds').value = 'all'")
    find.send_keys("onerror")
    assert EVIL in text(page, "#compare")
    assert page.execute_script("return window.ran === undefined")
    assert page.execute_script("return document.querySelectorAll('img').length") == 0


def test_marks_by_keyboard_undo_progress_download_and_refit(page, folder, tmp_path):
    page.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    seen = []
    for key in "wwwrwuw":
        seen.append((text(page, "#card-title"), key))
        press(page, key)
    assert text(page, "#review-count").endswith("decided: 1 right, 5 wrong, 1 unsure")
    press(page, "z")
    assert text(page, "#card-title") == seen[-1][0]
    assert text(page, "#review-count").endswith("decided: 1 right, 4 wrong, 1 unsure")
    assert "Taken back" in text(page, "#review-live")
    page.refresh()  # what was decided is still there, and the next open row is shown
    assert text(page, "#review-count").endswith("decided: 1 right, 4 wrong, 1 unsure")
    assert text(page, "#card-title") == seen[-1][0]
    press(page, "j")
    assert text(page, "#card-place").startswith("8 of")
    press(page, "k")
    press(page, "r")
    page.find_element("id", "download").click()
    path = tmp_path / "reviewed.csv"
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    decided = rows_of(path)
    kept = [*seen[:-1], (seen[-1][0], "r")]
    words = {"r": "right", "w": "wrong", "u": "unsure"}
    titles = {f"{line['id']} (row {line['row']})": line["decision"] for line in decided}
    assert titles == {title: words[key] for title, key in kept}

    more = ("--reviewed", path, "--out", folder / "second")
    done = shell("fit", folder / "samples.csv", *ARGUMENTS, "-x", "a,b,c,d", *more)
    assert done.returncode == 0, done.stderr
    assert "reviewed.csv: 2 rows keep their label, 4 do not, 1 are left open" in done.stderr
    again = {line["row"]: line for line in rows_of(folder / "second" / "matches.csv")}
    for line in decided:
        found = again[line["row"]]
        assert found["id"] == line["id"]
        if line["decision"] == "right":
            assert (float(found["match_probability"]), found["likely_partner"]) == (1, line["row"])
        if line["decision"] == "wrong":
            assert float(found["match_probability"]) < 1e-6
            assert found["likely_partner"] != line["row"]


def test_without_storage_decisions_stay_in_memory_and_the_page_says_so(page):
    closed = "Object.defineProperty(window, 'localStorage', {get() { throw Error('no') }})"
    added = page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": closed})
    page.refresh()
    page.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert page.get_log("browser") == []
    press(page, "wr")
    assert "1 right, 1 wrong" in text(page, "#review-count")
    assert page.find_element("id", "unkept").is_displayed()
    assert page.execute_script("return asTable().split('\\n').length") == 4
    page.execute_script("decisions.clear()")  # nothing is left that a question could be about


def test_wells_lead_to_their_rows(page):
    wells = page.execute_script("return document.querySelectorAll('.plate .well').length")
    assert 3000 < wells <= 4000
    row = page.execute_script(
        "const found = [...document.querySelectorAll('.plate .well:not([aria-disabled])')][5];"
        "found.click(); return found.title"
    )
    assert text(page, "#card-title") in row
    assert page.execute_script("return document.querySelectorAll('.well.here').length") == 1


def test_the_list_is_sorted_and_a_screen_reader_hears_what_happens(page):
    heads = page.find_elements("css selector", "#matches th button")
    names = [head.text for head in heads]
    heads[names.index("Likely partner")].click()
    cells = page.execute_script(
        "return [...document.querySelectorAll('#matches tbody tr')]"
        f".map((row) => row.cells[{names.index('Likely partner')}].textContent)"
    )
    numbers = [int(cell.split()[0]) for cell in cells]
    assert len(numbers) == 100 and numbers == sorted(numbers)
    page.find_element("css selector", "#matches tbody button").click()
    before = text(page, "#card-title")
    press(page, "\ue015")  # the arrow down, on a row
    assert text(page, "#card-title") != before
    assert text(page, "#review-live").startswith(text(page, "#card-title"))
    pressed = page.execute_script("return document.activeElement.dataset.number")
    assert pressed == page.execute_script("return String(current.number)")
    live = page.find_element("id", "review-live")
    assert live.get_attribute("aria-live") == "polite"
    meter = page.find_element("id", "review-meter")
    assert meter.get_attribute("aria-valuenow") == "0"
    press(page, "u")
    assert meter.get_attribute("aria-valuenow") == "1"
    page.find_element("id", "keys").click()
    press(page, "u")
    assert meter.get_attribute("aria-valuenow") == "1"  # keys can be turned off


def test_a_file_of_decisions_can_be_taken_up_again(page, tmp_path):
    found = page.execute_script("return entries.slice(0, 3).map((e) => [e.row, e.name, e.label])")
    path = tmp_path / "reviewed.csv"
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["row", "id", "label", "decision"])
    writer.writerow([*found[0], "wrong"])
    writer.writerow([*found[1], "right"])
    writer.writerow([found[2][0], found[2][1], found[2][2] + 1, "right"])  # not what it was
    path.write_text(table.getvalue())
    page.find_element("id", "load").send_keys(str(path))
    for _ in range(100):
        if "taken from" in text(page, "#review-count"):
            break
        time.sleep(0.05)
    kept = page.execute_script("return [...decisions]")
    assert kept == [[found[0][0], "wrong"], [found[1][0], "right"]]


def test_it_works_without_scripts_as_a_list(first):
    content = (first / "report.html").read_text(encoding="utf-8")
    with open_browser() as browser:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.get((first / "report.html").as_uri())
        rows = browser.find_elements("css selector", "#matches tbody tr")
        assert len(rows) == 100
        assert rows[0].is_displayed()
        assert not browser.find_element("id", "card").is_displayed()
        assert "Deciding needs JavaScript" in browser.find_element("id", "matches-section").text
    assert json.loads(content.split('id="review-data">')[1].split("</script>")[0])
