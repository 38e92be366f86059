"""Which request meets which fault; decided by the request's own bytes and the attempt's number."""

from __future__ import annotations

import json

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.models.simulate.chance import chance, pick
from lcbgrid.models.simulate.http import Response

MAX_FAULTS_PER_REQUEST = 2
"""From the third attempt on a request meets no transient fault, so three attempts always do."""


class FaultPlan:
    """Draws transient faults and lasting context overflows.

    Args:
        spec: Rates and kinds.
    """

    def __init__(self, spec: SimulateSpec) -> None:
        self._spec = spec
        self._attempts: dict[str, int] = {}

    def transient(self, request_id: str) -> str | None:
        """Return the kind of fault that this attempt meets, if any, and count the attempt."""
        spec = self._spec
        if spec.fault_rate <= 0.0 or not spec.faults:
            return None
        attempt = self._attempts.get(request_id, 0)
        self._attempts[request_id] = attempt + 1
        if attempt >= MAX_FAULTS_PER_REQUEST:
            return None
        if chance("fault", spec.seed, request_id, attempt) >= spec.fault_rate:
            return None
        return pick(spec.faults, "kind of fault", spec.seed, request_id, attempt)

    def overflows(self, request_id: str) -> bool:
        """Return True if this request is refused as too long, on every attempt."""
        rate = self._spec.overflow_rate
        return rate > 0.0 and chance("overflow", self._spec.seed, request_id) < rate

    def response(self, kind: str, good: Response) -> Response:
        """Return what a fault of this kind makes of a good response."""
        spec = self._spec
        if kind == "rate_limit":
            headers = {"retry-after": f"{spec.retry_after_s:g}"}
            body = error_body("rate limit reached (simulated)", "rate_limit_exceeded")
            return Response(429, body, headers)
        if kind == "server_error":
            return Response(500, error_body("internal error (simulated)", "server_error"))
        if kind == "timeout":
            return Response(200, b"", delay_s=spec.fault_timeout_s, never=True)
        if kind == "cut_reply":
            half = max(1, len(good.body) // 2)
            return Response(200, good.body, delay_s=good.delay_s, cut_after=half)
        if kind == "garbage_json":
            return Response(200, b'{"choices": [{"message": <garbage>', delay_s=good.delay_s)
        empty = json.loads(good.body) | {"choices": []}
        return Response(200, json.dumps(empty).encode(), delay_s=good.delay_s)


def error_body(message: str, code: str) -> bytes:
    """Return an error body in the OpenAI form."""
    error = {"message": message, "type": code, "param": None, "code": code}
    return json.dumps({"error": error}).encode()
