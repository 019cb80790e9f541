"""The link of one call: what the service sends becomes events, tool calls and results; over as many WebSockets as it takes.

Invariant: a handler or tool that fails or hangs costs what it owes and never the call; every queue here is bounded.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _wire as wire
from . import _wire_types as protocol
from ._commands import Commands, reacting_to
from ._connection import Connection
from ._errors import CallEnded, LinkBroken, WireError
from ._event_queue import EventQueue
from ._events import EVENTS, Event, SessionEnd, SessionResume
from ._session import Offer, Resume, Session
from ._tool_runs import ToolRuns
from ._tools import Tool

if TYPE_CHECKING:
    from ._agent import Agent

log = logging.getLogger("voice_agent")

MOST_FAULTS = 16
"""Messages against the protocol that a link survives."""

MOST_UNSENT = 256
"""Messages that wait for a service that does not read; then the link is closed."""

HANDLER_GRACE_S = 10.0
"""What handlers get after the end of the call."""


class CallLink:
    """One call. `follow` serves a connection until it or the call ends; `finish` winds the call up, once."""

    def __init__(self, agent: Agent, offer: Offer) -> None:
        self._agent = agent
        self._connection: Connection | None = None
        self._outbox: asyncio.Queue[str] = asyncio.Queue(MOST_UNSENT)
        self._commands = Commands(self._post)
        self.session = Session(offer, self._commands)
        self._tools = ToolRuns(self.session, self._post)
        self._events = EventQueue()
        self._dispatcher: asyncio.Task[None] | None = None
        self._faults = 0
        self._hurry = asyncio.Event()
        self._finishing: asyncio.Task[None] | None = None
        self._before: tuple[int, int | None] | None = None
        """What the service named as the link before the newest one, and what of that was seen."""
        self._is_fresh = False
        """Nothing but its opening was seen of the newest link: the service may not know that it was accepted."""
        self.last_seq = 0
        """Newest message of the newest link that was taken."""

    @property
    def is_over(self) -> bool:
        """Whether the call has ended."""
        return self.session.end_reason is not None

    @property
    def is_connected(self) -> bool:
        """Whether a connection serves this call now."""
        return self._connection is not None

    def open(self, tools: Iterable[Tool], first_seq: int, resume: Resume | None) -> None:
        """The call was accepted with these tools."""
        self.last_seq = first_seq
        self._is_fresh = True
        self._before = None if resume is None else (resume.previous_seq, None)
        self._tools.offer(tools)
        self._commands.open()
        self._dispatcher = asyncio.get_running_loop().create_task(self._dispatch())

    async def follow(self, connection: Connection, resume: Resume | None = None) -> None:
        """Reads and writes until the connection closes, the call ends, or another connection takes its place.

        On a link that was taken up again, which `resume` says, what may not have arrived over the old one is sent once more.
        """
        self._connection = connection
        self._outbox = asyncio.Queue(MOST_UNSENT)
        if resume is not None:
            self._tools.send_again(resume.pending)
            self._commands.send_again()
        writer = asyncio.get_running_loop().create_task(self._write(connection, self._outbox))
        try:
            while not self.is_over and self._connection is connection:
                self._receive(await connection.recv())
                if self._faults > MOST_FAULTS:
                    await connection.close(protocol.CLOSE_VIOLATION, "too many messages against the protocol")
        except LinkBroken:
            log.info("the link of call %s is closed", self.session.id)
        finally:
            writer.cancel()
            if self._connection is connection:
                self._connection = None

    async def replace(self, seq: int, resume: Resume) -> int | None:
        """A new connection takes the call up. Returns what was seen of the link before, as the service is told."""
        same = self._before if self._is_fresh else None
        seen = same[1] if same is not None and same[0] == resume.previous_seq else self.last_seq
        self._before, self._is_fresh = (resume.previous_seq, seen), True
        if self._connection is not None:
            old, self._connection = self._connection, None
            await old.close(protocol.CLOSE_NORMAL, "the call was taken up on another connection")
        oldest = min(resume.replay_from, resume.previous_seq + 1)
        gone = 0 if seen is None else max(0, oldest - seen - 1)
        self._events.push(SessionResume(seq=seq, t_ms=0, lost=resume.lost + gone))
        self.last_seq = seq
        self._tools.settle_others(resume.pending)
        return seen

    async def finish(self, reason: str, *, at_once: bool = False) -> None:
        """Ends the call on this side: handlers get what is left, then whatever still runs is cancelled.

        `at_once` waits for nobody, also where an earlier `finish` still does.
        """
        if at_once:
            self._hurry.set()
        if self._finishing is None:
            self._finishing = asyncio.get_running_loop().create_task(self._finish(reason))
        await asyncio.shield(self._finishing)

    async def _finish(self, reason: str) -> None:
        if not self.is_over:
            self._end(SessionEnd(seq=self.last_seq, t_ms=0, reason=reason))
        if self._dispatcher is not None:
            await self._wait_for({self._dispatcher}, HANDLER_GRACE_S, "handler")
        for task in self.session.tasks:
            task.cancel()
        await self._wait_for(self._tools.tasks, protocol.TOOL_TIMEOUT_MAX_MS / 1000, "tool")

    async def _wait_for(self, tasks: Iterable[asyncio.Task[None]], limit_s: float, what: str) -> None:
        """Waits for tasks, and cancels those that are late."""
        waiting = {task for task in tasks if not task.done()}
        hurry = asyncio.get_running_loop().create_task(self._hurry.wait())
        deadline = asyncio.get_running_loop().time() + limit_s
        while waiting and not hurry.done():
            left_s = deadline - asyncio.get_running_loop().time()
            done, _ = await asyncio.wait(
                {*waiting, hurry}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED
            )
            waiting -= done
            if not done:
                break
        hurry.cancel()
        for task in waiting:
            log.warning("call %s: a %s is still busy after the call and is cancelled", self.session.id, what)
            task.cancel()

    def _post(self, text: str) -> None:
        """Queues a message; without a connection it is dropped, because a resumed link sends again what matters."""
        if self._connection is None:
            return
        if self._outbox.full():
            log.warning("call %s: the service does not read, and its link is closed", self.session.id)
            connection, self._connection = self._connection, None
            self.session.spawn(
                connection.close(protocol.CLOSE_VIOLATION, "too many messages wait to be read")
            )
            return
        self._outbox.put_nowait(text)

    async def _write(self, connection: Connection, outbox: asyncio.Queue[str]) -> None:
        try:
            while True:
                await connection.send(await outbox.get())
        except LinkBroken:
            return

    # ---- what the service sends

    def _receive(self, frame: str | bytes) -> None:
        try:
            message = wire.read_message(frame)
            seq = wire.field(message, "seq", int)
            if seq <= self.last_seq:
                return
            self._take(message)
            self.last_seq, self._is_fresh = seq, False
        except WireError as error:
            self._faults += 1
            log.warning("call %s: a message of the service is ignored: %s", self.session.id, error)

    def _take(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "command.result":
                self._commands.settle(message)
            case "tool.call":
                self._tools.start(message)
            case "tool.cancel":
                self._tools.cancel(message)
            case "session.end":
                self._end(SessionEnd.read(message))
            case name if name in EVENTS:
                self._events.push(EVENTS[name].read(message))
            case name:
                log.debug("call %s: a message of the unknown type %.64r is ignored", self.session.id, name)

    def _end(self, event: SessionEnd) -> None:
        self.session.end_reason = event.reason
        self._commands.close()
        self._tools.abandon_reads()
        self._events.push(event)

    # ---- the agent's handlers

    async def _dispatch(self) -> None:
        """One event after another; a handler that waits for a command does not hold up the link."""
        while True:
            event = await self._events.pop()
            for handler, takes_text in self._agent.handlers_of(event.type):
                await self._call(handler, event.text if takes_text else event, event)  # type: ignore[attr-defined]
            if isinstance(event, SessionEnd):
                return

    async def _call(self, handler: Any, argument: Any, event: Event) -> None:
        reacting_to.set(event.seq or None)
        try:
            result = handler(self.session, argument)
            if inspect.isawaitable(result):
                await result
        except CallEnded:
            log.debug("call %s ended while a handler of %s waited", self.session.id, event.type)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling() > 0:
                raise
            log.warning("call %s: a handler of %s was cancelled by itself", self.session.id, event.type)
        except Exception:
            log.exception("call %s: a handler of %s failed", self.session.id, event.type)


__all__ = ["CallLink"]
