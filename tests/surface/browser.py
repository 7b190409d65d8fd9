"""A headless Chromium for tests, or a loud skip where there is none."""

import json
import os
import shutil

import pytest

REQUIRED = os.environ.get("UNSHUFFLE_REQUIRE_BROWSER") == "1"


def open_browser(width=1200, height=1000, dark=False):
    """Start Chromium through its driver; no window, no background traffic."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        message = "BROWSER TESTS SKIPPED: chromium or chromedriver is not installed"
        if REQUIRED:
            pytest.fail(message)
        pytest.skip(message)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--window-size={width},{height}",
    ):  # fmt: skip
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def requests_of(browser):
    """Addresses the page asked for, apart from its own file and inline data."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith(("data:", "file:"))]
