"""What happens in a call, as typed values (docs/reference/agent-link.md, Service to agent).

Every event knows its `type` on the wire, its number `seq` in the call and `t_ms`, milliseconds since the link opened.
`epoch` is the number of the turn: a `bot.*` event of an older epoch than the newest `turn.interrupted` or
`turn.user_started` belongs to a response that was cut.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ._errors import WireError
from ._wire import Json, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The base of all events."""

    type: ClassVar[str]
    seq: int
    t_ms: int

    @classmethod
    def read(cls, message: Json) -> Self:
        """The event of a message of this type; fields it does not know are ignored. Raises `WireError`."""
        known = dataclasses.fields(cls)
        return cls(**{each.name: _read_field(message, each.name, each.type) for each in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUserStarted(Event):
    """A turn of the caller started: speech, or a confirmed barge-in."""

    type = "turn.user_started"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUserEnded(Event):
    """The turn of the caller ended; it is answered now."""

    type = "turn.user_ended"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTranscript(Event):
    """A segment of speech recognition; interim when `final` is false."""

    type = "user.transcript"
    text: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText(Event):
    """The whole text of the turn that the model answers, spoken or typed."""

    type = "user.text"
    epoch: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotLlmStarted(Event):
    """A round of the model started; a response that calls tools has several."""

    type = "bot.llm_started"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BotText(Event):
    """Text as the model writes it; a line comes whole."""

    type = "bot.text"
    epoch: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotLlmStopped(Event):
    """The round ended."""

    type = "bot.llm_stopped"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BotTtsText(Event):
    """A piece of text that was given to speech synthesis."""

    type = "bot.tts_text"
    epoch: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotHeard(Event):
    """A response is over: `text` is what the caller heard of it, and what the conversation keeps.

    `complete` is true when that is all that was written. `ended` is `finished`, `interrupted` (the caller cut it),
    `failed` (it could not be spoken, or not all of it) or `call_ended`.
    """

    type = "bot.heard"
    epoch: int
    text: str
    complete: bool
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChanged(Event):
    """Another agent of the tenant has the call from here on."""

    type = "agent.changed"
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotTtsStopped(Event):
    """Speech synthesis produced the last audio of the response."""

    type = "bot.tts_stopped"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBotStarted(Event):
    """Audio of this epoch started to play."""

    type = "turn.bot_started"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBotEnded(Event):
    """Audio of this epoch was played to its end."""

    type = "turn.bot_ended"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInterrupted(Event):
    """Barge-in: the call moved to this epoch, and everything older was dropped."""

    type = "turn.interrupted"
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Latencies of an answered turn in milliseconds; each is None when unknown."""

    end_of_turn_ms: int | None = None
    stt_final_ms: int | None = None
    llm_ttft_ms: int | None = None
    tts_ttfb_ms: int | None = None
    response_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMetrics(Event):
    """Latencies of the turn, when its first audio went out."""

    type = "turn.metrics"
    epoch: int
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMessage(Event):
    """The program of the caller, a page for example, sent a message of its own: `Session.send_to_client` answers it."""

    type = "client.message"
    name: str
    message_id: str
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceError(Event):
    """A stage of the call reported an error, or the link refused something: then `stage` is `agent_link`."""

    type = "error"
    stage: str
    message: str
    fatal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsLost(Event):
    """So many events did not reach the agent, right before this one."""

    type = "events.lost"
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Event):
    """The call is over. `link_lost` is this side's own reason: the service was not heard of again."""

    type = "session.end"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResume(Event):
    """The service took the call up again on a new link; `lost` events of the time in between did not arrive."""

    type = "session.resume"
    lost: int


EVENTS: Mapping[str, type[Event]] = {
    cls.type: cls
    for cls in (
        *(TurnUserStarted, TurnUserEnded, UserTranscript, UserText),
        *(BotLlmStarted, BotText, BotLlmStopped, BotTtsText, BotHeard, BotTtsStopped),
        *(TurnBotStarted, TurnBotEnded, TurnInterrupted, AgentChanged, TurnMetrics, ClientMessage),
        *(ServiceError, EventsLost, SessionEnd),
    )
}

ALWAYS_SENT = frozenset({"session.end", "error", "events.lost"})
"""Events that need not be asked for in `session.accept.events`."""

DROPPABLE = frozenset({"bot.text", "bot.tts_text"})
"""Deltas: the first that are left out for an agent whose handlers are slow, with interim transcripts."""


def is_droppable(event: Event) -> bool:
    """Whether the event may be left out before others are."""
    return event.type in DROPPABLE or (isinstance(event, UserTranscript) and not event.final)


_KINDS: Mapping[str, type] = {"int": int, "str": str, "bool": bool}


def _read_field(message: Json, name: str, annotation: Any) -> Any:
    if annotation == "Any":
        if name not in message:
            raise WireError(f"{message.get('type')}: {name} is missing")
        return message[name]
    if annotation != "Metrics":
        return field(message, name, _KINDS[str(annotation)])
    metrics = field(message, name, dict)
    known = {each.name: metrics.get(each.name) for each in dataclasses.fields(Metrics)}
    if not all(
        value is None or (isinstance(value, int) and not isinstance(value, bool)) for value in known.values()
    ):
        raise WireError(f"{message.get('type')}: {name} must hold whole milliseconds")
    return Metrics(**known)
