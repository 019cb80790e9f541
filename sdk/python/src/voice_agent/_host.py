"""All calls of one agent: who takes a new connection, and which calls wait for their link to come back. No sockets here."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from . import _wire as wire
from . import _wire_types as protocol
from ._connection import Connection
from ._errors import CommandRefused, LinkBroken, RejectCall, WireError
from ._link import CallLink
from ._session import Offer, Resume

if TYPE_CHECKING:
    from ._agent import Agent

log = logging.getLogger("voice_agent")

START_HOOK_S = 1.5
"""What session-start hooks get; the service waits 2 s for the answer."""

FIRST_MESSAGE_S = 10.0
PARKED_S = protocol.RESUME_LIMIT_MS / 1000 + 5
"""How long a call without a link waits: a little longer than the service tries."""


class AgentHost:
    """Serves connections of one agent, at most `max_calls` at a time."""

    def __init__(self, agent: Agent, *, max_calls: int = 1_000, parked_s: float = PARKED_S) -> None:
        self.agent = agent
        self.is_draining = False
        self._most_calls = max_calls
        self._parked_s = parked_s
        self._calls: dict[str, CallLink] = {}
        self._parked: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = 0
        self._changed = asyncio.Condition()

    @property
    def calls(self) -> int:
        """Calls that run or wait for their link."""
        return len(self._calls)

    async def serve(self, connection: Connection) -> None:
        """Serves one connection to its end. Never raises for what the service or the agent does wrong."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_S):
                message = wire.read_message(await connection.recv())
            if message["type"] != "session.start":
                raise WireError("the first message must be session.start")
            await self._begin(connection, message)
        except LinkBroken:
            log.debug("a connection was closed before its call began")
        except TimeoutError:
            await connection.close(protocol.CLOSE_VIOLATION, "no first message arrived in time")
        except WireError as error:
            log.warning("a connection is refused: %s", error)
            await connection.close(protocol.CLOSE_VIOLATION, str(error)[:120])

    async def drained(self, limit_s: float) -> bool:
        """Takes no new calls from now on; true when all others ended within the limit."""
        self.is_draining = True
        try:
            async with asyncio.timeout(limit_s), self._changed:
                await self._changed.wait_for(lambda: not self._calls)
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Ends every call on this side, whatever the service thinks of it."""
        self.is_draining = True
        for waiting in list(self._parked.values()):
            waiting.cancel()
        links = list(self._calls.values())
        await asyncio.gather(*(self._finish(link, "shutdown", at_once=True) for link in links))

    # ---- a call begins

    async def _begin(self, connection: Connection, message: dict[str, Any]) -> None:
        offer = Offer.read(message, connection.path)
        seq = wire.field(message, "seq", int)
        known = self._calls.get(offer.session_id)
        goes_on = offer.resume is not None and known is not None and not known.is_over and self.agent.resume
        refusal = self._refusal(message, goes_on=goes_on)
        if refusal is not None:
            await _reject(connection, *refusal)
        elif goes_on and known is not None and offer.resume is not None:
            await self._resume(connection, known, seq, offer.resume)
        else:
            # Also a call of another process, which is gone: its tools are tools of this one.
            await self._start(connection, offer, seq)

    async def _start(self, connection: Connection, offer: Offer, seq: int) -> None:
        if (same := self._calls.get(offer.session_id)) is not None:
            log.warning("call %s begins anew", offer.session_id)
            self._in_background(self._finish(same, "link_lost"))
        link = CallLink(self.agent, offer)
        self._starting += 1
        try:
            accept = await self._accept(link, seq, offer.resume)
        except RejectCall as rejected:
            log.info("call %s is not taken: %s", offer.session_id, rejected.code)
            await link.finish("rejected")
            await _reject(connection, rejected.code, rejected.message)
            return
        finally:
            self._starting -= 1
        self._calls[offer.session_id] = link
        await self._follow(link, connection, accept)

    def _refusal(self, message: dict[str, Any], *, goes_on: bool) -> tuple[str, str] | None:
        versions = message.get("versions")
        if (
            message.get("protocol") != protocol.PROTOCOL
            or not isinstance(versions, list)
            or protocol.VERSION not in versions
        ):
            return (
                "unsupported_version",
                f"this agent speaks version {protocol.VERSION} of {protocol.PROTOCOL}",
            )
        if goes_on:
            return None
        if self.is_draining:
            return "shutting_down", "the agent takes no new calls"
        if len(self._calls) + self._starting >= self._most_calls:
            return "too_many_calls", "the agent has as many calls as it takes"
        return None

    async def _accept(self, link: CallLink, seq: int, resume: Resume | None) -> str:
        """Asks the hooks and opens the call. Raises `RejectCall`; a hook that fails rejects the call."""
        opening = self.agent.opening()
        try:
            async with asyncio.timeout(START_HOOK_S):
                for hook in self.agent.start_hooks:
                    result = hook(link.session, opening)
                    if inspect.isawaitable(result):
                        await result
            text = wire.write_message(self.agent.accept(opening))
        except RejectCall:
            raise
        except TimeoutError as error:
            log.error("call %s: a session-start hook took longer than %s s", link.session.id, START_HOOK_S)
            raise RejectCall("agent_failed", "the agent took too long to begin the call") from error
        except (CommandRefused, WireError) as error:
            log.error("call %s cannot be accepted: %s", link.session.id, error)
            raise RejectCall("agent_failed", "the agent could not begin the call") from error
        except Exception as error:
            log.exception("call %s: a session-start hook failed", link.session.id)
            raise RejectCall("agent_failed", "the agent could not begin the call") from error
        link.open(opening.tools, seq, resume)
        if link.session.is_continued:
            log.info("call %s of another process goes on here", link.session.id)
            return wire.write_message({"type": "session.accept", "version": protocol.VERSION})
        return text

    # ---- a call goes on after its link broke

    async def _resume(self, connection: Connection, link: CallLink, seq: int, resume: Resume) -> None:
        if (waiting := self._parked.pop(link.session.id, None)) is not None:
            waiting.cancel()
        seen = await link.replace(seq, resume)
        log.info("call %s is taken up again", link.session.id)
        accept: dict[str, Any] = {"type": "session.accept", "version": protocol.VERSION}
        if seen is not None:
            accept["last_seq"] = seen
        await self._follow(link, connection, wire.write_message(accept), resume)

    async def _follow(
        self, link: CallLink, connection: Connection, accept: str, resume: Resume | None = None
    ) -> None:
        try:
            await connection.send(accept)
            await link.follow(connection, resume)
        except LinkBroken:
            log.debug("call %s: the link broke before it was accepted", link.session.id)
        if link.is_over:
            await connection.close(protocol.CLOSE_NORMAL, "the call is over")
            await self._finish(link, "")
        elif not link.is_connected:
            self._park(link)

    def _park(self, link: CallLink) -> None:
        async def wait() -> None:
            if self.agent.resume:
                await asyncio.sleep(self._parked_s)
            self._parked.pop(link.session.id, None)
            await self._finish(link, "link_lost")

        self._parked[link.session.id] = self._in_background(wait())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _finish(self, link: CallLink, reason: str, *, at_once: bool = False) -> None:
        await link.finish(reason, at_once=at_once)
        if self._calls.get(link.session.id) is link:
            del self._calls[link.session.id]
        async with self._changed:
            self._changed.notify_all()


async def _reject(connection: Connection, code: str, message: str) -> None:
    await connection.send(wire.write_message({"type": "session.reject", "code": code, "message": message}))
    await connection.close(protocol.CLOSE_NORMAL, "the call was rejected")
