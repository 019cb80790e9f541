"""Runs an agent against a scripted call, in memory and without a service.

    async with ScriptedCall(agent) as call:
        assert call.greeting == "Hello!"
        assert (await call.call_tool("order_status", order_number="427")).result == "ready"
        await call.user_says("Goodbye!")
        assert await call.expect_end() == "See you!"

The call sends what a service would send and answers commands as one would: every one is done, unless `refuse` said
otherwise. Nothing here plays the model: which tools it would call is the script's business.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from . import _wire as wire
from . import _wire_types as protocol
from ._agent import Agent
from ._errors import LinkBroken
from ._events import ALWAYS_SENT, EVENTS
from ._host import AgentHost
from ._wire_types import CancelReason

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 5.0
_NO_COMMANDS = ("session.accept", "session.reject", "tool.result")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool answered: a result, any JSON, or an error for the model."""

    result: Any = None
    error: str | None = None


class CallRejected(Exception):
    """The agent did not take the scripted call; `code` and `message` are what it said."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ScriptedCall:
    """One call, played by a test.

    `path` is path and query of the URL that the service calls; `caller`, `route`, `session` and `metadata` are what
    `session.start` says of the caller, the route, the token and the client, as they stand on the wire. Without
    `answers_commands` no command gets a result. `timeout_s` is the longest wait for what the agent should do.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        path: str = "/",
        session_id: str = "scripted-call",
        caller: Mapping[str, str] | None = None,
        route: str | None = None,
        session: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        can_transfer: bool = True,
        answers_commands: bool = True,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        self._host = AgentHost(agent)
        self._timeout_s = timeout_s
        self._answers_commands = answers_commands
        self._path = path
        told = {"call": caller, "route": route, "session": session, "metadata": metadata}
        self._offer: dict[str, Any] = {
            "type": "session.start",
            "protocol": protocol.PROTOCOL,
            "versions": [protocol.VERSION],
            "session_id": session_id,
            "agent": agent.name,
            "capabilities": {"transfer": can_transfer, "tools": True},
            **{name: value for name, value in told.items() if value is not None},
        }
        self._pipe = _Pipe(path)
        self._serving: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._seq = 0
        self._epoch = 0
        self._tool_ids = 0
        self._refusals: dict[str, deque[tuple[str, str]]] = {}
        self._written: list[dict[str, Any]] = []
        self._answers: dict[int, ToolOutcome] = {}
        self._waiting: list[dict[str, Any]] = []
        self._changed = asyncio.Condition()
        self.accept: dict[str, Any] = {}
        """The agent's `session.accept`."""

    # ---- the call as a whole

    async def __aenter__(self) -> Self:
        """Begins the call. Raises `CallRejected` when the agent does not take it."""
        self.accept = await self._connect(dict(self._offer))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hangs up, unless the call is over already, and waits for the agent's handlers."""
        if not self._pipe.is_closed:
            await self.hang_up()
        await self._host.close()
        for task in (self._serving, self._reading):
            if task is not None:
                await task

    async def hang_up(self, reason: str = "hangup") -> None:
        """The call ends, and the link with it."""
        self.send("session.end", reason=reason)
        if self._serving is not None:
            await self._serving

    def stop_reading(self) -> None:
        """From now on the service reads nothing that the agent writes, until the link is broken."""
        self._pipe.is_stuck = True

    def break_link(self) -> None:
        """The connection is gone without a word; `resume` takes the call up again."""
        self._pipe.cut()

    async def resume(self, *, lost: int = 0, pending: Sequence[int] = ()) -> None:
        """A new connection for the same call, of which the agent missed `lost` events; `pending` tool calls still wait."""
        self._pipe.cut()
        if self._reading is not None:
            await self._reading
        previous_seq, self._seq = self._seq, 0
        resume = {"attempt": 1, "previous_seq": previous_seq, "down_ms": 0, "replay_from": previous_seq + 1}
        await self._connect({**self._offer, "resume": {**resume, "lost": lost, "pending": list(pending)}})

    @property
    def greeting(self) -> str | None:
        """What the agent says first, or None when the agent file decides."""
        return self.accept.get("greeting")

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The declared tools by name."""
        return {tool["name"]: tool for tool in self.accept.get("tools", [])}

    @property
    def written(self) -> Sequence[Mapping[str, Any]]:
        """Every message of the agent, in order."""
        return tuple(self._written)

    @property
    def commands(self) -> Sequence[Mapping[str, Any]]:
        """Every command so far, in order."""
        return tuple(each for each in self._written if each["type"] not in _NO_COMMANDS)

    @property
    def is_over(self) -> bool:
        """Whether the link is closed."""
        return self._pipe.is_closed

    # ---- what happens in the call

    def send(self, type_: str, **fields: Any) -> int:
        """Sends any message of the service, and returns its `seq`."""
        self._seq += 1
        message = {"seq": self._seq, "t_ms": 20 * self._seq, "type": type_, **fields}
        self._pipe.to_agent(json.dumps(message))
        return self._seq

    def event(self, type_: str, **fields: Any) -> int | None:
        """Sends an event of the conversation if the agent asked for it; None when it did not."""
        wanted = self.accept.get("events")
        if type_ not in EVENTS:
            raise ValueError(f"there is no event {type_!r}")
        is_wanted = wanted is None or type_ in wanted or type_ in ALWAYS_SENT
        return self.send(type_, **fields) if is_wanted else None

    async def user_says(self, text: str) -> None:
        """A whole turn of the caller, as its events; what the agent makes of it is there to be expected."""
        self._epoch += 1
        self.event("turn.user_started", epoch=self._epoch)
        self.event("user.transcript", text=text, final=True)
        self.event("turn.user_ended", epoch=self._epoch)
        self.event("user.text", epoch=self._epoch, text=text)
        await asyncio.sleep(0)

    async def interrupt(self) -> None:
        """The caller cuts the agent off."""
        self._epoch += 1
        self.event("turn.interrupted", epoch=self._epoch)
        await asyncio.sleep(0)

    def start_tool(
        self, name: str, arguments: Mapping[str, Any], *, idempotency_key: str | None = None
    ) -> int:
        """The model calls a tool; returns the id of the call.

        Every call has an idempotency key of its own, unless one is given: then it is another attempt of that call.
        """
        tool = self.tools.get(name)
        if tool is None:
            raise AssertionError(f"the agent declared no tool {name!r}")
        self._tool_ids += 1
        own_key = hashlib.sha256(f"{self._offer['session_id']} {self._tool_ids}".encode()).hexdigest()[:16]
        self.send(
            "tool.call",
            id=self._tool_ids,
            call_id=f"call_{self._tool_ids}",
            name=name,
            arguments=dict(arguments),
            kind=tool.get("kind", "read_only"),
            epoch=self._epoch,
            idempotency_key=idempotency_key or own_key,
            timeout_ms=tool.get("timeout_ms", protocol.TOOL_TIMEOUT_DEFAULT_MS),
        )
        return self._tool_ids

    def cancel_tool(self, id_: int, reason: CancelReason = "interrupted") -> None:
        """Nobody waits for the result of this call any more."""
        self.send("tool.cancel", id=id_, reason=reason)

    async def tool_outcome(self, id_: int) -> ToolOutcome:
        """Waits for the answer of a tool call."""
        return await self._until(lambda: self._answers.get(id_), f"an answer of tool call {id_}")

    async def call_tool(self, name: str, /, **arguments: Any) -> ToolOutcome:
        """The model calls a tool; waits for its answer."""
        return await self.tool_outcome(self.start_tool(name, arguments))

    def refuse(self, command: str, code: str, message: str = "") -> None:
        """The next command of this type is refused."""
        self._refusals.setdefault(command, deque()).append((code, message))

    # ---- what the agent does

    async def next_command(self) -> dict[str, Any]:
        """Waits for the oldest command, of any type, that no expectation took yet."""
        return await self._until(lambda: self._waiting.pop(0) if self._waiting else None, "a command")

    async def expect(self, type_: str) -> dict[str, Any]:
        """Waits for the next command of this type that no expectation took yet."""

        def take() -> dict[str, Any] | None:
            found = next((each for each in self._waiting if each["type"] == type_), None)
            if found is not None:
                self._waiting.remove(found)
            return found

        return await self._until(take, f"a command {type_}")

    async def expect_say(self) -> str:
        """Waits for the next line that the agent process lets the agent say."""
        return str((await self.expect("say"))["text"])

    async def expect_end(self) -> str | None:
        """Waits for the agent to end the call; its farewell."""
        farewell = (await self.expect("end")).get("say")
        return None if farewell is None else str(farewell)

    async def expect_transfer(self) -> dict[str, Any]:
        """Waits for the agent to transfer the call; the whole command."""
        return await self.expect("transfer")

    # ---- the other side of the link

    async def _connect(self, message: dict[str, Any]) -> dict[str, Any]:
        self._pipe = _Pipe(self._path)
        self._serving = asyncio.ensure_future(self._host.serve(self._pipe))
        type_ = message.pop("type")
        self.send(type_, **message)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = json.loads(await self._pipe.from_agent())
        except TimeoutError:
            raise AssertionError("the agent did not answer the offer of a call") from None
        self._written.append(answer)
        if answer["type"] == "session.reject":
            raise CallRejected(answer["code"], answer["message"])
        assert answer["type"] == "session.accept", f"the agent answered the offer with {answer['type']}"  # noqa: S101
        self._reading = asyncio.ensure_future(self._read(self._pipe))
        return dict(answer)

    async def _read(self, pipe: _Pipe) -> None:
        try:
            while True:
                text = await pipe.from_agent()
                message = wire.read_message(text)
                self._written.append(message)
                self._answer(message)
                async with self._changed:
                    self._changed.notify_all()
        except LinkBroken:
            async with self._changed:
                self._changed.notify_all()

    def _answer(self, message: dict[str, Any]) -> None:
        if message["type"] == "tool.result":
            self._answers[message["id"]] = ToolOutcome(message.get("result"), message.get("error"))
            return
        self._waiting.append(message)
        if not self._answers_commands:
            return
        refusals = self._refusals.get(message["type"])
        if refusals:
            code, words = refusals.popleft()
            self.send("command.result", id=message["id"], ok=False, error={"code": code, "message": words})
            return
        self.send("command.result", id=message["id"], ok=True)
        if message["type"] == "end":
            self.send("session.end", reason="ended_by_agent")
        if message["type"] == "transfer" and message.get("mode") != "warm":
            self.send("session.end", reason="transferred")

    async def _until(self, look: Callable[[], T | None], what: str) -> T:
        found: T | None = None

        def is_there() -> bool:
            nonlocal found
            found = look()
            return found is not None

        try:
            async with asyncio.timeout(self._timeout_s), self._changed:
                await self._changed.wait_for(is_there)
        except TimeoutError:
            raise AssertionError(f"the agent should have sent {what}, and did not") from None
        assert found is not None  # noqa: S101
        return found


class _Pipe:
    """A connection in memory: the agent's side is a `Connection`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_closed = False
        self.is_stuck = False
        self._closed = asyncio.Event()
        self._to_agent: asyncio.Queue[str | None] = asyncio.Queue()
        self._from_agent: asyncio.Queue[str | None] = asyncio.Queue()

    async def recv(self) -> str | bytes:
        return await self._next(self._to_agent)

    async def send(self, text: str) -> None:
        if self.is_stuck:
            await self._closed.wait()
        if self.is_closed:
            raise LinkBroken("the connection is closed")
        self._from_agent.put_nowait(text)

    async def close(self, code: int, reason: str) -> None:
        self.cut()

    def to_agent(self, text: str) -> None:
        self._to_agent.put_nowait(text)

    async def from_agent(self) -> str:
        return await self._next(self._from_agent)

    def cut(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._closed.set()
            self._to_agent.put_nowait(None)
            self._from_agent.put_nowait(None)

    async def _next(self, queue: asyncio.Queue[str | None]) -> str:
        text = await queue.get()
        if text is None:
            queue.put_nowait(None)
            raise LinkBroken("the connection is closed")
        return text
