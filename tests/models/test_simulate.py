"""The simulated server: strict protocol, faults that repeat, answers that follow the prompt."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core.errors import ConfigError, DataError, InfrastructureError
from lcbgrid.models.simulate import SimulatedApp, serve_in_thread
from lcbgrid.models.simulate.command import serve_command
from lcbgrid.models.simulate.http import Request
from lcbgrid.models.simulate.known import load_known_problems
from lcbgrid.models.simulate.script import Script

from .helpers import STATEMENTS, Scripted, write_problems

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "python_exec"}}]


def chat(app: SimulatedApp, *messages: Any, **fields: Any) -> tuple[int, Any]:
    body = {"model": "m", "messages": list(messages) or [USER]} | fields
    data = json.dumps(body).encode()
    response = app.handle(Request("POST", "/v1/chat/completions", {}, data))
    return response.status, json.loads(response.body)


@pytest.fixture
def app(tmp_path: Path) -> SimulatedApp:
    return SimulatedApp(SimulateSpec(), problems_dir=write_problems(tmp_path / "p"))


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "stream": ({"stream": True}, "stream"),
    "n": ({"n": 2}, "'n' must be 1"),
    "temperature": ({"temperature": 3}, "'temperature'"),
    "max_tokens": ({"max_tokens": 0}, "'max_tokens'"),
    "seed": ({"seed": "x"}, "'seed'"),
    "stop": ({"stop": [1]}, "'stop'"),
    "no tools": ({"tools": []}, "'tools'"),
    "tool without name": ({"tools": [{"type": "function", "function": {}}]}, "tools[0]"),
    "no messages": ({"messages": []}, "'messages'"),
    "role": ({"messages": [{"role": "robot", "content": "x"}]}, "'robot'"),
    "null content": ({"messages": [{"role": "user", "content": None}]}, "must not be null"),
    "image": ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "no text"),
    "tool without call": (
        {"messages": [USER, {"role": "tool", "content": "1", "tool_call_id": "c"}]},
        "not open",
    ),
    "call without tool": (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, USER]},
        "no tool message",
    ),
    "open call at the end": (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}]},
        "no tool message",
    ),
    "calls of a user": ({"messages": [USER | {"tool_calls": [CALL]}]}, "only the assistant"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_breaks_the_protocol_is_refused_by_name(app: SimulatedApp, name: str) -> None:
    fields, said = BAD[name]
    status, body = chat(app, **fields)
    assert status == 400
    assert said in body["error"]["message"]


def test_paths_methods_keys_and_models(tmp_path: Path) -> None:
    app = SimulatedApp(SimulateSpec(), model_ids=("m",), api_key="k")
    headers = {"authorization": "Bearer k"}

    def status(path: str, method: str = "GET", body: bytes = b"", **changes: str) -> int:
        return app.handle(Request(method, path, headers | changes, body)).status

    assert status("/health") == status("/v1/models") == status("/stats") == 200
    assert status("/v1/models", authorization="Bearer wrong") == 401
    assert status("/v2") == 404
    assert status("/v1/chat/completions") == 405
    assert status("/v1/chat/completions", "POST", b"{no json") == 400
    other = json.dumps({"model": "other", "messages": [USER]}).encode()
    assert status("/v1/chat/completions", "POST", other) == 404
    assert app.stats()["status 401"] == 1


def test_the_same_request_gets_the_same_answer_and_seeds_differ(app: SimulatedApp) -> None:
    question = {"role": "user", "content": STATEMENTS["p1"]}
    texts = [chat(app, question, seed=seed)[1]["choices"][0]["message"] for seed in range(40)]
    again = [chat(app, question, seed=seed)[1]["choices"][0]["message"] for seed in range(40)]
    assert texts == again
    assert len({str(text) for text in texts}) > 3
    greedy = [chat(app, question, seed=seed, temperature=0)[1]["choices"] for seed in range(9)]
    assert all(choices == greedy[0] for choices in greedy)


def share_right(app: SimulatedApp, question: str, system: str) -> float:
    reference = {"p1": "print(2*int(input()))", "p2": "class Solution: total=sum"}[question]
    right = 0
    for seed in range(400):
        messages = [{"role": "system", "content": system}]
        messages.append({"role": "user", "content": f"Solve.\n\n{STATEMENTS[question]}\n"})
        _, body = chat(app, *messages, seed=seed, temperature=0.2)
        right += reference in (body["choices"][0]["message"]["content"] or "")
    return right / 400


def test_difficulty_prompt_and_skill_change_the_odds(tmp_path: Path) -> None:
    folder = write_problems(tmp_path / "p")
    app = SimulatedApp(SimulateSpec(), problems_dir=folder)
    plain = share_right(app, "p1", "You are helpful.")
    good = "Read standard input. Mind edge cases, think step by step. One fenced code block."
    assert share_right(app, "p1", good) > plain + 0.1
    assert share_right(app, "p2", "You are helpful.") < plain - 0.2
    skilled = SimulatedApp(SimulateSpec(skill=3.0), problems_dir=folder)
    assert share_right(skilled, "p1", "You are helpful.") > 0.85


def test_tools_are_called_first_and_answered_after(app: SimulatedApp) -> None:
    question = {"role": "user", "content": STATEMENTS["p1"]}
    called = 0
    for seed in range(30):
        _, body = chat(app, question, seed=seed, tools=TOOLS)
        choice = body["choices"][0]
        if choice["finish_reason"] != "tool_calls":
            continue
        called += 1
        call = choice["message"]["tool_calls"][0]
        assert set(json.loads(call["function"]["arguments"])) == {"code", "stdin"}
        result = {"role": "tool", "tool_call_id": call["id"], "content": "exit_code: 0"}
        _, body = chat(app, question, choice["message"], result, seed=seed, tools=TOOLS)
        assert body["choices"][0]["finish_reason"] == "stop"
    assert 10 < called < 30


def test_an_unknown_task_and_a_prompt_task_get_answers(app: SimulatedApp) -> None:
    _, body = chat(app, {"role": "user", "content": "What is love?"})
    assert "do not know" in body["choices"][0]["message"]["content"]
    ask_prompt = {"role": "user", "content": "Propose an improved prompt for the solver."}
    texts = {
        chat(app, ask_prompt, seed=seed)[1]["choices"][0]["message"]["content"]
        for seed in range(8)
    }
    assert len(texts) > 3
    assert all("solve programming problems" in text for text in texts)


def test_limits_and_stop_texts_are_honoured(app: SimulatedApp) -> None:
    question = {"role": "user", "content": STATEMENTS["p1"]}
    _, body = chat(app, question, seed=1, max_tokens=3)
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["completion_tokens"] == 3
    _, body = chat(app, question, seed=1, stop=["```"])
    assert "```" not in body["choices"][0]["message"]["content"]


def test_a_real_overflow_names_its_numbers(tmp_path: Path) -> None:
    app = SimulatedApp(SimulateSpec(), context_tokens=100)
    status, body = chat(app, USER, max_tokens=200)
    assert status == 400
    assert "maximum context length is 100 tokens" in body["error"]["message"]
    assert body["error"]["code"] == "context_length_exceeded"


def test_faults_repeat_and_end_after_two_attempts() -> None:
    def kinds(seed: int) -> list[list[int]]:
        app = SimulatedApp(SimulateSpec(fault_rate=0.5, seed=seed, faults=("server_error",)))
        return [[chat(app, USER, seed=n)[0] for _ in range(4)] for n in range(60)]

    first = kinds(0)
    assert first == kinds(0)
    assert first != kinds(1)
    assert all(attempts[2:] == [200, 200] for attempts in first)
    assert 0.3 < sum(attempts[0] == 500 for attempts in first) / 60 < 0.7


def test_lasting_overflows_last() -> None:
    app = SimulatedApp(SimulateSpec(overflow_rate=0.5))
    statuses = [[chat(app, USER, seed=n)[0] for _ in range(3)] for n in range(40)]
    assert all(len(set(row)) == 1 for row in statuses)
    assert {row[0] for row in statuses} == {200, 400}


def test_bytes_that_are_no_request_are_answered_and_counted(scripted: Scripted) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    with scripted("x") as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(head)
            assert connection.recv(4096).startswith(b"HTTP/1.1 411 ")
        assert server.stats()["bad http"] == 1


SERVE = """
from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate import run_server
run_server(SimulateSpec())
"""


def test_a_process_prints_its_address_and_ends_cleanly() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SERVE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{base_url}/models") as reply:
            assert json.load(reply)["data"]
        process.terminate()
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert errors == ""


def test_a_taken_port_is_one_clear_line(scripted: Scripted) -> None:
    with scripted("x") as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        with (
            pytest.raises(InfrastructureError, match=rf"127\.0\.0\.1:{port}.*another port"),
            serve_in_thread(SimulateSpec(), port=port),
        ):
            pass


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"mach": "x", "replies": ["a"]}', "did you mean 'match'"),
        ('{"match": "x"}', "needs 'replies'"),
        ('{"replies": [{"txt": "a"}]}', "a reply is a text or has only"),
    ],
)
def test_a_bad_script_is_explained(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "s.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=said):
        Script.load(tmp_path / "s.jsonl")


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="script"):
        Script.load(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"problems\.jsonl"):
        load_known_problems(tmp_path)


def test_the_embedded_set_is_known() -> None:
    problems = load_known_problems()
    if not len(problems):
        pytest.skip("the embedded problem set is not installed")
    assert len(problems) >= 60


def test_the_command_refuses_unknown_and_real_models(tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text("models:\n  real: {provider: openai, model_id: x}\n")
    with pytest.raises(ConfigError, match="did you mean 'real'"):
        serve_command(model="rael", models_file=models)
    with pytest.raises(ConfigError, match="not a simulated one"):
        serve_command(model="real", models_file=models)
