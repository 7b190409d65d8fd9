"""The reproduction page opens in a real browser without an error and without a request."""

import pandas as pd
import pytest

from surface.browser import open_browser, requests_of
from unshuffle.paper.catalogue import EXPERIMENTS
from unshuffle.paper.files import Shelf
from unshuffle.paper.page import write_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    experiment = EXPERIMENTS["housing"]
    settings = type(experiment.settings)(n_zones=(4,), n_repeats=1)
    table = experiment.run(settings, 0, lambda done, total: None)
    assert isinstance(table, pd.DataFrame)
    shelf = Shelf(folder)
    shelf.keep(experiment, settings, 0, table, 1.0)
    write_page(shelf, EXPERIMENTS.values())
    return folder / "index.html"


def test_page_opens_cleanly(page):
    from selenium.webdriver.common.by import By

    with open_browser() as browser:
        browser.get(page.as_uri())
        assert browser.get_log("browser") == []
        assert requests_of(browser) == []
        assert "reproduced" in browser.title
        badges = browser.find_elements(By.CSS_SELECTOR, ".badge")
        assert len(badges) == 2
        assert all(badge.is_displayed() for badge in badges)
        image = browser.find_element(By.CSS_SELECTOR, "section img")
        assert int(image.get_property("naturalWidth")) > 400
        details = browser.find_element(By.CSS_SELECTOR, "details")
        details.find_element(By.CSS_SELECTOR, "summary").click()
        assert details.find_element(By.CSS_SELECTOR, "table").is_displayed()
        link = browser.find_element(By.CSS_SELECTOR, "tbody a")
        assert link.get_attribute("href").endswith("#housing")


def test_page_fits_a_phone(page):
    with open_browser(width=500) as browser:
        browser.get(page.as_uri())
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= browser.execute_script("return window.innerWidth")
