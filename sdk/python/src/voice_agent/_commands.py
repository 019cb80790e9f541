"""Commands of one session that wait for their results.

Each has an id, so that what was sent into a link that broke can be sent again over the next one: the service answers a
repeated id the same way and does nothing twice. Ids are used once in the call, but for those that the agent gives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from . import _wire as wire
from ._errors import CallEnded, CommandRefused, WireError
from ._wire import Json, field

reacting_to: ContextVar[int | None] = ContextVar("reacting_to", default=None)
"""The `seq` of the event that the running handler was called for: its commands name it as `re`."""

MOST_WAITING = 64


class Commands:
    """Gives commands and hands out their results. `send` queues a text on the link, or drops it while there is none."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._waiting: dict[str, tuple[str, asyncio.Future[None]]] = {}
        self._given = 0
        self._is_open = False
        self._is_closed = False

    def open(self) -> None:
        """The call was accepted: from now on commands may be given."""
        self._is_open = True

    async def give(self, message: Json) -> None:
        """Sends a command and waits for its outcome. Raises `CommandRefused`, or `CallEnded` when the call is over."""
        if self._is_closed:
            raise CallEnded
        if not self._is_open:
            raise CommandRefused(
                "not_accepted", "the call is not accepted yet: set what it begins with on the opening"
            )
        if len(self._waiting) >= MOST_WAITING:
            raise CommandRefused(
                "too_many_commands", f"{MOST_WAITING} commands wait for their results already"
            )
        command: dict[str, Any] = {"id": f"c{self._given + 1}", **message}
        if command["id"] in self._waiting:
            raise CommandRefused("invalid_message", "id: another command with it waits for its outcome")
        if (seq := reacting_to.get()) is not None:
            command["re"] = seq
        try:
            text = wire.write_message(command)
        except WireError as error:
            raise CommandRefused("invalid_message", str(error)) from error
        self._given += 1
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[command["id"]] = (text, outcome)
        try:
            self._send(text)
            await outcome
        finally:
            self._waiting.pop(command["id"], None)

    def settle(self, message: Json) -> None:
        """Takes a `command.result`; one for an id that nobody waits for is ignored. Raises `WireError`."""
        ok = field(message, "ok", bool)
        _, outcome = self._waiting.get(field(message, "id", str), (None, None))
        if outcome is None or outcome.done():
            return
        if ok:
            outcome.set_result(None)
            return
        error = field(message, "error", dict)
        outcome.set_exception(CommandRefused(str(error.get("code", "")), str(error.get("message", ""))))

    def send_again(self) -> None:
        """Repeats, on a new link, every command whose result did not come."""
        for text, outcome in list(self._waiting.values()):
            if not outcome.done():
                self._send(text)

    def close(self) -> None:
        """The call is over: whoever waits learns it."""
        self._is_closed = True
        for _, outcome in list(self._waiting.values()):
            if not outcome.done():
                outcome.set_exception(CallEnded("the call ended before the command was answered"))
