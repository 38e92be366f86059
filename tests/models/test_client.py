"""The client against a real server: replies, retries, fatal errors, limits, loops."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.model_spec import ModelSpec, RetrySpec, SimulateSpec
from lcbgrid.core.errors import ConfigError, EndpointError
from lcbgrid.models import ModelCallError, ModelClient, Transcript
from lcbgrid.models.failures import parse_retry_after

from .helpers import QUICK, Scripted, ask, call_all, call_one


def test_a_reply_has_text_usage_and_finish_reason(scripted: Scripted, tmp_path: Path) -> None:
    with scripted({"text": "hi", "tokens": 7}) as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
    assert (reply.text, reply.status, reply.finish_reason) == ("hi", "ok", "stop")
    assert reply.usage.completion_tokens == 7
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + 7
    assert reply.latency_s > 0
    assert not reply.cached


def test_r30_null_content_with_reasoning_is_empty_and_kept(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted({"text": None, "reasoning": "abc", "tokens": 300}) as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
        assert server.requests == QUICK.max_attempts
    assert reply.status == "empty"
    assert reply.reasoning == "abc"
    assert reply.usage.completion_tokens == 300
    stored = json.loads((tmp_path / "t.jsonl").read_text())
    assert stored["reply"]["reasoning"] == "abc"


def test_an_empty_reply_is_tried_again(scripted: Scripted, tmp_path: Path) -> None:
    with scripted({"text": ""}, "now") as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
    assert (reply.text, reply.retries) == ("now", 1)


def test_a_reply_cut_by_the_limit_is_truncated_and_not_tried_again(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted({"text": "```python\npri", "finish_reason": "length"}) as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
        assert server.requests == 1
    assert reply.status == "truncated"


def test_r34_retry_after_is_honoured_and_counted(scripted: Scripted, tmp_path: Path) -> None:
    limit = {"status": 429, "headers": {"retry-after": "1"}}
    with scripted(limit, limit, "right") as server:
        started = time.monotonic()
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
    assert (reply.text, reply.retries) == ("right", 2)
    assert reply.waited_s >= 2.0
    assert time.monotonic() - started >= 2.0


def test_r34_an_endless_429_is_an_error_and_never_a_reply(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted({"status": 429}) as server:
        (error,) = call_all(server.spec(), tmp_path / "t.jsonl", ask(), errors=True)
        assert server.requests == QUICK.max_attempts
    assert isinstance(error, ModelCallError)
    assert isinstance(error, EndpointError)
    assert (error.kind, error.fatal, error.exit_status) == ("rate_limit", False, 3)
    assert "q#0 solver step 0" in str(error)
    assert (tmp_path / "t.jsonl").read_bytes() == b""


def test_a_retry_after_beyond_all_patience_ends_the_call(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted({"status": 429, "headers": {"retry-after": "3600"}}) as server:
        (error,) = call_all(server.spec(), tmp_path / "t.jsonl", ask(), errors=True)
        assert server.requests == 1
    assert error.kind == "rate_limit"


@pytest.mark.parametrize("value", ["nan", "never", "", "1e300"])
def test_a_senseless_retry_after_is_ignored(value: str) -> None:
    assert parse_retry_after(value) is None


def test_retry_after_may_be_a_date() -> None:
    date = email.utils.formatdate(1_000_030, usegmt=True)
    assert parse_retry_after(date, now_s=1_000_000.0) == 30.0
    assert parse_retry_after(date, now_s=2_000_000.0) == 0.0
    assert parse_retry_after("0.5") == 0.5


OVERFLOWS = [
    "This model's maximum context length is 4096 tokens, however you requested 5000 tokens",
    "prompt is too long: 5000 tokens > 4096 maximum",
    "maximum context length is 4096 tokens, however you requested 5000 tokens",
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "This model's maximum context length is 4096 tokens. However, your messages resulted in "
    "5000 tokens.",
    "Prompt contains 5000 tokens, too large for model with 4096 maximum context length",
]


@pytest.mark.parametrize("text", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 422])
def test_r35_context_overflow_is_a_status_after_one_request(
    scripted: Scripted, tmp_path: Path, text: str, status: int
) -> None:
    with scripted({"status": status, "text": text}) as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
        assert server.requests == 1
    assert reply.status == "context_limit"
    assert reply.message is not None
    assert "5000" in reply.message
    assert "4096" in reply.message


def test_another_400_is_no_overflow_and_not_retried(scripted: Scripted, tmp_path: Path) -> None:
    with scripted({"status": 400, "text": "messages[1].role must be a role"}) as server:
        (error,) = call_all(server.spec(), tmp_path / "t.jsonl", ask(), errors=True)
        assert server.requests == 1
    assert (error.kind, error.fatal) == ("bad_request", False)


def test_a_wrong_key_is_fatal_and_stops_all_calls(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-000111222")
    with scripted("x", api_key="the-right-key") as server:
        spec = server.spec(api_key_env="MY_KEY", max_concurrency=2)
        requests = [ask(question=f"q{number}") for number in range(40)]
        errors = call_all(spec, tmp_path / "t.jsonl", *requests, errors=True)
        assert server.stats()["requests"] <= 16
    assert {(error.kind, error.fatal) for error in errors} == {("auth", True)}
    line = str(errors[0])
    assert "MY_KEY" in line
    assert "127.0.0.1" in line
    assert "model m" in line
    assert "secret" not in line


def test_an_unknown_model_is_fatal(scripted: Scripted, tmp_path: Path) -> None:
    with scripted("x", model_ids=("other",)) as server:
        (error,) = call_all(server.spec(), tmp_path / "t.jsonl", ask(), errors=True)
        assert server.stats()["requests"] == 1
    assert (error.kind, error.fatal) == ("not_found", True)
    assert "model_id" in str(error)


def test_an_unreachable_endpoint_is_fatal_and_said_once(tmp_path: Path) -> None:
    spec = ModelSpec(
        provider="openai", model_id="m", base_url="http://127.0.0.1:9/v1", retry=QUICK
    )
    requests = [ask(question=f"q{number}") for number in range(30)]
    errors = call_all(spec, tmp_path / "t.jsonl", *requests, errors=True)
    assert {(error.kind, error.fatal) for error in errors} == {("connection", True)}
    assert "cannot reach http://127.0.0.1:9/v1" in str(errors[0])
    assert "VLLM_BASE_URL" in str(errors[0])


def test_a_timeout_is_tried_again(scripted: Scripted, tmp_path: Path) -> None:
    spec = SimulateSpec(fault_timeout_s=30.0)
    with scripted({"fault": "timeout"}, "late", spec=spec) as server:
        retry = RetrySpec(max_attempts=2, first_wait_s=0.0, timeout_s=0.3)
        reply = call_one(server.spec(retry=retry), tmp_path / "t.jsonl")
    assert (reply.text, reply.retries) == ("late", 1)


@pytest.mark.parametrize("fault", ["server_error", "cut_reply", "garbage_json", "empty_choices"])
def test_every_named_fault_is_tried_again(scripted: Scripted, tmp_path: Path, fault: str) -> None:
    with scripted({"fault": fault}, {"text": "good"}) as server:
        reply = call_one(server.spec(), tmp_path / "t.jsonl")
    assert (reply.text, reply.retries) == ("good", 1)


def test_faults_of_all_kinds_leave_the_replies_alone(tmp_path: Path) -> None:
    requests = [ask(f"task {n}", question=f"q{n}", seed=n) for n in range(150)]
    texts = []
    for rate in (0.0, 0.5):
        simulate = SimulateSpec(fault_rate=rate, fault_timeout_s=0.05)
        spec = ModelSpec(
            provider="simulated",
            model_id="m",
            simulate=simulate,
            retry=RetrySpec(max_attempts=4, first_wait_s=0.0),
        )
        replies = call_all(spec, tmp_path / f"{rate}.jsonl", *requests)
        texts.append([reply.text for reply in replies])
    assert texts[0] == texts[1]
    assert sum(reply.retries for reply in replies) > 40


def test_r36_the_client_serves_two_event_loops(scripted: Scripted, tmp_path: Path) -> None:
    with scripted("text {count}") as server, Transcript(tmp_path / "t.jsonl") as transcript:
        client = ModelClient("m", server.spec(), transcript)

        async def run(question: str) -> str | None:
            async with client:
                return (await client.chat(ask(question=question))).text

        texts = [asyncio.run(run("a")), asyncio.run(run("b"))]
    assert texts == ["text 0", "text 1"]


BOUNDED = """
import asyncio, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from helpers import ask, call_all, QUICK
from lcbgrid.config.model_spec import ModelSpec
spec = ModelSpec(provider="openai", model_id="m", base_url=sys.argv[1], retry=QUICK,
                 max_concurrency=50)
call_all(spec, Path(sys.argv[2]) / "warm.jsonl", ask())
before = len(os.listdir("/proc/self/fd"))
replies = call_all(spec, Path(sys.argv[2]) / "t.jsonl",
                   *[ask(question=f"q{n}") for n in range(500)])
print(len(replies), sum(r.retries for r in replies), len(os.listdir("/proc/self/fd")) - before)
"""


def test_r36_and_s11_descriptors_stay_bounded_and_the_end_is_clean(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted("x") as server:
        command = [sys.executable, "-W", "error", "-c", BOUNDED]
        done = subprocess.run(
            [*command, server.base_url, str(tmp_path), str(Path(__file__).parent)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert done.stdout.split() == ["500", "0", "0"], done.stderr
    assert done.stderr == ""


def test_the_limit_of_calls_in_flight_is_kept(scripted: Scripted, tmp_path: Path) -> None:
    with scripted("x", spec=SimulateSpec(latency_ms=50.0)) as server:
        spec = server.spec(max_concurrency=5)
        started = time.monotonic()
        call_all(spec, tmp_path / "t.jsonl", *[ask(question=f"q{n}") for n in range(20)])
        assert time.monotonic() - started >= 0.19


def test_a_client_outside_its_block_is_a_mistake_of_ours(
    scripted: Scripted, tmp_path: Path
) -> None:
    with scripted("x") as server, Transcript(tmp_path / "t.jsonl") as transcript:
        client = ModelClient("m", server.spec(), transcript)
        with pytest.raises(RuntimeError, match="async with"):
            asyncio.run(client.chat(ask()))


def test_a_cancelled_call_leaves_the_client_usable(scripted: Scripted, tmp_path: Path) -> None:
    async def run(client: ModelClient) -> str | None:
        async with client:
            slow = asyncio.create_task(client.chat(ask(question="slow")))
            await asyncio.sleep(0.05)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            return (await client.chat(ask(question="next"))).text

    with (
        scripted("text {count}", spec=SimulateSpec(latency_ms=150.0)) as server,
        Transcript(tmp_path / "t.jsonl") as transcript,
    ):
        client = ModelClient("m", server.spec(max_concurrency=1), transcript)
        assert asyncio.run(run(client)) == "text 1"


def test_the_environment_is_honoured_where_the_setting_is_empty(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted("from {model}", api_key="sk-right-key-123456") as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.base_url)
        monkeypatch.setenv("MODEL_ID", "named-by-env")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-right-key-123456")
        spec = ModelSpec(provider="openai", model_id="env", retry=QUICK)
        assert call_one(spec, tmp_path / "t.jsonl").text == "from named-by-env"
        set_spec = ModelSpec(provider="openai", model_id="set", retry=QUICK)
        assert call_one(set_spec, tmp_path / "u.jsonl").text == "from set"
    for file in tmp_path.iterdir():
        assert b"sk-right" not in file.read_bytes()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model_id": "m"}, "VLLM_BASE_URL"),
        ({"model_id": "env", "base_url": "http://localhost/v1"}, "MODEL_ID"),
    ],
)
def test_what_is_configured_nowhere_is_named(
    tmp_path: Path, fields: dict[str, Any], said: str
) -> None:
    with Transcript(tmp_path / "t.jsonl") as transcript, pytest.raises(ConfigError, match=said):
        ModelClient("m", ModelSpec(provider="openai", **fields), transcript)


def test_errors_cross_process_pools_whole() -> None:
    error = ModelCallError("no", where="m", remedy="do", kind="auth", fatal=True)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.kind, copy.fatal) == (str(error), "auth", True)
