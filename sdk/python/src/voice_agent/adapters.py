"""Tools that were written for LiveKit Agents or Pipecat, registered as tools of an agent here.

Neither package is imported: what is needed of their objects is looked at by name, so that code can move over function by
function, with its framework installed or not. What such code does with the pipeline itself (audio, frames, other agents)
has no counterpart on this side of the link and stays behind.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar, overload

from ._errors import ToolError
from ._session import Session
from ._tools import Provide, Tool, ToolCall, ToolOptions, call_function, tool_of

F = TypeVar("F", bound=Callable[..., Any])


# ---- LiveKit Agents


@dataclass(frozen=True, slots=True)
class RunContext:
    """Stands in for LiveKit's: the session of the call, `userdata`, and the function call."""

    call: ToolCall

    @property
    def session(self) -> Session:
        """The session of the call, which has `say` like LiveKit's."""
        return self.call.session

    @property
    def userdata(self) -> dict[str, Any]:
        """What belongs to the call: `session.data`."""
        return self.call.session.data

    def disallow_interruptions(self) -> None:
        """The tool runs to its end although the caller goes on; what the agent says stays interruptible."""
        self.call.keep_running()

    @property
    def function_call(self) -> SimpleNamespace:
        """`name`, `call_id` and `arguments` of the call."""
        return SimpleNamespace(
            name=self.call.name, call_id=self.call.call_id, arguments=dict(self.call.arguments)
        )


@overload
def function_tool(function: F, /) -> F: ...
@overload
def function_tool(
    *,
    name: str | None = None,
    description: str | None = None,
    raw_schema: Mapping[str, Any] | None = None,
    **_: Any,
) -> Callable[[F], F]: ...


def function_tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    raw_schema: Mapping[str, Any] | None = None,
    **_: Any,
) -> Any:
    """Marks a function or method as LiveKit's decorator of this name does, so that only the import has to change."""

    def mark(each: F) -> F:
        each.info = SimpleNamespace(name=name, description=description, raw_schema=raw_schema)  # type: ignore[attr-defined]
        return each

    return mark if function is None else mark(function)


def livekit_tools(source: Any, **options: Any) -> list[Tool]:
    """The tools of LiveKit code, for `Agent.add_tools`: one, several in a list, a `Toolset`, or an object's methods.

    A parameter of a type named `RunContext` gets one of this module. `options` are those of `Agent.tool`, such as
    `kind="side_effect"`, and apply to all of them.
    """
    return [_livekit_tool(each, options) for each in _livekit_tools(source)]


def _livekit_tools(source: Any) -> list[Any]:
    if _has_info(source):
        return [source]
    is_toolset = any(each.__name__ == "Toolset" for each in type(source).__mro__)
    several = source.tools if is_toolset else source if isinstance(source, Iterable) else None
    if several is None:
        return _marked_methods(source)
    return [tool for each in several for tool in _livekit_tools(each)]


def _has_info(value: Any) -> bool:
    info = getattr(value, "info", None)
    return callable(value) and info is not None and hasattr(info, "name")


def _marked_methods(source: Any) -> list[Any]:
    names = [name for name in dir(type(source)) if not name.startswith("__")]
    found = [getattr(source, name) for name in names if _has_info(getattr(type(source), name))]
    if not found:
        raise ValueError("the object has no method that is marked as a function_tool")
    return found


def _livekit_tool(function: Any, options: Mapping[str, Any]) -> Tool:
    info = function.info
    raw = getattr(info, "raw_schema", None)
    provided: dict[str, Provide] = dict.fromkeys(_parameters_named(function, "RunContext"), RunContext)
    if raw is None:
        named = ToolOptions(
            name=info.name,
            description=(info.description or "").strip() or None,
            provided=provided,
            is_flat=False,
            **options,
        )
        return tool_of(_as_livekit(function), named)
    provided["raw_arguments"] = lambda call: dict(call.arguments)
    taken = {name: each for name, each in provided.items() if name in _parameters(function)}
    run = _as_livekit(function)
    return Tool(
        name=raw["name"],
        description=raw.get("description") or "",
        parameters=dict(raw["parameters"]),
        run=lambda call: call_function(run, {name: provide(call) for name, provide in taken.items()}),
        **options,
    )


def _as_livekit(function: Callable[..., Any]) -> Callable[..., Any]:
    """What LiveKit knows by its class: words for the model, a tool that wants no answer, a result in its wrapper."""

    async def run(**values: Any) -> Any:
        try:
            result = await call_function(function, values)
        except Exception as error:
            if type(error).__name__ == "StopResponse":
                return None
            if type(error).__name__ == "ToolError" and not isinstance(error, ToolError):
                raise ToolError(str(getattr(error, "message", error))) from error
            raise
        return result.output if type(result).__name__ == "ToolResult" else result

    return _looks_like(run, function)


# ---- Pipecat


@dataclass(frozen=True, slots=True)
class FunctionCallParams:
    """Stands in for Pipecat's: `await params.result_callback(result)` answers the call."""

    function_name: str
    tool_call_id: str
    arguments: Mapping[str, Any]
    result_callback: Callable[..., Awaitable[None]]
    app_resources: Any
    """What belongs to the call: `session.data`."""
    session: Session
    """Not in Pipecat: where its handlers push frames to speak, these call `params.session.say`."""


def pipecat_tool(schema: Any, handler: Callable[..., Any] | None = None, **options: Any) -> Tool:
    """A function of Pipecat as a tool for `Agent.add_tools`: a `FunctionSchema` with its handler, or a direct function
    (`params` comes first).

    The answer is what the handler gives to `params.result_callback`; one that ends without it answers when it does so
    later, or when the service stops waiting. Updates before the result (`is_final=False`) are not passed on.
    `options` are those of `Agent.tool`.
    """
    handler = handler or getattr(schema, "handler", None) or getattr(schema, "_handler", None)
    if handler is None:
        return tool_of(
            _pipecat_direct(schema),
            ToolOptions(provided={"call": _call_itself}, is_flat=False, **options),
        )
    run = handler
    return Tool(
        name=schema.name,
        description=schema.description,
        parameters={
            "type": "object",
            "properties": dict(schema.properties),
            "required": list(schema.required),
        },
        run=lambda call: _answer_of(call, lambda params: run(params)),
        **options,
    )


def _call_itself(call: ToolCall) -> ToolCall:
    return call


def _pipecat_direct(function: Callable[..., Any]) -> Callable[..., Any]:
    if next(iter(_parameters(function)), None) != "params":
        raise ValueError("a direct function must have params as its first parameter")

    async def run(call: ToolCall, **values: Any) -> Any:
        return await _answer_of(call, lambda params: function(params, **values))

    return _looks_like(run, function, first="call")


async def _answer_of(call: ToolCall, start: Callable[[FunctionCallParams], Awaitable[Any]]) -> Any:
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def take(result: Any, *, properties: Any = None) -> None:
        is_final = getattr(properties, "is_final", True) is not False
        if is_final and not answer.done():
            answer.set_result(result)

    await start(
        FunctionCallParams(
            function_name=call.name,
            tool_call_id=call.call_id,
            arguments=call.arguments,
            result_callback=take,
            app_resources=call.session.data,
            session=call.session,
        )
    )
    return await answer


# ---- signatures


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


def _parameters_named(function: Callable[..., Any], type_name: str) -> list[str]:
    """Parameters whose type has this name, generic or not."""
    hints = _hints(function)
    own = [(name, typing.get_origin(hints.get(name)) or hints.get(name)) for name in _parameters(function)]
    return [name for name, hint in own if getattr(hint, "__name__", None) == type_name]


def _looks_like(
    wrapper: Callable[..., Any], function: Callable[..., Any], first: str | None = None
) -> Callable[..., Any]:
    """Gives a wrapper the name, docstring and parameters of a function; `first` takes the place of the first one."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    hints = _hints(function)
    if first is not None:
        hints.pop(parameters[0].name, None)
        parameters[0] = inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wrapper.__name__ = getattr(function, "__name__", "tool")
    wrapper.__doc__ = function.__doc__
    wrapper.__annotations__ = {each.name: hints[each.name] for each in parameters if each.name in hints}
    wrapper.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapper
