"""One WebSocket of the service, as little of it as a link needs. Tests have one without a socket."""

from __future__ import annotations

from typing import Protocol


class Connection(Protocol):
    """A message is a text or, against the protocol, bytes. All of it raises `LinkBroken` once it is closed."""

    @property
    def path(self) -> str:
        """Path and query of the URL that the service opened."""
        ...

    async def recv(self) -> str | bytes:
        """The next message."""
        ...

    async def send(self, text: str) -> None:
        """Sends a message; waits while the other side does not read."""
        ...

    async def close(self, code: int, reason: str) -> None:
        """Closes with a code of WebSockets and a reason of at most 123 bytes; again is nothing."""
        ...
