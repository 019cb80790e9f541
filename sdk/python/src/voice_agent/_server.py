"""The WebSocket server of an agent: who may connect, how many, and how it stops."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import os
import signal
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict

from websockets.asyncio.server import Server, ServerConnection
from websockets.asyncio.server import serve as serve_websocket
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from . import _wire as wire
from . import _wire_types as protocol
from ._errors import LinkBroken
from ._host import AgentHost

if TYPE_CHECKING:
    from ._agent import Agent

log = logging.getLogger("voice_agent")

socket_log = logging.getLogger("voice_agent.socket")
# Below this the library writes the headers of requests, and so tokens, into the log.
socket_log.setLevel(logging.WARNING)

GRACE_MS = 30_000
MAX_CALLS = 1_000
FRAMES_QUEUED = 64
"""Messages of one link that are read ahead of the agent; beyond them the service has to wait."""


class ServerOptions(TypedDict, total=False):
    """What `Agent.listen` and `Agent.run` pass on; see `AgentServer`."""

    token: str | None
    insecure: bool
    max_calls: int
    grace_ms: int


class AgentServer:
    """Listens for the service. `async with` starts it; leaving lets running calls end for `grace_ms`, then ends them.

    `token` is the bearer token that the service sends (`SVC_AGENT_TOKEN`). Off the loopback interface one is required, or
    `insecure=True`: whoever connects gets the agent's prompts and may call its tools.
    """

    def __init__(
        self,
        agent: Agent,
        host: str = "127.0.0.1",
        port: int = 8090,
        *,
        token: str | None = None,
        insecure: bool = False,
        max_calls: int = MAX_CALLS,
        grace_ms: int = GRACE_MS,
    ) -> None:
        if token == "":
            raise ValueError("token must not be empty")
        if token is None and not insecure and not _is_loopback(host):
            raise ValueError("host is not a loopback address: give a token, or insecure=True")
        wire.write_message(agent.accept(agent.opening()))
        self._agent = agent
        self._host = host
        self._port = port
        self._token = None if token is None else token.encode()
        self._grace_ms = grace_ms
        self._calls = AgentHost(agent, max_calls=max_calls)
        self._most_connections = 2 * max_calls
        self._connections = 0
        self._server: Server | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, also when 0 was asked for."""
        if self._server is None:
            return self._port
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def url(self) -> str:
        """`ws://host:port`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"ws://{host}:{self.port}"

    @property
    def calls(self) -> int:
        """Calls that run or wait for their link."""
        return self._calls.calls

    async def start(self) -> None:
        """Begins to listen. Raises `OSError` when the address cannot be had."""
        self._server = await serve_websocket(
            self._serve,
            self._host,
            self._port,
            process_request=self._judge,
            compression=None,
            max_size=protocol.MESSAGE_BYTES,
            max_queue=FRAMES_QUEUED,
            open_timeout=protocol.CONNECT_MS / 1000,
            close_timeout=2,
            server_header=None,
            logger=socket_log,
        )
        log.info("agent %s listens on %s, port %d", self._agent.name, self._host, self.port)

    async def close(self, *, grace_ms: int | None = None) -> None:
        """Takes no new calls, gives running ones this long, then ends them and stops listening."""
        limit_ms = self._grace_ms if grace_ms is None else grace_ms
        if self._server is None:
            return
        if not self._agent.resume:
            # Nobody comes back: the port is free for the next process at once.
            self._server.close(close_connections=False)
        if not await self._calls.drained(limit_ms / 1000):
            log.warning("%d calls still ran after %d ms and are left to the service", self.calls, limit_ms)
        self._server.close()
        await self._calls.close()
        await self._server.wait_closed()

    async def __aenter__(self) -> Self:
        """Starts to listen."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drains and stops; at once when the block failed."""
        await self.close(grace_ms=0 if kind is not None else None)

    def _judge(self, connection: ServerConnection, request: Request) -> Response | None:
        """The answer to what opens no link: a probe of the health, and an upgrade that is refused."""
        if request.path == "/healthz" and "Upgrade" not in request.headers:
            return connection.respond(200, "")
        if self._token is not None:
            given = request.headers.get_all("Authorization")
            scheme, _, text = (given[0] if len(given) == 1 else "").partition(" ")
            # Takes the same time whatever differs.
            is_right = hmac.compare_digest(text.strip().encode("utf-8", "surrogateescape"), self._token)
            if scheme.lower() != "bearer" or not is_right:
                log.warning("a connection without the right token is refused")
                return connection.respond(401, "the bearer token is missing or wrong\n")
        if self._connections >= self._most_connections:
            return connection.respond(503, "too many connections\n")
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        self._connections += 1
        try:
            await self._calls.serve(SocketConnection(socket))
        finally:
            self._connections -= 1


class SocketConnection:
    """A connection of the library `websockets` as a link needs it."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    @property
    def path(self) -> str:
        """Path and query of the URL that the service opened."""
        return self._socket.request.path if self._socket.request is not None else "/"

    async def recv(self) -> str | bytes:
        """The next message, or `LinkBroken`."""
        try:
            return await self._socket.recv()
        except ConnectionClosed as error:
            raise LinkBroken("the connection is closed") from error

    async def send(self, text: str) -> None:
        """Sends a message, or `LinkBroken`."""
        try:
            await self._socket.send(text)
        except ConnectionClosed as error:
            raise LinkBroken("the connection is closed") from error

    async def close(self, code: int, reason: str) -> None:
        """Closes; again is nothing."""
        await self._socket.close(code, reason)


async def run_until_stopped(agent: Agent, host: str | None, port: int | None, options: ServerOptions) -> None:
    """Serves until SIGTERM or SIGINT; a second signal ends the calls that still run."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    options.setdefault("token", os.environ.get("SVC_AGENT_TOKEN") or None)
    server = AgentServer(
        agent,
        host or os.environ.get("VOICE_AGENT_HOST") or "127.0.0.1",
        _port_from_environment() if port is None else port,
        **options,
    )
    stop, hurry = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (hurry if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(each, on_signal)
        except NotImplementedError:  # Windows
            signal.signal(each, lambda *_: loop.call_soon_threadsafe(on_signal))
    await server.start()
    await stop.wait()
    log.info("the agent stops: no new calls, %d still run", server.calls)
    closing = asyncio.ensure_future(server.close())
    hurried = asyncio.ensure_future(hurry.wait())
    await asyncio.wait({closing, hurried}, return_when=asyncio.FIRST_COMPLETED)
    if not closing.done():
        closing.cancel()
        await server.close(grace_ms=0)
    hurried.cancel()


def _port_from_environment() -> int:
    text = os.environ.get("VOICE_AGENT_PORT") or "8090"
    if not text.isdecimal() or int(text) > 65_535:
        raise ValueError("VOICE_AGENT_PORT must be a port, 0 to 65535")
    return int(text)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
