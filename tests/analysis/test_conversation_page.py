"""Pages: self-contained, escaped, the same bytes each time, and never all in memory."""

from __future__ import annotations

import html.parser
import re
import sys
from pathlib import Path

import pytest

from lcbgrid.analysis.conversations.page import write_pages
from lcbgrid.analysis.conversations.read import CellConversations
from lcbgrid.analysis.conversations.visible import visible

sys.path.insert(0, str(Path(__file__).parent))
from conversation_files import (
    CELL,
    HOSTILE,
    PROGRAM,
    call,
    hostile_results,
    prediction,
    user,
    verdict,
    write_cell,
)

VOID = {"meta", "input"}


class Page(html.parser.HTMLParser):
    """Tags that are balanced, their names and addresses, and the texts of programs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.programs: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        self.attributes.update(found)
        if "id" in found:
            self.ids.append(str(found["id"]))
        self.addresses += [str(found[n]) for n in ("href", "src") if n in found]
        if tag not in VOID:
            self.open.append((tag, str(found.get("class", ""))))
        if found.get("class") == "code program":
            self.programs.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(kind == "code program" for _, kind in self.open):
            self.programs[-1] += data


@pytest.fixture
def hostile_page(tmp_path: Path) -> str:
    folder = hostile_results(tmp_path / "results") / "runs" / CELL
    with CellConversations(folder, CELL, {"q1": f"Sum {HOSTILE}"}) as cell:
        (page,) = write_pages(cell, tmp_path / "page.html")
    return page.read_text(encoding="utf-8")


def test_no_text_of_a_model_becomes_a_part_of_the_page(hostile_page: str) -> None:
    page = Page(hostile_page)
    assert not page.tags & {"img", "svg", "link", "b", "iframe"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert page.addresses == []
    assert hostile_page.count("<script") == hostile_page.count("</script>") == 1
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e]", hostile_page)
    assert "{{ 7*7 }}" in hostile_page


def test_programs_stand_as_they_are(hostile_page: str) -> None:
    assert Page(hostile_page).programs == ["print(1)", visible(PROGRAM)]


def test_the_policy_allows_nothing_but_our_own_script(hostile_page: str) -> None:
    (policy,) = re.findall(r'Security-Policy" content="([^"]+)"', hostile_page)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def many_answers(root: Path, n: int) -> Path:
    questions = [f"q{i:02}" for i in range(n)]
    return write_cell(
        root,
        lines=[call("solver", 0, [user("x" * 400)], "y", question=q) for q in questions],
        predictions=[prediction(q) for q in questions],
        verdicts=[verdict(q) for q in questions],
    )


def test_a_large_cell_becomes_a_list_and_pages(tmp_path: Path) -> None:
    with CellConversations(many_answers(tmp_path, 10), CELL) as cell:
        written = write_pages(cell, tmp_path / "out", most_answers=4)
        assert [p.name for p in written] == ["index.html"] + [
            f"index-000{n}.html" for n in (1, 2, 3)
        ]
        pages = [Page(p.read_text()) for p in written]
        assert len(pages[0].addresses) == 10
        for address in pages[0].addresses:
            name, _, anchor = address.partition("#")
            linked = pages[[p.name for p in written].index(name)]
            assert anchor in linked.ids
        assert pages[2].addresses == ["index.html", "index-0001.html", "index-0003.html"]
        sizes = [p.stat().st_size for p in written[1:]]
        assert max(sizes) < 40_000

        (tmp_path / "out/index-0009.html").write_text("not ours")
        (single,) = write_pages(cell, tmp_path / "out")
        assert sorted(p.name for p in single.parent.iterdir()) == ["index-0009.html", "index.html"]
        by_size = write_pages(cell, tmp_path / "small.html", most_chars=1)
        assert len(by_size) == 11


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    with CellConversations(many_answers(tmp_path, 5), CELL) as cell:
        first, second = (
            [p.read_bytes() for p in write_pages(cell, tmp_path / name, most_answers=2)]
            for name in ("one", "two")
        )
    assert first == second


def test_one_question_can_have_a_page_of_its_own(tmp_path: Path) -> None:
    with CellConversations(many_answers(tmp_path, 3), CELL) as cell:
        (page,) = write_pages(cell, tmp_path / "q.html", question_id="q01")
    assert len(Page(page.read_text()).programs) == 1
