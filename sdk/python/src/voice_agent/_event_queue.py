"""Events of one call that wait for its handlers: bounded, in order, and honest about what was left out."""

from __future__ import annotations

import asyncio
from collections import deque

from ._events import Event, EventsLost, SessionEnd, is_droppable

MOST_WAITING = 256


class EventQueue:
    """When handlers are slow, deltas and interim transcripts go first, then the oldest events; the end never does.

    What was left out is told by an `events.lost` before the next event, as the service tells of its own.
    """

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most = most_waiting
        self._waiting: deque[Event] = deque()
        self._lost = 0
        self._arrived = asyncio.Event()

    def push(self, event: Event) -> None:
        """Takes an event, and leaves one out when too many wait."""
        if len(self._waiting) >= self._most and not isinstance(event, SessionEnd):
            self._lost += 1
            if is_droppable(event):
                return
            self._leave_one_out()
        self._waiting.append(event)
        self._arrived.set()

    async def pop(self) -> Event:
        """The next event; waits for one."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        if self._lost > 0:
            following = self._waiting[0]
            lost, self._lost = self._lost, 0
            return EventsLost(seq=following.seq, t_ms=following.t_ms, count=lost)
        return self._waiting.popleft()

    def _leave_one_out(self) -> None:
        index = next((at for at, event in enumerate(self._waiting) if is_droppable(event)), 0)
        del self._waiting[index]
