"""One call, as the code of an agent sees it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlsplit

from . import _wire as wire
from . import _wire_types as protocol
from ._commands import Commands
from ._errors import CommandRefused
from ._wire import Json, Role, check_text
from ._wire_types import (
    ClientSendMessage,
    ContextUpdateAppend,
    ContextUpdateMessage,
    EndMessage,
    SayMessage,
    ToolsSetMessage,
    TransferMessage,
    TransferMode,
)

if TYPE_CHECKING:
    from ._events import ClientMessage
    from ._tools import Tool

_NUMBER = re.compile(r"\+[0-9]{8,15}")


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """A message of the conversation that the model sees."""

    role: Role
    text: str

    def as_json(self) -> ContextUpdateAppend:
        """As it stands on the wire; `CommandRefused` names the rule it breaks."""
        if self.role not in ("system", "user", "assistant"):
            raise CommandRefused("invalid_message", "role must be system, user or assistant")
        if not isinstance(self.text, str) or self.text.strip() == "":
            raise CommandRefused("invalid_message", "the text of a context message must not be empty")
        return {"role": self.role, "text": self.text}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, when the service is told to say so; numbers are withheld while it redacts them."""

    number: str | None
    called_number: str | None
    carrier_call_id: str | None
    carrier: str | None = None
    """How the call came: `carrier_a`, `carrier_b` or `sip`."""

    @classmethod
    def read(cls, call: Json) -> Self:
        """The caller of a `call` object; what is missing is None."""
        texts = (call.get(name) for name in ("from", "to", "carrier_call_id", "carrier"))
        return cls(*(text if isinstance(text, str) else None for text in texts))


@dataclass(frozen=True, slots=True)
class SignedSession:
    """What the verified session token of a call says."""

    sid: str
    agent: str | None
    meta: Mapping[str, str]

    @classmethod
    def read(cls, session: Json) -> Self:
        """Of a `session` object. Raises `WireError`."""
        agent = session.get("agent")
        return cls(
            sid=wire.field(session, "sid", str),
            agent=agent if isinstance(agent, str) else None,
            meta=_texts(session.get("meta")),
        )


def _texts(value: object) -> Mapping[str, str]:
    """The texts of an object that came from the service; what is no text is left out."""
    given = value if isinstance(value, dict) else {}
    return MappingProxyType({key: text for key, text in given.items() if isinstance(text, str)})


@dataclass(frozen=True, slots=True)
class Resume:
    """What `session.start` says of the link before, where a link is opened anew."""

    previous_seq: int
    replay_from: int
    lost: int
    pending: frozenset[int] | None
    """Tool calls that are waited for; None where the service does not say."""

    @classmethod
    def read(cls, resume: Json) -> Self:
        """Of a `resume` object. Raises `WireError`."""
        previous_seq = wire.field(resume, "previous_seq", int)
        known = {"replay_from": previous_seq + 1, "lost": 0, "pending": None, **resume}
        pending = None if known["pending"] is None else wire.field(known, "pending", list)
        return cls(
            previous_seq=previous_seq,
            replay_from=wire.field(known, "replay_from", int),
            lost=wire.field(known, "lost", int),
            pending=None if pending is None else frozenset(each for each in pending if isinstance(each, int)),
        )


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the call can do: `transfer` needs call control of a carrier."""

    transfer: bool
    tools: bool


@dataclass(slots=True)
class Opening:
    """What a call begins with. A session-start hook may change it; afterwards it is sent to the service."""

    system_prompt: str | None = None
    """None leaves the prompt of the service's agent file."""
    greeting: str | None = None
    """None leaves the greeting of the service's agent file."""
    context: list[ContextMessage] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    """What this call has otherwise than the agent file says, by dotted keys such as `tts.voice`, as far as its `[overrides]`
    allows; the service tells what it does not take as an `error`."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the first message of a link says about its call."""

    session_id: str
    agent: str
    capabilities: Capabilities
    caller: Caller | None
    route: str | None
    signed: SignedSession | None
    metadata: Mapping[str, str]
    body: Json
    path: str
    resume: Resume | None

    @classmethod
    def read(cls, message: Json, path: str) -> Self:
        """Of a `session.start`, which came to this path of the agent's URL. Raises `WireError`."""
        capabilities, caller = wire.field(message, "capabilities", dict), message.get("call")
        route, signed, resume = (message.get(name) for name in ("route", "session", "resume"))
        return cls(
            session_id=wire.field(message, "session_id", str),
            agent=wire.field(message, "agent", str),
            capabilities=Capabilities(
                capabilities.get("transfer") is True, capabilities.get("tools") is True
            ),
            caller=Caller.read(caller) if isinstance(caller, dict) else None,
            route=route if isinstance(route, str) else None,
            signed=SignedSession.read(signed) if isinstance(signed, dict) else None,
            metadata=_texts(message.get("metadata")),
            body=MappingProxyType(dict(message)),
            path=path,
            resume=Resume.read(resume) if isinstance(resume, dict) else None,
        )


class Session:
    """One call. Commands wait for the service's answer: they raise `CommandRefused`, or `CallEnded` after the call.

    The object lives as long as the call, also over a link that broke and was taken up again; commands given in between
    wait for the new link.
    """

    def __init__(self, offer: Offer, commands: Commands) -> None:
        """Made by the SDK, one for each call."""
        address = urlsplit(offer.path)
        self.id = offer.session_id
        self.agent = offer.agent
        """Name of the agent in the service's agent file."""
        self.path = address.path
        """Path of the URL that the service called: routes of the service may lead to different paths."""
        self.query: Mapping[str, str] = dict(parse_qsl(address.query))
        """Query of that URL."""
        self.capabilities = offer.capabilities
        self.caller = offer.caller
        self.route = offer.route
        """The route of the service's agent file that led here; None for the default process."""
        self.signed = offer.signed
        """What the verified session token of the call says; None for a call without one."""
        self.metadata = offer.metadata
        """What the client says of itself; nobody has checked it."""
        self.is_continued = offer.resume is not None
        """The call began with another process, which is gone: what that one knew is lost.

        Of what a session-start hook changes, only the tools count any more.
        """
        self.start = offer.body
        """The whole `session.start`, for fields that this version does not know."""
        self.data: dict[str, Any] = {}
        """For the agent's own use: whatever belongs to this call."""
        self.end_reason: str | None = None
        """Set when the call is over."""
        self._commands = commands
        self._tasks: set[asyncio.Task[Any]] = set()

    def __repr__(self) -> str:
        """Names the call and nothing of its contents."""
        return f"Session({self.id!r})"

    async def say(self, text: str, *, interrupt: bool = False) -> None:
        """The agent speaks the text word for word, at most 4 KiB.

        A line waits while the caller speaks or a response runs, at most 8 of them. With `interrupt` it drops the lines
        that wait and cuts a running response, never the caller.
        """
        check_text("text", text, protocol.SAY_BYTES, may_be_empty=False)
        message: SayMessage = {"type": "say", "text": text}
        if interrupt:
            message["interrupt"] = True
        await self._commands.give(message)

    async def end(self, *, say: str | None = None, reason: str | None = None) -> None:
        """Ends the call after a farewell; without `say` it is the agent file's, and `""` means none."""
        message: EndMessage = {"type": "end"}
        if say is not None:
            message["say"] = check_text("say", say, protocol.SAY_BYTES)
        if reason is not None:
            message["reason"] = check_text("reason", reason, protocol.REASON_BYTES)
        await self._commands.give(message)

    async def transfer(
        self,
        destination: str,
        *,
        mode: TransferMode = "cold",
        summary: str | None = None,
        reason: str | None = None,
        command_id: str | None = None,
    ) -> None:
        """Transfers the call to a number (`+` and 8 to 15 digits) after the agent's sentence.

        Refused as `unsupported` where the transport has no call control (see `capabilities.transfer`). The same `command_id`
        (at most 64 bytes) again is the same transfer: give your own to repeat one that was refused as `outcome_unknown`.
        """
        if not isinstance(destination, str) or _NUMBER.fullmatch(destination) is None:
            raise CommandRefused("invalid_message", "destination must be + and 8 to 15 digits")
        if mode not in ("cold", "warm"):
            raise CommandRefused("invalid_message", "mode must be cold or warm")
        message: TransferMessage = {"type": "transfer", "destination": destination, "mode": mode}
        if summary is not None:
            message["summary"] = check_text("summary", summary, protocol.REASON_BYTES)
        if reason is not None:
            message["reason"] = check_text("reason", reason, protocol.REASON_BYTES)
        if command_id is not None:
            message["id"] = check_text("command_id", command_id, protocol.COMMAND_ID_BYTES)
        await self._commands.give(message)

    async def update_context(
        self,
        *,
        system_prompt: str | None = None,
        append: Sequence[ContextMessage | tuple[Role, str]] = (),
    ) -> None:
        """Edits the conversation, all of it or nothing, right before the next response starts."""
        message: ContextUpdateMessage = {"type": "context.update"}
        if system_prompt is not None:
            message["system_prompt"] = check_text(
                "system_prompt", system_prompt, protocol.SYSTEM_PROMPT_BYTES
            )
        if append:
            message["append"] = context_json(append, "append")
        await self._commands.give(message)

    async def set_tools(self, enabled: Iterable[str] | None) -> None:
        """Offers the model only these tools, the agent's and the service's own; None offers all of them again."""
        names = None if enabled is None else list(enabled)
        if names is not None and len(names) > protocol.ENABLED_TOOLS:
            raise CommandRefused(
                "invalid_message", f"enabled must have at most {protocol.ENABLED_TOOLS} names"
            )
        message: ToolsSetMessage = {"type": "tools.set", "enabled": names}
        await self._commands.give(message)

    async def send_to_client(self, data: Any, *, answers: ClientMessage | None = None) -> None:
        """Sends any JSON to the program of the caller, a page for example; with `answers` it is the answer to that message.

        Refused as `unsupported` where the caller has no such program.
        """
        message: ClientSendMessage = {"type": "client.send", "data": data}
        if answers is not None:
            message["answers"], message["name"] = answers.message_id, answers.name
        await self._commands.give(message)

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """What `spawn` started and still runs."""
        return list(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs something beside the handlers, which are called one after another; it is cancelled when the call ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def context_json(
    messages: Sequence[ContextMessage | tuple[Role, str]], field_name: str
) -> list[ContextUpdateAppend]:
    """Messages as they stand on the wire; `CommandRefused` names the rule that one of them breaks."""
    if len(messages) > protocol.CONTEXT_MESSAGES:
        raise CommandRefused(
            "invalid_message", f"{field_name} must have at most {protocol.CONTEXT_MESSAGES} messages"
        )
    plain = (each if isinstance(each, ContextMessage) else ContextMessage(*each) for each in messages)
    return [each.as_json() for each in plain]
