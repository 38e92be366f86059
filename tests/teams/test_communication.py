"""Communication formats: contracts, parsing, hand-offs, measurements."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lcbgrid.config.grid import COMMUNICATIONS as FORMATS
from lcbgrid.core.errors import ConfigError
from lcbgrid.scenarios.extract import extract
from lcbgrid.teams.communication.contracts import HEADING, contract, with_contract
from lcbgrid.teams.communication.handoff import Handoff, hand_off
from lcbgrid.teams.communication.measure import measure
from lcbgrid.teams.communication.parse import Report, parse
from lcbgrid.teams.communication.render import (
    NO_EVIDENCE,
    NO_SUMMARY,
    NOTHING,
    HandoffKind,
    render,
)

F = "```"
STRUCTURED = ("semi_structured", "structured_soft")
SEMI = """[STATUS]
completed
[SUMMARY]
Sort, then sweep.
[EVIDENCE_OR_TESTS]
ran 3 cases
[CONFIDENCE]
high, ran it
[NEXT]
Use the program."""
SOFT = """JSON_REPORT:
{"status": "completed", "summary": "Sort.", "confidence": "high", "next": "Use it.", "payload": {}}
END_JSON_REPORT"""
PROGRAM = "for i in range(3):\n    if i:\n        print('ä', i)"


def fenced(code: str) -> str:
    return f"{F}python\n{code}\n{F}"


def rendered(text: str, format: str, **more: Any) -> str:
    about: dict[str, Any] = {"role": "coder", "topology": "sequential", "handoff": "prior_stage"}
    return render(text, format, **(about | more))


def soft_value(text: str) -> dict[str, Any]:
    """The object of a rendering, read the way a receiver would."""
    lines = text.split("\n")
    assert (lines[0], lines[2]) == ("JSON_REPORT:", "END_JSON_REPORT")
    value: dict[str, Any] = json.loads(lines[1])
    return value


# contracts


def test_contracts_name_what_the_parser_asks_for() -> None:
    assert contract("freeform") == ""
    for tag in ("STATUS", "SUMMARY", "EVIDENCE_OR_TESTS", "CONFIDENCE", "NEXT", "APPROACH",
                "COMPLEXITY", "EDGE_CASES", "CODE_STATUS"):  # fmt: skip
        assert f"[{tag}]" in contract("semi_structured")
    for word in ("JSON_REPORT:", "END_JSON_REPORT", "payload", "observed", "code_status"):
        assert word in contract("structured_soft")
    for format in STRUCTURED:
        assert all(word in contract(format) for word in ("not_started", "blocked", "medium"))


def test_the_contract_goes_behind_the_prompt_once() -> None:
    assert with_contract("You test.\n", "freeform") == "You test.\n"
    for format in STRUCTURED:
        system = with_contract("You test. \n\n", format)
        assert system == f"You test.\n\n{HEADING}\n{contract(format)}"
        assert with_contract(system, format) == system


@pytest.mark.parametrize("call", [
    lambda name: contract(name),
    lambda name: with_contract("x", name),
    lambda name: parse("x", name),
    lambda name: rendered("x", name),
    lambda name: measure(name, []),
])  # fmt: skip
def test_an_unknown_format_is_refused_with_the_nearest_name(call: Any) -> None:
    with pytest.raises(ConfigError, match="did you mean 'semi_structured'"):
        call("semi_structurd")


# parsing: the table of the specification


def test_freeform_always_parses() -> None:
    assert parse("anything", "freeform") == Report(ok=True, summary="anything")
    assert parse("", "freeform").ok


TABLE = [
    ("five tags", "semi_structured", SEMI, ()),
    (
        "the value on the tag's line",
        "semi_structured",
        SEMI.replace("[STATUS]\ncompleted", "[STATUS] completed"),
        ("STATUS is missing or empty",),
    ),
    (
        "tags in bold",
        "semi_structured",
        SEMI.replace("[", "**[").replace("]", "]**"),
        tuple(
            f"{tag} is missing or empty"
            for tag in ("STATUS", "SUMMARY", "EVIDENCE_OR_TESTS", "CONFIDENCE", "NEXT")
        ),
    ),
    (
        "two words where one is listed",
        "semi_structured",
        SEMI.replace("completed", "in progress").replace("high, ran it", "very high"),
        (
            "STATUS is 'in', not one of not_started, in_progress, completed, blocked",
            "CONFIDENCE is 'very', not one of low, medium, high",
        ),
    ),
    (
        "a word that is not listed, an empty section, an optional tag",
        "semi_structured",
        SEMI.replace("completed", "done").replace("Sort, then sweep.", "")
        + "\n[APPROACH]\ngreedy",
        (
            "SUMMARY is missing or empty",
            "STATUS is 'done', not one of not_started, in_progress, completed, blocked",
        ),
    ),
    (
        "marker and empty values",
        "structured_soft",
        'JSON_REPORT:\n{"status": "", "summary": "", "confidence": "", "next": "", "payload": {}}',
        (),
    ),
    (
        "bare object first, prose behind",
        "structured_soft",
        '{"status": "Completed.", "summary": "s", "confidence": "low", "next": "n", "payload": {}}'
        "\nThat is all.",
        (),
    ),
    (
        "fenced json, payload a list",
        "structured_soft",
        f"Report\n{F}json\n"
        '{"status": "completed", "summary": "s", "confidence": "low", "next": "", "payload": [1]}'
        f"\n{F}",
        ("payload is not an object",),
    ),
    ("marker within a line", "structured_soft", "My " + SOFT, ("there is no JSON report",)),
    (
        "marker, then a bare fence",
        "structured_soft",
        SOFT.replace("{", F + "\n{", 1).replace("\nEND_JSON_REPORT", f"\n{F}"),
        (),
    ),
    (
        "trailing comma",
        "structured_soft",
        SOFT.replace("{}}", "{},}"),
        ("the JSON report is malformed",),
    ),
]


@pytest.mark.parametrize(("name", "format", "text", "errors"), TABLE, ids=[r[0] for r in TABLE])
def test_the_table(name: str, format: str, text: str, errors: tuple[str, ...]) -> None:
    report = parse(text, format)
    assert (report.ok, report.errors) == (not errors, errors)


def test_fields_of_a_tagged_report() -> None:
    text = SEMI + f"\n[EDGE_CASES]  \nn = 0\n[NEXT]\nRun it.\n{fenced(PROGRAM)}"
    report = parse(text, "semi_structured")
    assert report.ok
    assert (report.status, report.summary) == ("completed", "Sort, then sweep.")
    assert (report.evidence, report.confidence) == ("ran 3 cases", "high, ran it")
    assert report.next == f"Run it.\n{fenced(PROGRAM)}"  # later duplicates win; code is in NEXT
    assert report.extra == {"edge_cases": "n = 0"}


@pytest.mark.parametrize("line", [" [STATUS]", "[Status]", "[STATUS]:", "[A1]", "- [STATUS]"])
def test_what_is_no_tag_line(line: str) -> None:
    assert (
        "STATUS is missing or empty"
        in parse(SEMI.replace("[STATUS]", line), "semi_structured").errors
    )


def test_windows_line_ends_are_no_matter() -> None:
    for format, text in (("semi_structured", SEMI), ("structured_soft", SOFT)):
        report = parse(text.replace("\n", "\r\n"), format)
        assert report.ok
        assert report.status == "completed"


def test_fields_of_a_json_report() -> None:
    text = (
        '  json_report :\n{"status": "Blocked;", "summary": ["a"], "confidence": 1, "next": null,'
        ' "payload": {"approach": "dp"}, "mood": "good"} and more'
    )
    report = parse(text, "structured_soft")
    assert report.errors == ("confidence is '1', not one of low, medium, high",)
    assert (report.status, report.summary, report.next) == ("Blocked;", '["a"]', "")
    assert report.extra == {"payload": {"approach": "dp"}, "mood": "good"}


def test_absent_keys_are_named() -> None:
    errors = parse('JSON_REPORT: {"status": "completed"}', "structured_soft").errors
    assert errors == tuple(f"{k} is missing" for k in ("summary", "confidence", "next", "payload"))


def test_a_fence_that_is_not_json_is_no_report() -> None:
    assert parse(fenced("d = {}"), "structured_soft").errors == ("there is no JSON report",)
    text = f"{fenced('d = {}')}\n{F}json\n{SOFT.splitlines()[1]}\n{F}"
    assert parse(text, "structured_soft").ok


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5000, '{"a": ' * 100_000])
def test_json_that_python_will_not_read_is_malformed(value: str) -> None:
    report = parse('JSON_REPORT: {"status": ' + value + "}", "structured_soft")
    assert report.errors == ("the JSON report is malformed",)


# hand-offs


def test_freeform_is_handed_on_unchanged() -> None:
    text = f" <think>x</think>\n{fenced(PROGRAM)}\n\n"
    assert rendered(text, "freeform", code=PROGRAM) == text


def test_a_tagged_hand_off_is_the_senders_own_report_and_the_whole_program() -> None:
    long = "\n".join(f"    value_{i} = {i}" for i in range(500))
    code = f"def f():\n{long}\n    return 0\nprint(f())"
    text = f"Preface.\n{SEMI}\n\n{fenced(code)}\n[EDGE_CASES]\nn = 0"
    expected = SEMI.replace("\n[", "\n\n[").replace("sweep.", "sweep.\n\nPreface.")
    expected = expected.replace("[NEXT]", "[EDGE_CASES]\nn = 0\n\n[NEXT]")
    assert rendered(text, "semi_structured", code=code) == f"{expected}\n\n{fenced(code)}"


def test_a_json_hand_off_is_the_senders_own_report_and_the_whole_program() -> None:
    text = f"{SOFT.replace('Sort.', 'Sört.')}\n\n{fenced(PROGRAM)}"
    made = rendered(text, "structured_soft", code=PROGRAM)
    assert made.endswith(f"\nEND_JSON_REPORT\n\n{fenced(PROGRAM)}")
    assert made.startswith('JSON_REPORT:\n{"confidence": "high", "next": "Use it.", "payload": {')
    assert "Sört." in made
    assert soft_value(made) == {
        "status": "completed",
        "summary": "Sört.",
        "confidence": "high",
        "next": "Use it.",
        "payload": {"handoff": "prior_stage", "role": "coder", "topology": "sequential"},
    }


@pytest.mark.parametrize(
    ("handoff", "key"),
    [("manager_worker", "target"), ("worker_manager", "target"), ("peer_previous_round", "peer")],
)
def test_the_payload_says_whom_it_is_for(handoff: HandoffKind, key: str) -> None:
    made = rendered("Go.", "structured_soft", handoff=handoff, target="x")
    assert soft_value(made)["payload"][key] == "x"


def test_prose_becomes_the_summary_in_full() -> None:
    prose = "First  line\n    indented\n" + "word " * 400 + "end"
    made = parse(rendered(prose, "semi_structured"), "semi_structured")
    assert made.summary == prose
    assert (made.status, made.confidence) == ("in_progress (not stated)", "low (not stated)")
    assert made.evidence == NO_EVIDENCE
    value = soft_value(rendered(prose, "structured_soft"))
    assert (value["summary"], value["status"], value["confidence"]) == (
        prose,
        "in_progress",
        "low",
    )
    assert value["payload"]["not_stated"] == ["confidence", "status"]


@pytest.mark.parametrize("format", STRUCTURED)
def test_an_empty_text_says_so(format: str) -> None:
    assert parse(rendered("", format), format).summary == NOTHING
    assert parse(rendered(fenced("x = 1"), format, code="x = 1"), format).summary == NO_SUMMARY
    assert parse(rendered("print(1)", format, code="print(1)"), format).summary == NO_SUMMARY


def test_words_that_are_not_listed_are_kept_beside_ours() -> None:
    text = SEMI.replace("completed", "done").replace("high, ran it", "very high")
    made = parse(rendered(text, "semi_structured"), "semi_structured")
    assert made.status == "in_progress (the sender wrote: done)"
    assert made.confidence == "low (the sender wrote: very high)"
    text = SOFT.replace("completed", "done").replace('"high"', "0.9").replace("{}", "[7]")
    value = soft_value(rendered(text, "structured_soft"))
    assert (value["status"], value["confidence"]) == ("in_progress", "low")
    assert value["payload"]["status_as_written"] == "done"
    assert value["payload"]["confidence_as_written"] == "0.9"
    assert value["payload"]["payload_as_written"] == [7]


def test_nothing_that_the_sender_wrote_is_lost() -> None:
    text = SEMI.replace("[NEXT]", "[SUMMARY]\nsecond\n[NEXT]")
    assert parse(rendered(text, "semi_structured"), "semi_structured").summary == (
        "second\n\n> [SUMMARY]\nSort, then sweep."
    )
    text = (
        "before\n" + SOFT.replace("{}", '{"role": "mine", "tests": [{"input": "1"}]}') + "\nafter"
    )
    payload = soft_value(rendered(text, "structured_soft"))["payload"]
    assert payload["other_text"] == "before\n\nafter"
    assert (payload["role"], payload["sender_role"]) == ("coder", "mine")
    assert payload["tests"] == [{"input": "1"}]
    text = SOFT.replace('"payload"', '"next": "Other.", "mood": "good", "payload"')
    value = soft_value(rendered(text, "structured_soft"))
    assert (value["next"], value["mood"]) == ("Other.", "good")
    assert "Use it." in value["payload"]["other_text"]  # of a repeated key JSON keeps the last


def test_a_broken_json_report_is_handed_on_in_full() -> None:
    text = SOFT.replace("{}}", "{},}")
    assert soft_value(rendered(text, "structured_soft"))["summary"] == text


def test_thinking_is_not_handed_on() -> None:
    for format, text in (("semi_structured", SEMI), ("structured_soft", SOFT)):
        made = rendered(f"<think>[STATUS]\nJSON_REPORT: {{}}</think>\n{text}", format)
        assert made == rendered(text, format)


def test_lines_that_look_like_tags_cannot_split_the_report() -> None:
    text = SEMI.replace("Sort, then sweep.", "   [STATUS]\nx\n  [A_B] \n[c]")
    made = rendered(text, "semi_structured")
    assert "[SUMMARY]\n> [STATUS]\nx\n  > [A_B] \n[c]" in made
    assert parse(made, "semi_structured").extra == {}
    code = "STATUS = 1\nx = STATUS\nif x:\n    print(\n[STATUS]\n)"
    made = rendered(f"{SEMI}\n{fenced(code)}", "semi_structured", code=code)
    assert parse(made, "semi_structured").status == "completed"
    assert extract(made).code == code


@pytest.mark.parametrize("format", STRUCTURED)
@pytest.mark.parametrize(
    "left_open", [f"{F}text\nabc", "~~~\nabc", f"{F}{F}\nabc", "~~~~~ x\n" + F]
)
def test_a_fence_left_open_does_not_swallow_the_program(format: str, left_open: str) -> None:
    made = rendered(f"{SEMI}\n{left_open}", format, code=PROGRAM)
    assert extract(made).code == PROGRAM
    assert parse(made, format).ok


@pytest.mark.parametrize("format", STRUCTURED)
def test_a_program_with_fences_in_it_stays_whole(format: str) -> None:
    code = f'"""Say:\n{F}python\nx = 1\n{F}\n"""\nprint(1)'
    assert extract(rendered("Here.", format, code=code)).code == code


def test_json_nested_too_deep_to_write_is_handed_on_as_text() -> None:
    for depth in (100, 900, 5000):
        deep = SOFT.replace("{}", '{"a": ' * depth + "1" + "}" * depth)
        made = rendered(deep, "structured_soft", code=PROGRAM)
        assert parse(made, "structured_soft").ok
        assert made.count('"a') + made.count('\\"a') >= depth


def test_half_characters_do_not_reach_the_endpoint() -> None:
    for text in ("\ud83d", SOFT.replace("Sort.", "\\ud83d")):
        for format in STRUCTURED:
            rendered(text, format).encode()


PARTS = st.sampled_from([
    "[STATUS]", "[SUMMARY]", "[NEXT]", "[X]", " [STATUS] ", "completed", "high", "JSON_REPORT:",
    "END_JSON_REPORT", "{", "}", '{"status": "completed"}', '{"payload": {"a": "<think>"}}', F,
    F + "python", F + "json", "~~~", "~~~~", F + "`", "Here: " + F + "python", "x " + F,
    "print(2)", "<think>", "</think>", "\u2003[NEXT]", "\r", SEMI, SOFT,
    '{"next": "<THINK>\\n[A]"}',
])  # fmt: skip
TEXTS = st.one_of(
    st.text(),
    st.lists(st.one_of(PARTS, st.text(max_size=5)), max_size=12).map("\n".join),
    st.lists(PARTS, max_size=6).map("".join),
)
PROGRAMS = st.sampled_from([
    "print(1)", PROGRAM, "x = [1]\n[x]\nprint(x)", "def f(x):\n\n    return 'a  b'\nprint(f(1))",
    "STATUS = 1\nprint(\n[STATUS]\n)", "class Solution:\n    def go(self):\n        return {}",
])  # fmt: skip


@given(TEXTS, st.sampled_from(FORMATS), st.one_of(st.none(), PROGRAMS))
@example("<think>", "structured_soft", "print(1)")
def test_a_hand_off_always_parses(text: str, format: str, code: str | None) -> None:
    made = rendered(text, format, code=code)
    assert parse(made, format).errors == ()
    assert rendered(text, format, code=code) == made
    if format == "freeform":
        assert made == text
        return
    assert not made.endswith("\n")
    if code is not None:
        assert extract(made).code == code


@given(TEXTS, PROGRAMS, TEXTS, st.sampled_from(STRUCTURED))
def test_the_program_found_in_a_text_is_the_one_found_in_its_hand_off(
    before: str, program: str, behind: str, format: str
) -> None:
    code = extract(f"{before}\n{fenced(program)}\n{behind}").code
    if code is None or F in code or extract(fenced(code)).code != code:
        return
    made = rendered(f"{before}\n{fenced(program)}\n{behind}", format, code=code)
    assert extract(made).code == code


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_word_of_prose_arrives(text: str) -> None:
    assume("<think" not in text.lower() and "</think" not in text.lower())
    assume("{" not in text and F not in text and "~~~" not in text and "[" not in text)
    for format in STRUCTURED:
        summary = parse(rendered(text, format), format).summary
        assert summary == (text.strip() or NOTHING)


# measurements


def handoffs(*texts: str, format: str, kind: HandoffKind = "prior_stage") -> list[Handoff]:
    return [
        hand_off(text, format, role="coder", topology="t", handoff=kind, target="b")
        for text in texts
    ]


def test_parsing_is_judged_on_what_the_agents_wrote() -> None:
    sent = handoffs("prose", SEMI, format="semi_structured")
    assert (sent[0].raw, sent[0].target) == ("prose", "b")
    reports = [("analyzer", "prose"), ("coder", SEMI), ("tester", SEMI), ("debugger", "[NEXT]\nx")]
    tags = ("STATUS", "SUMMARY", "EVIDENCE_OR_TESTS", "CONFIDENCE", "NEXT")
    errors = [f"{tag} is missing or empty" for tag in tags]
    assert measure("semi_structured", reports, sent) == {
        "communication_format": "semi_structured",
        "communication_parse_ok": True,
        "communication_all_parse_ok": False,
        "communication_parse_rate": 0.5,
        "communication_render_parse_rate": 1.0,
        "communication_report_ok_count": 2,
        "communication_report_total": 4,
        "communication_required_report_count": 4,
        "communication_missing_roles": [],
        "communication_parse_errors": [
            *(f"analyzer: {error}" for error in errors),
            *(f"debugger: {error}" for error in errors[:-1]),
        ],
        "communication_infra_error": None,
        "communication_inflight_handoff_count": 2,
        "communication_inflight_all_parse_ok": False,
    }


def test_an_instruction_is_not_judged_as_a_report() -> None:
    sent = handoffs("Test this.", format="structured_soft", kind="manager_worker")
    sent += handoffs(SOFT, format="structured_soft", kind="worker_manager")
    found = measure("structured_soft", [("manager", SOFT), ("tester_worker", SOFT)], sent)
    assert found["communication_inflight_all_parse_ok"] is True
    assert found["communication_inflight_handoff_count"] == 2
    assert found["communication_all_parse_ok"] is True


def test_reports_that_do_not_parse_are_no_infrastructure_error() -> None:
    found = measure("structured_soft", [("coder", "prose"), ("tester", "")])
    assert found["communication_infra_error"] is None
    assert found["communication_parse_rate"] == 0.0
    assert found["communication_parse_ok"] is False


def test_no_reports_at_all_are_one_and_the_rate_is_undefined() -> None:
    found = measure("semi_structured", [])
    assert found["communication_infra_error"] == "the team gave no report"
    assert found["communication_parse_rate"] is None
    assert found["communication_render_parse_rate"] is None
    assert found["communication_all_parse_ok"] is False
    assert found["communication_missing_roles"] == ["<any_report>"]
    assert found["communication_inflight_all_parse_ok"] is True


def test_freeform_is_always_in_order() -> None:
    found = measure("freeform", [])
    assert found["communication_infra_error"] is None
    assert found["communication_parse_rate"] == 1.0
    assert found["communication_render_parse_rate"] == 1.0
    assert found["communication_all_parse_ok"] is True


def test_roles_that_did_not_report_are_named() -> None:
    required = ("manager", "worker")
    found = measure("semi_structured", [("manager", SEMI)], required_roles=required)
    assert found["communication_missing_roles"] == ["worker"]
    assert found["communication_required_report_count"] == 2
    assert found["communication_all_parse_ok"] is False
    both = [("manager", SEMI), ("coder_worker", SEMI)]
    assert measure("semi_structured", both, required_roles=required)["communication_all_parse_ok"]
