"""The agent: what it says and can do, declared once, for all calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Unpack, overload

from . import _events as event_types
from . import _wire_types as protocol
from ._errors import CommandRefused
from ._events import ALWAYS_SENT, EVENTS, Event
from ._session import ContextMessage, Opening, Session, context_json
from ._tools import Tool, ToolOptions, tool_of
from ._wire import Json, Role, ToolKind, check_text

if TYPE_CHECKING:
    from ._server import AgentServer, ServerOptions

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Event)
StartHook = Callable[[Session, Opening], Any]
TextHandler = TypeVar("TextHandler", bound=Callable[[Session, str], Any])
OnStart = TypeVar("OnStart", bound=StartHook)
OnResume = TypeVar("OnResume", bound=Callable[[Session, event_types.SessionResume], Any])
OnEnd = TypeVar("OnEnd", bound=Callable[[Session, event_types.SessionEnd], Any])
Handler = Callable[[Session, E], Awaitable[None] | None]
Decorator = Callable[[Handler[E]], Handler[E]]


class Agent:
    """An agent: the service calls it once for each call, and every call gets a `Session` of its own.

    `system_prompt` and `greeting` take the place of those in the service's agent file; None leaves them. With `resume`
    the state of a call outlives a broken link, and the service takes it up again on a new one. `events` names the events
    that the service sends, `"all"` or their types; by default those that have handlers.
    """

    def __init__(
        self,
        name: str = "agent",
        system_prompt: str | None = None,
        greeting: str | None = None,
        *,
        context: Sequence[ContextMessage | tuple[Role, str]] = (),
        resume: bool = True,
        events: Literal["all"] | Iterable[str] | None = None,
    ) -> None:
        self.name = name
        self.system_prompt = system_prompt
        self.greeting = greeting
        self.context = tuple(
            each if isinstance(each, ContextMessage) else ContextMessage(*each) for each in context
        )
        self.resume = resume
        self.tools: dict[str, Tool] = {}
        self._events = _chosen(events)
        self._handlers: dict[str, list[tuple[Callable[..., Any], bool]]] = {}
        self._start_hooks: list[StartHook] = []
        try:
            _check_opening(self.opening())
        except CommandRefused as refused:
            raise ValueError(refused.message) from refused
        for name_ in self._events or ():
            if name_ not in EVENTS:
                raise ValueError(f"there is no event {name_!r}")

    # ---- tools

    @overload
    def tool(self, function: Callable[P, R], /) -> Callable[P, R]: ...

    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Any = None,
        kind: ToolKind = "read_only",
        confirm: bool = False,
        repeatable: bool = False,
        timeout_ms: int = protocol.TOOL_TIMEOUT_DEFAULT_MS,
        filler_after_ms: int = protocol.FILLER_AFTER_DEFAULT_MS,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def tool(self, *functions: Any, **options: Any) -> Any:
        """Declares a function as a tool: `@agent.tool`, or `@agent.tool(kind="side_effect", confirm=True)`.

        The function stays what it was. A plain `def` runs in a thread, an `async def` in the event loop. `timeout_ms` is
        the service's wait for the result, `filler_after_ms` when it bridges the silence (0: never). `kind="side_effect"`
        is for whatever changes the world: only then may `confirm` ask the caller first, and `repeatable` let an identical
        call of the same turn run again.
        """

        def declare(each: Callable[..., Any]) -> Callable[..., Any]:
            self.add_tools([tool_of(each, ToolOptions(**options))])
            return each

        return declare(*functions) if functions else declare

    def add_tools(self, tools: Iterable[Tool]) -> None:
        """Adds tools that were declared elsewhere, by an adapter for instance."""
        for tool in tools:
            if tool.name in self.tools:
                raise ValueError(f"tool {tool.name!r} is declared twice")
            if len(self.tools) >= protocol.TOOLS:
                raise ValueError(f"an agent has at most {protocol.TOOLS} tools")
            self.tools[tool.name] = tool

    # ---- handlers

    def on_user_text(self, handler: TextHandler) -> TextHandler:
        """Calls the handler as `handler(session, text)` with the whole text of each turn of the caller."""
        self._add("user.text", handler, takes_text=True)
        return handler

    def on_start(self, hook: OnStart) -> OnStart:
        """Calls the hook as `hook(session, opening)` before a call begins, while the caller hears silence.

        It may change the opening: prompt, greeting, context and tools of this call. The service waits 2 s in all, so the
        hook gets 1.5. One that raises or is late costs the agent the call, which the service then holds by its agent
        file; `RejectCall` does so on purpose.
        """
        self._start_hooks.append(hook)
        return hook

    def on_resume(self, handler: OnResume) -> OnResume:
        """Calls the handler as `handler(session, event)` when a call goes on over a new link; `event.lost` says how much
        the agent did not hear of."""
        self._add("session.resume", handler)
        return handler

    def on_end(self, handler: OnEnd) -> OnEnd:
        """Calls the handler as `handler(session, event)` when the call is over, with the `session.end`."""
        self._add("session.end", handler)
        return handler

    # fmt: off
    @overload
    def on(self, event: Literal["turn.user_started"]) -> Decorator[event_types.TurnUserStarted]: ...
    @overload
    def on(self, event: Literal["turn.user_ended"]) -> Decorator[event_types.TurnUserEnded]: ...
    @overload
    def on(self, event: Literal["user.transcript"]) -> Decorator[event_types.UserTranscript]: ...
    @overload
    def on(self, event: Literal["user.text"]) -> Decorator[event_types.UserText]: ...
    @overload
    def on(self, event: Literal["bot.llm_started"]) -> Decorator[event_types.BotLlmStarted]: ...
    @overload
    def on(self, event: Literal["bot.text"]) -> Decorator[event_types.BotText]: ...
    @overload
    def on(self, event: Literal["bot.llm_stopped"]) -> Decorator[event_types.BotLlmStopped]: ...
    @overload
    def on(self, event: Literal["bot.tts_text"]) -> Decorator[event_types.BotTtsText]: ...
    @overload
    def on(self, event: Literal["bot.heard"]) -> Decorator[event_types.BotHeard]: ...
    @overload
    def on(self, event: Literal["bot.tts_stopped"]) -> Decorator[event_types.BotTtsStopped]: ...
    @overload
    def on(self, event: Literal["turn.bot_started"]) -> Decorator[event_types.TurnBotStarted]: ...
    @overload
    def on(self, event: Literal["turn.bot_ended"]) -> Decorator[event_types.TurnBotEnded]: ...
    @overload
    def on(self, event: Literal["turn.interrupted"]) -> Decorator[event_types.TurnInterrupted]: ...
    @overload
    def on(self, event: Literal["agent.changed"]) -> Decorator[event_types.AgentChanged]: ...
    @overload
    def on(self, event: Literal["client.message"]) -> Decorator[event_types.ClientMessage]: ...
    @overload
    def on(self, event: Literal["turn.metrics"]) -> Decorator[event_types.TurnMetrics]: ...
    @overload
    def on(self, event: Literal["error"]) -> Decorator[event_types.ServiceError]: ...
    @overload
    def on(self, event: Literal["events.lost"]) -> Decorator[event_types.EventsLost]: ...
    @overload
    def on(self, event: Literal["session.end"]) -> Decorator[event_types.SessionEnd]: ...
    # fmt: on

    def on(self, event: str) -> Callable[[Any], Any]:
        """Calls the decorated handler as `handler(session, event)` for each event of this type.

        The handlers of one call run one after another, in the order of the events. One that takes long should start its
        work with `session.spawn`; one that raises is logged, and the call goes on.
        """
        if event not in EVENTS:
            raise ValueError(f"there is no event {event!r}; known are {', '.join(EVENTS)}")

        def add(handler: Any) -> Any:
            self._add(event, handler)
            return handler

        return add

    def _add(self, event: str, handler: Callable[..., Any], *, takes_text: bool = False) -> None:
        self._handlers.setdefault(event, []).append((handler, takes_text))

    def handlers_of(self, event: str) -> Sequence[tuple[Callable[..., Any], bool]]:
        """The handlers of an event type; true stands with those that take the text alone."""
        return self._handlers.get(event, ())

    # ---- what the service is told

    @property
    def start_hooks(self) -> Sequence[StartHook]:
        """In the order in which they were declared."""
        return self._start_hooks

    def opening(self) -> Opening:
        """What every call begins with."""
        return Opening(self.system_prompt, self.greeting, list(self.context), list(self.tools.values()))

    def accept(self, opening: Opening) -> Json:
        """The `session.accept` of an opening. Raises `CommandRefused` naming the rule it breaks."""
        _check_opening(opening)
        message: dict[str, Any] = {"type": "session.accept", "version": protocol.VERSION}
        if opening.tools:
            message["tools"] = [tool.declaration() for tool in opening.tools]
        if opening.system_prompt is not None:
            message["system_prompt"] = opening.system_prompt
        if opening.context:
            message["context"] = context_json(opening.context, "context")
        if opening.greeting is not None:
            message["greeting"] = opening.greeting
        if opening.overrides:
            message["overrides"] = opening.overrides
        if self.resume:
            message["resume"] = True
        wanted = self._handlers if self._events is None else self._events
        message["events"] = sorted(name for name in wanted if name in EVENTS and name not in ALWAYS_SENT)
        return message

    # ---- serving

    def listen(
        self, host: str = "127.0.0.1", port: int = 8090, **options: Unpack[ServerOptions]
    ) -> AgentServer:
        """A server for this agent, to be used as `async with agent.listen(...) as server:`; see `AgentServer`."""
        from ._server import AgentServer

        return AgentServer(self, host, port, **options)

    def run(self, host: str | None = None, port: int | None = None, **options: Unpack[ServerOptions]) -> None:
        """Serves until SIGTERM or SIGINT, then lets running calls end; a second signal ends them.

        What is not given comes from the environment: `VOICE_AGENT_HOST`, `VOICE_AGENT_PORT` and `SVC_AGENT_TOKEN`.
        """
        from ._server import run_until_stopped

        asyncio.run(run_until_stopped(self, host, port, options))


def _chosen(events: Iterable[str] | None) -> list[str] | None:
    if events is None:
        return None
    return sorted(EVENTS if events == "all" else set(events))


def _check_opening(opening: Opening) -> None:
    if opening.system_prompt is not None:
        check_text("system_prompt", opening.system_prompt, protocol.SYSTEM_PROMPT_BYTES)
    if opening.greeting is not None:
        check_text("greeting", opening.greeting, protocol.SAY_BYTES)
    context_json(opening.context, "context")
    if len(opening.tools) > protocol.TOOLS:
        raise CommandRefused("invalid_message", f"tools must be at most {protocol.TOOLS}")
