"""The report in a browser: it works from a file, without network, and is readable."""

import json
import shutil
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from synthetic import fill

import oddkout as oko
from oddkout.data import Data

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

METHODS = ["vanilla", "bb+ts", "oko"]
COSTS = 5 * (1 - np.eye(4))
NAMES = ("<script>alert(1)</script>", "bee", "cat", "dog")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    fill(
        folder,
        methods=[*METHODS, "focal"],
        seeds=2,
        rates=(0.1,),
        classes=NAMES,
        costs=COSTS,
        is_failing=lambda config: config.method == "focal",
    )
    images = np.random.default_rng(0).integers(0, 255, (80, 8, 8)).astype(np.uint8)
    labels = np.arange(80) % 4
    data = Data(name="made up", x_train=images, y_train=labels, x_test=images[::-1], y_test=labels,
                classes=NAMES)  # fmt: skip
    with mock.patch("oddkout.report.write.first_data", return_value=data):
        return oko.write_report(folder)["html"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.webdriver.chrome.service import Service

    candidates = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    binary, driver = next(filter(None, candidates), None), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium here; run: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    chromium.set_page_load_timeout(120)
    chromium.get("about:blank")
    for kind in ("browser", "performance"):
        chromium.get_log(kind)  # what the browser's own first page did
    yield chromium
    chromium.quit()


@pytest.fixture
def page(browser, report):
    """The report, newly opened at the width of a desktop screen."""
    look(browser, width=1280)
    browser.get(Path(report).as_uri())
    return browser


def look(browser, *, width, scheme="light", height=900):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def all_of(page, selector):
    return page.find_elements("css selector", selector)


def unfold(page):
    for part in all_of(page, "details"):
        page.execute_script("arguments[0].open = true", part)


def visible(page, selector):
    return [element for element in all_of(page, selector) if element.is_displayed()]


def order(page):
    rows = visible(page, "table.results[data-kind] tbody tr")
    return [row.get_attribute("data-method") for row in rows]


def column(page, position):
    cells = visible(page, f"table.results[data-kind] tbody td:nth-child({position})[data-value]")
    return [float(cell.get_attribute("data-value")) for cell in cells]


def test_it_opens_without_errors_and_without_the_network(page, report):
    messages = [entry for entry in page.get_log("browser") if entry["level"] != "INFO"]
    assert not messages
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("data:")} == {Path(report).as_uri()}


def test_a_request_would_be_seen_and_is_forbidden(page):
    """The test above does notice requests, and the policy of the page blocks them."""
    page.get_log("browser")
    page.execute_script("document.body.append(Object.assign(new Image, {src: 'http://x.test/a'}))")
    page.execute_script("document.body.append(Object.assign(document.createElement('script'), "
                        "{textContent: 'window.wasRun = true'}))")  # fmt: skip
    text = " ".join(entry["message"] for entry in page.get_log("browser"))
    assert "Content Security Policy" in text
    assert page.execute_script("return window.wasRun") is None


def test_a_class_named_like_a_script_is_text(page):
    assert page.execute_script("return document.scripts.length") == 1
    cells = [cell.text for cell in all_of(page, "table.plain td")]
    assert NAMES[0] in cells
    ticks = page.execute_script(
        "return [...document.querySelectorAll('svg text')].map(t => t.textContent)"
    )
    assert "<script>ale…" in ticks


def test_tables_sort_by_click_and_by_key(page):
    from selenium.webdriver.common.keys import Keys

    heads = visible(page, "table.results thead th")
    heads[1].find_element("css selector", "button").click()
    assert heads[1].get_attribute("aria-sort") == "descending"
    assert column(page, 2) == sorted(column(page, 2), reverse=True)
    assert order(page)[-1] == "focal", "what failed has no value and stays last"
    button = heads[2].find_element("css selector", "button")
    for expected, is_reverse in (("ascending", False), ("descending", True)):
        button.send_keys(Keys.ENTER)
        assert heads[2].get_attribute("aria-sort") == expected
        assert column(page, 3) == sorted(column(page, 3), reverse=is_reverse)
    assert heads[1].get_attribute("aria-sort") is None


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (400, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_recommended_command_is_on_the_first_screen(page, width, height, scheme):
    look(page, width=width, height=height, scheme=scheme)
    page.refresh()
    [command] = visible(page, "#command")
    assert command.text.startswith("oddkout train digits --method best --from ")
    box = page.execute_script("return arguments[0].getBoundingClientRect().toJSON()", command)
    assert 0 < box["top"] < box["bottom"] < height
    assert 0 <= box["left"] < box["right"] <= width
    [title] = visible(page, ".action h2")
    assert title.text.removeprefix("Train ") in METHODS
    assert title.location["y"] < box["top"]


def test_the_command_is_copied_by_a_button(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite"]})
    button = page.find_element("id", "copy")
    button.click()
    assert page.execute_async_script(
        "const done = arguments[0];"
        "setTimeout(() => done(document.getElementById('copy').textContent), 100)"
    ) in ("Copied", "Selected")


def test_the_winner_comes_first_and_the_others_are_folded(page):
    winner = page.find_element("css selector", ".action h2").text.removeprefix("Train ")
    shown = {f.get_attribute("data-method") for f in visible(page, "figure[data-method]")}
    assert shown == {winner}
    assert len(visible(page, f"figure[data-method='{winner}']")) == 4
    page.find_element("css selector", "details.others summary").click()
    for method in METHODS:
        assert len(visible(page, f"figure[data-method='{method}']")) == 4


def test_a_dozen_mistakes_are_shown_as_pictures(page):
    pictures = visible(page, ".mistakes img")
    assert 0 < len(pictures) <= 12
    for picture in pictures:
        assert picture.get_attribute("src").startswith("data:image/png;base64,")
        assert page.execute_script("return arguments[0].naturalWidth", picture) == 8
        assert ", taken for " in picture.get_attribute("alt")


def test_tables_are_no_wider_than_their_column_on_a_desktop(page):
    look(page, width=1400)
    for table in visible(page, "table.results"):
        right, limit = page.execute_script(
            "const main = document.querySelector('main');"
            "const padding = parseFloat(getComputedStyle(main).paddingRight);"
            "return [arguments[0], main].map(e => e.getBoundingClientRect().right - "
            "(e === main ? padding : 0))",
            table,
        )
        assert right <= limit + 1


def test_methods_can_be_switched_off_and_on(page):
    unfold(page)
    box = page.find_element("css selector", "input[data-toggles='bb+ts']")
    figures = len(visible(page, "figure[data-method='bb+ts']"))
    lines = len(visible(page, "svg [data-series='1']"))
    assert figures == 4
    assert lines == 1
    box.click()
    assert "bb+ts" not in order(page)
    assert not visible(page, "[data-method='bb+ts']")
    assert not visible(page, "svg [data-series='1']")
    assert len(visible(page, "figure[data-method='oko']")) == 4
    box.click()
    assert "bb+ts" in order(page)
    assert len(visible(page, "figure[data-method='bb+ts']")) == figures


def test_probabilities_can_be_switched(page):
    assert column(page, 3)
    before = column(page, 3)
    assert len(visible(page, "table.results[data-kind]")) == 1
    page.find_element("css selector", "input[value=as_trained]").click()
    assert len(visible(page, "table.results[data-kind]")) == 1
    assert column(page, 3) != before
    assert not visible(page, "[data-kind=tempered]:not(html)")


def test_every_figure_has_words_with_numbers(page):
    figures = page.execute_script(
        "return [...document.querySelectorAll('svg')].map(s => [s.getAttribute('role'), "
        "...s.getAttribute('aria-labelledby').split(' ').map("
        "id => document.getElementById(id).textContent)])"
    )
    assert len(figures) == len(METHODS) * 7 + 2
    for role, title, description in figures:
        assert role == "img"
        assert len(title) > 10
        assert any(character.isdigit() for character in description)
    assert len({tuple(figure) for figure in figures}) == len(figures)


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_screen(page, width):
    look(page, width=width)
    unfold(page)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(page, scheme):
    look(page, width=1280, scheme=scheme)
    paper = luminance(page.find_element("css selector", "body"), "background-color")
    assert (paper < 0.1) == (scheme == "dark")
    for selector in ("h1", ".lead", ".caption", ".answer .best", "figcaption", "svg text"):
        element = page.find_element("css selector", selector)
        ink = luminance(element, "fill" if selector == "svg text" else "color")
        bright, dim = max(ink, paper), min(ink, paper)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, f"{selector}: WCAG 2, level AA"
    before = page.find_element("css selector", "body").value_of_css_property("background-color")
    page.find_element("id", "theme").click()
    after = page.find_element("css selector", "body").value_of_css_property("background-color")
    assert before != after


def luminance(element, name):
    """Relative luminance of a colour as WCAG 2 defines it."""
    text = element.value_of_css_property(name)
    parts = [float(part) / 255 for part in text[text.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_paper_has_everything_unfolded(page):
    printed = page.execute_cdp_cmd("Page.printToPDF", {})
    assert printed["data"]
    assert all(part.get_attribute("open") for part in all_of(page, "details"))
