"""The page of a cell in a real browser, opened from a copied folder by file://."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lcbgrid.cli.main import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from conversation_files import (
    CELL,
    HOSTILE,
    PROGRAM,
    call,
    hostile_results,
    prediction,
    user,
    write_cell,
)

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


@dataclass
class Opened:
    """A page with everything that it asked for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: pip install -e '.[browser]'"
    )
    found = os.environ.get("LCBGRID_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium: apt-get install chromium-headless-shell, or LCBGRID_BROWSER")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """The page of a hostile cell, written by the command and then moved elsewhere."""
    results = hostile_results(tmp_path / "results")
    assert main(["show", CELL, "--html", str(tmp_path / "a"), "--results", str(results)]) == 0
    yield from _open(browser, tmp_path)


def _open(browser: Browser, folder: Path) -> Iterator[Opened]:
    copy = shutil.move(folder / "a", folder / "with space & ü#")
    shutil.rmtree(folder / "results")
    page = browser.new_page()
    found = Opened(page)
    page.on("request", lambda request: found.requests.append(request.url))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("dialog", lambda dialog: found.complaints.append(dialog.message))
    page.goto((copy / "index.html").as_uri())
    yield found
    page.close()


def shown(page: Page) -> list[Any]:
    """Return the statuses and verdicts of the answers that can be seen."""
    return page.eval_on_selector_all(
        ".answer",
        "all => all.filter(a => a.offsetParent)"
        ".map(a => a.dataset.status + ' ' + a.dataset.verdict)",
    )


def test_nothing_is_asked_for_said_or_run(opened: Opened) -> None:
    page = opened.page
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    assert page.evaluate("window.hacked") is None
    assert page.title() == CELL
    assert page.locator("img, svg, link, b").count() == 0
    assert opened.complaints == []
    assert len(opened.requests) == 1


def test_a_script_that_got_into_the_page_would_not_run(opened: Opened) -> None:
    page = opened.page
    page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend', "
        "'<img src=http://127.0.0.1:9/x onerror=\"window.hacked = 9\">')"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert all("Content Security Policy" in line for line in opened.complaints)
    assert opened.complaints


def test_programs_and_texts_are_those_of_the_files(opened: Opened) -> None:
    page = opened.page
    answer = page.locator(".answer", has_text="q1").first
    program = answer.locator(".program")
    assert not program.is_visible()
    answer.locator("summary").first.click()
    assert program.is_visible()
    assert program.inner_text() == PROGRAM
    assert answer.locator(".said").last.inner_text().count(HOSTILE) == 2
    heading = answer.locator("h4", has_text="solver to python_exec: code")
    assert heading.is_visible()
    instructions = answer.locator(".system").first
    assert not instructions.locator("pre").is_visible()
    instructions.locator("summary").click()
    assert HOSTILE in instructions.locator("pre").inner_text()


def test_filters(opened: Opened) -> None:
    page = opened.page
    assert len(shown(page)) == 3
    page.select_option("[data-filter=verdict]", "passed")
    assert shown(page) == ["ok passed"]
    assert page.inner_text("#shown") == "1 of 3 answers"
    page.select_option("[data-filter=verdict]", "")
    page.select_option("[data-filter=status]", "no_code")
    assert shown(page) == ["no_code no_code"]
    page.select_option("[data-filter=status]", "")
    page.fill("[data-filter=words]", "PRODUCT")
    assert shown(page) == ["no_code no_code"]
    page.fill("[data-filter=words]", "nowhere")
    assert shown(page) == []
    page.keyboard.press("Enter")
    assert page.inner_text("#shown") == "0 of 3 answers"


def test_a_large_cell_leads_from_its_list_to_the_answer(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcbgrid.analysis.conversations import page as pages

    monkeypatch.setitem(pages.write_pages.__kwdefaults__, "most_answers", 2)
    questions = [f"q{n}" for n in range(5)]
    write_cell(
        tmp_path / "results",
        lines=[call("solver", 0, [user("x")], "y", question=q) for q in questions],
        predictions=[prediction(q, program=f"print({q!r})") for q in questions],
    )
    arguments = ["--html", str(tmp_path / "a"), "--results", str(tmp_path / "results")]
    assert main(["show", CELL, *arguments]) == 0
    opening = _open(browser, tmp_path)
    opened = next(opening)
    page = opened.page
    page.fill("[data-filter=words]", "q3")
    page.locator("li.answer:visible a").click()
    assert page.url.endswith("index-0002.html#a4")
    assert page.locator(".program:visible").all_inner_texts() == ["print('q3')"]
    page.get_by_text("next page").click()
    assert len(shown(page)) == 1
    assert opened.complaints == []
    next(opening, None)
