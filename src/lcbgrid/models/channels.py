"""Two ways for the bytes of a request to reach an OpenAI-compatible endpoint.

``SdkChannel`` sends each request through the OpenAI SDK: HTTPS, proxies, everything it knows.
``PlainChannel`` is for plain ``http`` (a vLLM server, the simulated server): the SDK builds the
request's head once, and our own pool sends that head with every body. The SDK's path costs 2 to
4 ms of CPU a call with 64 connections, this one about a tenth.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from lcbgrid.models.failures import CallFailure
from lcbgrid.models.http_pool import CutReply, HttpPool, HttpReply
from lcbgrid.models.provider import Endpoint

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_PATH = "/chat/completions"
_JSON = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_OWN_HEADERS = frozenset({b"content-length", b"connection", b"transfer-encoding"})


class Channel(Protocol):
    """Posts request bodies; ``lookahead`` as in ``Provider``."""

    lookahead: int

    async def post(self, data: bytes) -> HttpReply:
        """Send one body; a reply of any status is returned.

        Raises:
            CallFailure: Of kind ``timeout`` or ``connection``.
        """

    async def close(self) -> None:
        """Close every connection."""


def is_plain(base_url: str) -> bool:
    """True for ``http`` endpoints that no proxy setting of the environment applies to."""
    parts = urlsplit(base_url)
    if parts.scheme != "http" or parts.username:
        return False
    proxies = urllib.request.getproxies()
    if not ("http" in proxies or "all" in proxies):
        return True
    return bool(urllib.request.proxy_bypass(parts.hostname or ""))


class SdkChannel:
    """Every request goes through the SDK."""

    lookahead = 0

    def __init__(self, endpoint: Endpoint, *, limit: int, timeout_s: float) -> None:
        import httpx2

        limits = httpx2.Limits(max_connections=limit, max_keepalive_connections=limit)
        http_client = httpx2.AsyncClient(limits=limits, timeout=timeout_s)
        self._sdk = _sdk(endpoint, http_client, timeout_s)
        self._timeout_s = timeout_s

    async def post(self, data: bytes) -> HttpReply:
        """Send one body; see ``Channel``."""
        import openai

        started_s = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s):  # the SDK's own limit is per read
                response = await _sdk_post(self._sdk, data)
        except openai.APIStatusError as error:
            response = error.response
        except (openai.APITimeoutError, TimeoutError):
            message = f"no reply within {self._timeout_s:g} s"
            raise CallFailure("timeout", message) from None
        except openai.APIConnectionError as error:
            raise CallFailure("connection", str(error.__cause__ or error)) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        latency_s = time.perf_counter() - started_s
        return HttpReply(response.status_code, headers, response.content, latency_s)

    async def close(self) -> None:
        """Close every connection."""
        await self._sdk.close()


class PlainChannel:
    """The SDK's head on every request, our own pool under it."""

    lookahead = 8

    def __init__(self, head: bytes, pool: HttpPool) -> None:
        self._head = head
        self._pool = pool

    @classmethod
    async def open(cls, endpoint: Endpoint, *, limit: int, timeout_s: float) -> PlainChannel:
        """Have the SDK build one request and keep its head; nothing is sent."""
        parts = urlsplit(endpoint.base_url or "")
        pool = HttpPool(parts.hostname or "", parts.port or 80, limit=limit, timeout_s=timeout_s)
        return cls(await _request_head(endpoint, timeout_s), pool)

    async def post(self, data: bytes) -> HttpReply:
        """Send one body; see ``Channel``."""
        try:
            return await self._pool.send(
                b"%scontent-length: %d\r\n\r\n%s" % (self._head, len(data), data)
            )
        except TimeoutError as error:
            raise CallFailure("timeout", str(error)) from None
        except CutReply as error:
            raise CallFailure("connection", str(error)) from None
        except OSError as error:
            raise CallFailure("connection", error.strerror or str(error)) from None

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()


def _sdk(endpoint: Endpoint, http_client: httpx2.AsyncClient, timeout_s: float) -> AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        max_retries=0,  # retries are counted and bounded by our own client
        timeout=timeout_s,
        http_client=http_client,
    )


async def _sdk_post(sdk: AsyncOpenAI, data: bytes) -> httpx2.Response:
    import httpx2

    return await sdk.post(_PATH, cast_to=httpx2.Response, content=data, options={"headers": _JSON})


async def _request_head(endpoint: Endpoint, timeout_s: float) -> bytes:
    """Return the head that the SDK gives to a request, without the length and the final line."""
    import httpx2

    seen: list[httpx2.Request] = []

    def keep(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, content=b"{}", request=request)

    http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(keep), trust_env=False)
    sdk = _sdk(endpoint, http_client, timeout_s)
    try:
        await _sdk_post(sdk, b"{}")
    finally:
        await sdk.close()
    request = seen[0]
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    lines += [
        b"%s: %s" % (name, value)
        for name, value in request.headers.raw
        if name.lower() not in _OWN_HEADERS
    ]
    return b"\r\n".join(lines) + b"\r\n"
