"""Rollouts of a search: scores, feedback, and what counts as no observation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from rollout_world import Model, World, verdict

from lcbgrid.core.errors import DataError, InfrastructureError, SandboxError
from lcbgrid.judge.verdict import TestOutcome, Verdict
from lcbgrid.models.failures import FailureKind, ModelCallError
from lcbgrid.models.types import ChatReply, ChatRequest, ToolCall
from lcbgrid.problems.schema import TestCase, TestSuite
from lcbgrid.stages.rollouts import EndpointGone, WorldFailed, feedback_of

TEAMS = ("direct", "single", "independent", "sequential", "centralized", "decentralized")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def outcome(index: int, status: Any, **more: Any) -> TestOutcome:
    given = {"detail": None, "got": None, "wall_s": 0.0, "cpu_s": 0.0, "memory_mb": 0.0, **more}
    return TestOutcome(index=index, status=status, **given)


SUITE = TestSuite(
    "q", None, tuple(TestCase(f"in {n}\n", f"out {n}\n", "stdin") for n in range(5)), n_public=2
)


def said(status: Any, *outcomes: TestOutcome, message: str = "") -> str:
    found: Verdict = verdict(status, *outcomes, message=message).verdict
    return feedback_of(found, SUITE)


def test_feedback_names_the_first_failing_test_with_expected_and_got() -> None:
    failing = outcome(3, "wrong_answer", detail="line 1 differs", got="out 4")
    text = said("wrong_answer", outcome(0, "passed"), failing, outcome(4, "wrong_answer"))
    assert text.startswith("Test 4 of 5 failed (wrong_answer: line 1 differs).")
    for part in ("in 3", "out 3", "Got:\nout 4"):
        assert part in text
    assert "in 4" not in text


def test_feedback_on_a_pass_on_no_run_and_without_output() -> None:
    assert said("passed") == "All 5 tests passed."
    assert said("no_code") == "No test was run: no_code."
    assert said("compile_error", message="SyntaxError: line 1") == "SyntaxError: line 1"
    assert "Got:" not in said("time_limit", outcome(0, "time_limit"))


def test_feedback_is_short_however_long_a_test_is() -> None:
    long = TestSuite("q", None, (TestCase("1" * 10**6, "2" * 10**6, "stdin"),), n_public=0)
    failing = verdict("wrong_answer", outcome(0, "wrong_answer", got="3" * 10**6)).verdict
    assert len(feedback_of(failing, long)) < 1500


def test_only_train_rows_are_explained(world: World) -> None:
    failing = verdict("wrong_answer", outcome(0, "wrong_answer", detail="why"))
    records = world.run("direct", Model(0), judged=lambda *a: failing, n_rows=5)
    explained = [record.example_id for record in records if record.feedback]
    assert explained == list(world.splits.train)
    assert [record.score for record in records] == [0.0] * 5
    for record in records[3:]:
        assert record.metadata["scorer_metadata"] == {}


def test_rows_hold_no_test(world: World) -> None:
    for row in world.rows:
        assert set(row) == {
            *("id", "title", "statement", "starter_code", "difficulty", "platform"),
        }


def loses(kind: FailureKind, who: str, *, fatal: bool = False, first: bool = False) -> Any:
    """Lose a member's call."""

    def hook(request: ChatRequest, number: int) -> ChatReply | None:
        if request.call.agent.endswith(who) and (first or number > 6):
            raise ModelCallError("lost", where="model m", kind=kind, fatal=fatal)
        return None

    return hook


@pytest.mark.parametrize("topology", TEAMS)
@pytest.mark.parametrize("kind", ["connection", "timeout", "server_error", "rate_limit"])
def test_a_failure_of_the_endpoint_ends_the_search(
    topology: str, kind: FailureKind, world: World
) -> None:
    with pytest.raises(EndpointGone, match="lost"):
        world.run(topology, Model(0, loses(kind, "", first=True)))


@pytest.mark.parametrize("topology", ["independent", "decentralized"])
def test_a_team_that_goes_on_without_a_member_is_no_observation(
    topology: str, world: World
) -> None:
    """One copy of four is lost; the team would still vote."""
    with pytest.raises(EndpointGone):
        world.run(topology, Model(0, loses("timeout", "_2", first=True)))
    with pytest.raises(InfrastructureError):
        world.run(topology, Model(0, loses("bad_request", "_2", first=True)), n_rows=1)


def test_a_refused_request_loses_its_row_if_others_are_answered(world: World) -> None:
    """However early the refusal comes: it waits until the model has answered anybody."""
    unlucky = world.rows[0]["statement"][:80]

    def hook(request: ChatRequest, number: int) -> ChatReply | None:
        if unlucky in str(request.messages[-1]["content"]):
            raise ModelCallError("refused", kind="bad_request")
        return None

    with pytest.raises(InfrastructureError, match="refused"):
        world.run("direct", Model(0, hook))

    def refuses_all(request: ChatRequest, number: int) -> ChatReply | None:
        raise ModelCallError("refused", kind="bad_request")

    with pytest.raises(EndpointGone, match="refused"):
        world.run("direct", Model(0, refuses_all))


def test_without_a_sandbox_nothing_is_scored(world: World) -> None:
    def no_sandbox(*arguments: Any) -> Any:
        raise SandboxError("no usable isolation")

    with pytest.raises(WorldFailed, match="no usable isolation") as caught:
        world.run("direct", Model(0), judged=no_sandbox)
    assert caught.value.exit_status == 3
    assert not isinstance(caught.value, InfrastructureError)  # it would be tried and sealed


def test_a_full_disk_is_no_lost_row(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise InfrastructureError("cannot read or write: no space is left on the disk")

    monkeypatch.setattr("lcbgrid.models.transcript.Transcript.record_tool", full)
    with pytest.raises(WorldFailed, match="no space"):
        world.run("single", Model(0))


def test_a_sandbox_that_a_program_kills_is_a_lost_row(world: World) -> None:
    lost = verdict("infra_error", message="the sandbox was lost twice")
    with pytest.raises(InfrastructureError, match="lost twice"):
        world.run("direct", Model(0), judged=lambda *arguments: lost)


def test_tests_that_cannot_be_used_are_the_data_sets_fault(world: World) -> None:
    broken = verdict("data_error", message="no JSON")
    with pytest.raises(DataError, match="no JSON"):
        world.run("direct", Model(0), judged=lambda *arguments: broken)


def test_equal_programs_are_judged_once_and_again_after_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "rows", [world.rows[0]] * 4)
    asked: list[str] = []

    def judging(judge: Any, code: str | None, suite: TestSuite, errata: Any) -> Any:
        asked.append(suite.question_id)
        return verdict()

    def same(request: ChatRequest, number: int) -> ChatReply:
        return ChatReply("```python\nprint(1)\n```")

    records = world.run("direct", Model(0, same), judged=judging, n_rows=4)
    assert [record.score for record in records] == [1.0] * 4
    assert asked == [world.splits.train[0]]

    def fails_once(*arguments: Any) -> Any:
        asked.append("again")
        return verdict("infra_error", message="once") if asked.count("again") == 1 else verdict()

    with pytest.raises(InfrastructureError, match="once"):
        world.run("direct", Model(0, same), judged=fails_once, n_rows=1)
    assert world.run("direct", Model(0, same), judged=fails_once, n_rows=1)[0].score == 1.0


def test_a_program_that_prints_something_else_each_time_is_run_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What several rollouts have seen at once must be what the transcript will say."""
    monkeypatch.setattr(world, "rows", [world.rows[0]] * 4)

    def hook(request: ChatRequest, number: int) -> ChatReply:
        if request.messages[-1]["role"] == "tool":
            return ChatReply(f"{number}: ```python\nprint(1)\n```")
        call = ToolCall("1", "python_exec", '{"code": "print(random())"}')
        return ChatReply(f"{number}", tool_calls=(call,))

    records = world.run("single", Model(0, hook), n_rows=4)
    printed = {
        message["content"]
        for record in records
        for message in record.messages
        if message["source"] == "tool"
    }
    assert len(printed) == 1
