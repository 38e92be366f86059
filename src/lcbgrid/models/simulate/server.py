"""Run the simulated server: in a thread of this process, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from lcbgrid.config.model_spec import SimulateSpec
from lcbgrid.core.errors import InfrastructureError
from lcbgrid.models.simulate.app import SimulatedApp
from lcbgrid.models.simulate.http import HttpProtocol

BACKLOG = 1024
START_TIMEOUT_S = 20.0


class _Listener:
    """The listening socket and the open connections of one app."""

    def __init__(self, app: SimulatedApp) -> None:
        self._app = app
        self._connections: set[HttpProtocol] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> str:
        loop = asyncio.get_running_loop()
        make = functools.partial(
            HttpProtocol, self._app.handle, self._app.refuse, self._connections
        )
        try:
            self._server = await loop.create_server(make, host, port, backlog=BACKLOG)
        except OSError as error:
            raise InfrastructureError(
                f"the simulated server cannot listen: {error.strerror or error}",
                where=f"{host}:{port}",
                remedy="choose another port, or 0 for any free one",
            ) from error
        bound = self._server.sockets[0].getsockname()
        return f"http://{host}:{bound[1]}/v1"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)
        if self._server is not None:
            await self._server.wait_closed()


@contextlib.contextmanager
def serve_in_thread(
    spec: SimulateSpec,
    *,
    model_ids: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    api_key: str | None = None,
    context_tokens: int | None = None,
    script: Path | str | None = None,
    problems_dir: Path | str | None = None,
) -> Iterator[str]:
    """Serve from a thread while the block runs; yield the base address, ending in ``/v1``.

    The arguments are those of ``SimulatedApp``. The app of a running server is
    reachable through ``GET /stats`` (at the root, beside ``/v1``).
    """
    app = SimulatedApp(
        spec,
        model_ids=model_ids,
        api_key=api_key,
        context_tokens=context_tokens,
        script=script,
        problems_dir=problems_dir,
    )
    started = threading.Event()
    state: dict[str, object] = {}

    async def serve() -> None:
        listener = _Listener(app)
        stop = asyncio.Event()
        try:
            state["base_url"] = await listener.start(host, port)
            state["loop"], state["stop"] = asyncio.get_running_loop(), stop
        except InfrastructureError as error:
            state["error"] = error
            return
        finally:
            started.set()
        try:
            await stop.wait()
        finally:
            await listener.stop()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="simulated", daemon=True)
    thread.start()
    if not started.wait(START_TIMEOUT_S):
        raise InfrastructureError("the simulated server did not start in time")
    if isinstance(state.get("error"), InfrastructureError):
        thread.join()
        raise state["error"]  # type: ignore[misc]
    loop, stop = state["loop"], state["stop"]
    assert isinstance(loop, asyncio.AbstractEventLoop)
    assert isinstance(stop, asyncio.Event)
    try:
        yield str(state["base_url"])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(START_TIMEOUT_S)


def run_server(
    spec: SimulateSpec,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    model_ids: Sequence[str] = (),
    api_key: str | None = None,
    context_tokens: int | None = None,
    script: Path | str | None = None,
    problems_dir: Path | str | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; print the base address as one line on stdout when ready.

    Raises:
        InfrastructureError: The port is taken.
    """
    app = SimulatedApp(
        spec,
        model_ids=model_ids,
        api_key=api_key,
        context_tokens=context_tokens,
        script=script,
        problems_dir=problems_dir,
    )

    async def serve() -> None:
        listener = _Listener(app)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        base_url = await listener.start(host, port)
        sys.stdout.write(base_url + "\n")
        sys.stdout.flush()
        await stop.wait()
        await listener.stop()

    asyncio.run(serve())
