"""The tool calls of one call: run, cancelled, answered once."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, cast

from . import _wire as wire
from ._commands import reacting_to
from ._errors import CallEnded, ToolError, WireError
from ._schema import BadArgument
from ._session import Session
from ._tools import Tool, ToolCall, plain_json
from ._wire import Json, field
from ._wire_types import CancelReason

log = logging.getLogger("voice_agent")

MOST_RUNNING = 64
MOST_KEPT_RESULTS = 64
"""Newest results, kept for a link that breaks before the service has read them."""


class ToolRuns:
    """Every call that arrives is answered at most once, and exactly once unless the service stopped waiting."""

    def __init__(self, session: Session, send: Callable[[str], None]) -> None:
        self._session = session
        self._send = send
        self._tools: dict[str, Tool] = {}
        self._running: dict[int, tuple[ToolCall, asyncio.Task[None]]] = {}
        self._results: OrderedDict[int, str] = OrderedDict()

    def offer(self, tools: Iterable[Tool]) -> None:
        """These tools were declared to the service."""
        self._tools = {tool.name: tool for tool in tools}

    def start(self, message: Json) -> None:
        """Takes a `tool.call`. Raises `WireError` for one that cannot be read."""
        call = _read_call(self._session, message)
        if call.id in self._running or call.id in self._results:
            return
        tool = self._tools.get(call.name)
        if tool is None:
            log.warning("call %s: the service called a tool that was not declared", self._session.id)
            self._answer(call, error="no tool of this name is offered")
        elif len(self._running) >= MOST_RUNNING:
            log.warning("call %s: more than %d tools run at once", self._session.id, MOST_RUNNING)
            self._answer(call, error="too many tools run at once")
        else:
            task = asyncio.get_running_loop().create_task(self._run(tool, call))
            self._running[call.id] = (call, task)
            task.add_done_callback(lambda _: self._running.pop(call.id, None))

    def cancel(self, message: Json) -> None:
        """Takes a `tool.cancel`; one for a call that does not run is ignored. Raises `WireError`."""
        reason = cast("CancelReason", field(message, "reason", str))
        call, task = self._running.get(field(message, "id", int), (None, None))
        if call is not None and task is not None:
            _stop(call, task, reason)

    def abandon_reads(self) -> None:
        """The call is over: read-only tools stop, those with effects go on to their end."""
        for call, task in list(self._running.values()):
            _stop(call, task, "abandoned")

    def settle_others(self, pending: frozenset[int] | None) -> None:
        """Of the calls that run, the service waits only for these any more."""
        for call, task in list(self._running.values()):
            if pending is not None and call.id not in pending:
                _stop(call, task, "abandoned")

    def send_again(self, pending: frozenset[int] | None) -> None:
        """Repeats the results that the service still waits for."""
        for id_, text in list(self._results.items()):
            if pending is None or id_ in pending:
                self._send(text)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tools that run."""
        return [task for _, task in self._running.values()]

    async def _run(self, tool: Tool, call: ToolCall) -> None:
        reacting_to.set(call.seq)
        try:
            self._answer(call, result=plain_json(await tool.run(call)))
        except (ToolError, BadArgument) as error:
            self._answer(call, error=str(error))
        except CallEnded:
            log.debug("call %s ended while tool %s waited", self._session.id, call.name)
        except WireError as error:
            log.error("call %s: the result of tool %s: %s", self._session.id, call.name, error)
            self._answer(call, error="the result of the tool cannot be sent")
        except asyncio.CancelledError:
            if call.cancelled is None:
                self._answer(call, error="the tool failed")
            raise
        except Exception:
            log.exception("call %s: tool %s failed", self._session.id, call.name)
            self._answer(call, error="the tool failed")

    def _answer(self, call: ToolCall, **outcome: Any) -> None:
        """Sends the result, unless nobody waits for it. Raises `WireError` when it is too large for a message."""
        if call.cancelled is not None:
            return
        text = wire.write_message({"type": "tool.result", "id": call.id, "re": call.seq, **outcome})
        self._results[call.id] = text
        if len(self._results) > MOST_KEPT_RESULTS:
            self._results.popitem(last=False)
        self._send(text)


def _stop(call: ToolCall, task: asyncio.Task[None], reason: CancelReason) -> None:
    if call.cancelled is None:
        call.cancel(reason)
    if call.kind == "read_only" and not call.runs_on:
        task.cancel()


def _read_call(session: Session, message: Json) -> ToolCall:
    kind = field(message, "kind", str)
    if kind not in ("read_only", "side_effect"):
        raise WireError("tool.call: kind must be read_only or side_effect")
    return ToolCall(
        session=session,
        id=field(message, "id", int),
        call_id=field(message, "call_id", str),
        name=field(message, "name", str),
        arguments=field(message, "arguments", dict),
        kind=kind,
        epoch=field(message, "epoch", int),
        idempotency_key=field(message, "idempotency_key", str),
        timeout_ms=field(message, "timeout_ms", int),
        seq=field(message, "seq", int),
    )
