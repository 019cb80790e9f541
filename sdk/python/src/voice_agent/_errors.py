"""What can go wrong between an agent and the service, as exceptions."""

from __future__ import annotations


class CommandRefused(Exception):
    """The service refused a command, or would have: limits are checked before anything is sent.

    `code` is one of the protocol's codes and made for programs; `message` is for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class CallEnded(CommandRefused):
    """The call was over before the command was answered, or before it was given. Its `code` is `session_over`."""

    def __init__(self, message: str = "the call is over") -> None:
        super().__init__("session_over", message)


class ToolError(Exception):
    """Raised by a tool to tell the model what went wrong, in words it may repeat to the caller.

    Any other exception is logged, and the model learns only that the tool failed.
    """


class RejectCall(Exception):
    """Raised by a session-start hook: the agent does not take this call, and the service goes on without it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class WireError(Exception):
    """A message that breaks the protocol. The text names the field and the rule and never holds a value."""


class LinkBroken(Exception):
    """The WebSocket of a call is closed. Sessions deal with it; handlers of an agent never see it."""
