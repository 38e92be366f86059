"""The simulated service: routes, keys, checks, faults, and who answers."""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate.answer import Answer
from lcbgrid.models.simulate.chance import count_tokens
from lcbgrid.models.simulate.faults import FaultPlan, error_body
from lcbgrid.models.simulate.http import Request, Response
from lcbgrid.models.simulate.known import load_known_problems
from lcbgrid.models.simulate.script import Script
from lcbgrid.models.simulate.skill import SkilledModel
from lcbgrid.models.simulate.validate import BadRequest, check_request, text_of

PRETEND_LIMIT_TOKENS = 4096
MESSAGE_TOKENS = 4
"""Tokens that each message costs beside its text."""


class SimulatedApp:
    """Answers requests; holds all state of one server.

    Args:
        spec: Latency, skill and faults.
        model_ids: Names that are served; empty: any name.
        api_key: Key that requests must carry; ``None``: none.
        context_tokens: Prompt and reply must fit into it; ``None``: no limit.
        script: JSON lines file of scripted answers, tried before the skilled ones;
            default ``spec.script``.
        problems_dir: Folder with ``problems.jsonl`` and ``solutions.jsonl``; default: the
            embedded set.
    """

    def __init__(
        self,
        spec: SimulateSpec,
        *,
        model_ids: Sequence[str] = (),
        api_key: str | None = None,
        context_tokens: int | None = None,
        script: Path | str | None = None,
        problems_dir: Path | str | None = None,
    ) -> None:
        self._model_ids = tuple(model_ids)
        self._bearer = f"Bearer {api_key}" if api_key else None
        self._context_tokens = context_tokens
        self._latency_s = spec.latency_ms / 1000.0
        self._faults = FaultPlan(spec)
        script = script or spec.script
        self._script = Script.load(script) if script else None
        self._model = SkilledModel(spec, load_known_problems(problems_dir))
        self._counts: collections.Counter[str] = collections.Counter()

    def handle(self, request: Request) -> Response:
        """Answer one HTTP request."""
        path = request.path.partition("?")[0]
        if path == "/health":
            return Response(200, b'{"status": "ok"}')
        if path == "/stats":
            return Response(200, json.dumps(self.stats()).encode())
        self._counts["requests"] += 1
        response = self._authorised(request, path)
        self._counts[f"status {response.status}"] += 1
        return response

    def refuse(self, status: int, message: str) -> Response:
        """Answer bytes that are no HTTP request."""
        self._counts["bad http"] += 1
        return Response(status, error_body(message, "bad_http"))

    def stats(self) -> dict[str, int]:
        """Return counts of requests, statuses, faults and tokens since the start."""
        return dict(sorted(self._counts.items()))

    def _authorised(self, request: Request, path: str) -> Response:
        if self._bearer is not None and request.headers.get("authorization") != self._bearer:
            return Response(401, error_body("incorrect API key provided", "invalid_api_key"))
        if path == "/v1/models":
            names = self._model_ids or ("simulated",)
            rows = [{"id": name, "object": "model", "owned_by": "lcbgrid"} for name in names]
            return Response(200, json.dumps({"object": "list", "data": rows}).encode())
        if path != "/v1/chat/completions":
            return Response(404, error_body(f"no such path: {path}", "not_found"))
        if request.method != "POST":
            return Response(405, error_body("use POST", "method_not_allowed"))
        self._counts["chat"] += 1
        try:
            return self._chat(request.body)
        except BadRequest as error:
            return Response(400, error_body(str(error), "invalid_request_error"))

    def _chat(self, data: bytes) -> Response:
        try:
            body = json.loads(data)
        except ValueError as error:
            message = f"the body is no JSON: {error}"
            raise BadRequest(message) from None
        check_request(body)
        if self._model_ids and body["model"] not in self._model_ids:
            message = f"the model {body['model']!r} does not exist"
            return Response(404, error_body(message, "model_not_found"))
        request_id = hashlib.sha256(data).hexdigest()
        prompt_tokens = _prompt_tokens(body)
        overflow = self._overflow(body, prompt_tokens, request_id)
        if overflow is not None:
            self._counts["overflow"] += 1
            return overflow
        fault = self._faults.transient(request_id)
        if fault == "rate_limit" or fault == "server_error" or fault == "timeout":
            self._counts[f"fault {fault}"] += 1
            return self._faults.response(fault, Response(200, b""))
        answer = self._script.answer(body) if self._script else None
        if answer is None:
            answer = self._model.answer(body)
        if answer.fault is not None:
            fault = answer.fault
        good = self._completion(body, answer, prompt_tokens, request_id)
        if fault is not None:
            self._counts[f"fault {fault}"] += 1
            return self._faults.response(fault, good)
        return good

    def _overflow(
        self, body: Mapping[str, Any], prompt_tokens: int, request_id: str
    ) -> Response | None:
        limit = self._context_tokens
        wanted = prompt_tokens + _max_tokens(body)
        if limit is None or wanted <= limit:
            if not self._faults.overflows(request_id):
                return None
            limit = PRETEND_LIMIT_TOKENS
            wanted = limit + prompt_tokens
        message = (
            f"This model's maximum context length is {limit} tokens, however you requested "
            f"{wanted} tokens. Reduce the length of the messages."
        )
        return Response(400, error_body(message, "context_length_exceeded"))

    def _completion(
        self, body: Mapping[str, Any], answer: Answer, prompt_tokens: int, request_id: str
    ) -> Response:
        if answer.status is not None:
            data = error_body(answer.text or "scripted error", "scripted_error")
            return Response(answer.status, data, dict(answer.headers), delay_s=self._latency_s)
        answer = answer.cut(body.get("stop"), body.get("max_tokens") or 0)
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.reasoning is not None:
            message["reasoning_content"] = answer.reasoning
        if answer.tool_calls:
            message["tool_calls"] = [call.to_wire() for call in answer.tool_calls]
        completion_tokens = answer.completion_tokens
        self._counts["prompt_tokens"] += prompt_tokens
        self._counts["completion_tokens"] += completion_tokens
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
        choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        completion = {
            "id": f"chatcmpl-{request_id[:16]}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }
        return Response(
            200, json.dumps(completion).encode(), dict(answer.headers), delay_s=self._latency_s
        )


def _prompt_tokens(body: Mapping[str, Any]) -> int:
    tokens = sum(count_tokens(text_of(m)) + MESSAGE_TOKENS for m in body["messages"])
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            tokens += count_tokens(call["function"]["arguments"])
    if body.get("tools"):
        tokens += count_tokens(json.dumps(body["tools"]))
    return tokens


def _max_tokens(body: Mapping[str, Any]) -> int:
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
