"""The report in a real browser: no errors, sortable, filterable, legible, and fit for a phone."""

import numpy as np
import pytest
from selenium.webdriver.support.ui import WebDriverWait

from surface.browser import open_browser, requests_of
from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.show.report import DataFacts, write_report

pytestmark = pytest.mark.browser

# WCAG 2.1: luminance of the text's colour and of what lies behind it, for every element that
# holds text of its own. Colours are painted on a canvas, so that any notation is understood.
CONTRASTS = """
const canvas = new OffscreenCanvas(1, 1);
const brush = canvas.getContext("2d", {willReadFrequently: true});
const rgba = (colour) => {
  brush.clearRect(0, 0, 1, 1); brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1);
  return [...brush.getImageData(0, 0, 1, 1).data].map((v) => v / 255);
};
const over = (top, under) => top.slice(0, 3).map((v, k) => v * top[3] + under[k] * (1 - top[3]));
const behind = (element) => {
  const stack = [];
  for (let e = element; e; e = e.parentElement) {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    stack.push(colour);
    if (colour[3] === 1) break;
  }
  return stack.reverse().reduce((under, top) => over(top, under), [1, 1, 1]);
};
const luminance = (c) => {
  const [r, g, b] = c.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = [];
for (const element of document.querySelectorAll("body *:not(script)")) {
  const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.checkVisibility()) continue;
  const style = getComputedStyle(element), ground = behind(element);
  const isDrawn = element.namespaceURI.endsWith("svg");
  const ink = over(rgba(isDrawn ? style.fill : style.color), ground);
  const [low, high] = [luminance(ink), luminance(ground)].sort((a, b) => a - b);
  found.push([(high + 0.05) / (low + 0.05), element.tagName, element.textContent.slice(0, 40)]);
}
return found;
"""


@pytest.fixture(scope="module")
def model():
    data = make_shuffled_regression(
        120, 3, noise=0.3, shuffle="groups", n_groups=12, group_by="random", random_state=0
    )
    return ShuffledRegressor(random_state=0).fit(data.X, data.y, groups=data.groups), data


@pytest.fixture(scope="module")
def report(model, tmp_path_factory):
    fitted, data = model
    facts = DataFacts(
        "<b>batches</b>.csv", 120, 12, columns=("x0", "x1", "x2"), label="y", group="batch",
        group_names=[f"batch {g:02d}" for g in data.groups],
    )  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, fitted, data=facts)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, report):
    from selenium.webdriver.common.by import By

    def select(css):
        return browser.find_elements(By.CSS_SELECTOR, css)

    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    prefer(browser, "light")
    browser.get(report.as_uri())
    browser.select = select
    return browser


def prefer(browser, scheme):
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def column(page, table, number):
    cells = page.execute_script(
        f"return [...document.querySelectorAll('#{table} tbody tr')].filter(r => !r.hidden)"
        f".map(r => r.cells[{number}].textContent)"
    )
    return [cell.strip() for cell in cells]


def test_it_opens_without_messages_and_shows_the_verdict(page, model):
    assert page.get_log("browser") == []
    assert requests_of(page) == []
    (verdict,) = page.select("#verdict .word")
    assert verdict.is_displayed()
    assert verdict.location["y"] < 600
    assert model[0].verdict_.level in verdict.text.lower()
    assert len(page.select("#verdict .reasons li")) == len(model[0].verdict_.reasons)
    assert all(svg.size["width"] > 300 for svg in page.select("figure svg"))
    assert page.select("#pictures b") == [] and page.select(".source b") == []


def test_a_script_that_is_not_ours_does_not_run(page):
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.ran = true';"
        "document.body.append(s);"
    )
    assert page.execute_script("return window.ran === undefined")
    assert any("Content Security Policy" in entry["message"] for entry in page.get_log("browser"))


def test_tables_are_sorted_by_mouse_and_keyboard(page, model):
    from selenium.webdriver.common.keys import Keys

    head = page.select("#coefficients th[data-kind]")[1]
    button = page.select("#coefficients th[data-kind] button")[1]
    button.click()
    values = [float(cell) for cell in column(page, "coefficients", 1)]
    assert values == sorted(values)
    assert head.get_attribute("aria-sort") == "ascending"
    button.send_keys(Keys.ENTER)
    values = [float(cell) for cell in column(page, "coefficients", 1)]
    assert values == sorted(values, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    page.select("#coefficients th[data-kind] button")[0].click()
    assert column(page, "coefficients", 0) == ["(intercept)", "x0", "x1", "x2"]
    assert head.get_attribute("aria-sort") == "none"


def test_small_p_values_are_sorted_by_their_exact_value(page, model):
    page.select("#coefficients th[data-kind] button")[5].click()
    p = model[0].summary().ours.p_values()
    names = np.array(["(intercept)", "x0", "x1", "x2"])[np.argsort(p, kind="stable")]
    assert column(page, "coefficients", 0) == names.tolist()


def test_matches_are_filtered_by_name_and_probability(page, model):
    proba = model[0].match_proba_
    (find,), (kinds,), (count,) = (page.select(css) for css in ("#find", "#kinds", "#shown"))
    choose(kinds, "all")
    assert len(column(page, "matches", 0)) == 100  # a window of 120
    assert count.text == "120 shown"
    find.send_keys("Batch 07")
    assert set(column(page, "matches", 8)) == {"batch 07"}
    assert count.text == "10 shown"
    find.clear()
    find.send_keys(" ")
    choose(kinds, "suspects")
    (later,) = page.select("#review-pager button:last-child")
    shown = column(page, "matches", 0)
    later.click()
    shown += column(page, "matches", 0)
    assert sorted(map(int, shown)) == (np.flatnonzero(proba < 0.5) + 1).tolist()
    assert count.text == f"{np.sum(proba < 0.5)} shown"


def choose(menu, value):
    menu.find_element("css selector", f"option[value='{value}']").click()


def test_everything_can_be_reached_by_keyboard(page):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    wanted = {"theme", "find", "kinds", "decided", "keys", "load", "next", "copy"}
    n_heads = len(page.select("th button"))
    seen, heads, regions = set(), 0, 0
    page.execute_script("document.body.focus()")
    for _ in range(n_heads + 40):
        ActionChains(page).send_keys(Keys.TAB).perform()
        name, tag, role = page.execute_script(
            "const e = document.activeElement;"
            "return [e.id, e.parentElement.tagName, e.getAttribute('role')]"
        )
        seen.add(name)
        heads += tag == "TH"
        regions += role == "region"
        if "copy" in seen:
            break
    assert wanted <= seen
    assert heads == n_heads
    assert regions == len(page.select(".scroll")) == 3


def test_the_theme_follows_the_system_and_the_button(page):
    def ground():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    def comes(holds):
        # The event that announces another scheme may come after its colours.
        WebDriverWait(page, 10).until(lambda _: holds())

    light = ground()
    prefer(page, "dark")
    (button,) = page.select("#theme")
    comes(lambda: ground() != light and button.text == "Light theme")
    dark = ground()
    button.click()
    comes(lambda: ground() == light and button.text == "Dark theme")
    prefer(page, "light")
    button.click()
    comes(lambda: ground() == dark)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(page, scheme):
    prefer(page, scheme)
    found = page.execute_script(CONTRASTS)
    assert len(found) > 500
    assert {"text", "TD", "P", "BUTTON"} <= {tag for _, tag, _ in found}
    assert [entry for entry in found if entry[0] < 4.5] == []


def test_faint_text_would_be_detected(page):
    page.execute_script("document.querySelector('figcaption').style.color = '#8a8a8a'")
    faint = [entry for entry in page.execute_script(CONTRASTS) if entry[0] < 4.5]
    assert [tag for _, tag, _ in faint] == ["FIGCAPTION"]


def test_it_fits_a_phone(page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.refresh()
    assert page.execute_script("return document.documentElement.scrollWidth") == 390
    assert all(svg.size["width"] > 280 for svg in page.select("figure svg"))


def test_it_prints_without_controls(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not any(e.is_displayed() for e in page.select("nav, #theme, .review, #copy"))
        assert page.select("#verdict .word")[0].is_displayed()
        assert sum(row.is_displayed() for row in page.select("#matches tbody tr")) == 40
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_code_can_be_copied(page):
    from selenium.webdriver.support.ui import WebDriverWait

    def copied(answer):
        page.execute_script(
            f"navigator.clipboard.writeText = (text) => {{ window.kept = text; return {answer}; }}"
        )
        (button,) = page.select("#copy")
        before = button.text
        button.click()
        WebDriverWait(page, 5).until(lambda _: button.text != before)
        return button.text

    code = page.select("#code")[0].text
    assert copied("Promise.resolve()") == "Copied"
    assert page.execute_script("return window.kept") == code
    assert copied("Promise.reject()") == "Selected: press Ctrl+C"
    assert page.execute_script("return getSelection().toString()") == code
