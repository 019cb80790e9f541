"""Tools: functions that the model may call while it talks.

A tool is declared by its function: the name, what the docstring says, and the type hints of its parameters. Parameters
whose hint is `ToolCall` or `Session` are not the model's: they are filled in when the tool runs.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _wire as wire
from . import _wire_types as protocol
from ._docstring import read_docstring
from ._errors import WireError
from ._schema import Shape, decode_object, describe, is_model, object_schema, shape_of
from ._wire import ToolKind, utf8_bytes
from ._wire_types import CancelReason

if TYPE_CHECKING:
    from ._session import Session

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Decode = Callable[[dict[str, Any]], dict[str, Any]]
Provide = Callable[["ToolCall"], Any]


@dataclass(eq=False, slots=True)
class ToolCall:
    """One call of a tool, for a handler that wants to know more than its arguments."""

    session: Session
    id: int
    """Never used twice in a call of the service."""
    call_id: str
    """The id that the model gave the call."""
    name: str
    arguments: Mapping[str, Any]
    """As JSON, before they became the handler's types."""
    kind: ToolKind
    epoch: int
    idempotency_key: str
    """16 hex digits, the same for every attempt of one call: give it to whatever must not happen twice."""
    timeout_ms: int
    seq: int = 0
    cancelled: CancelReason | None = None
    """Set when the service stopped waiting. A read-only tool is cancelled then; one with effects is only told."""
    cancellation: asyncio.Event = field(default_factory=asyncio.Event)
    runs_on: bool = False
    """Set by `keep_running`; of a tool with effects it makes no difference."""

    def keep_running(self) -> None:
        """Lets a read-only tool run to its end, too, when nobody waits for it any more."""
        self.runs_on = True

    def cancel(self, reason: CancelReason) -> None:
        """Notes that nobody waits for the result any more."""
        self.cancelled = reason
        self.cancellation.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declared tool. `run` takes the call and gives the result, any value that JSON can hold."""

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[[ToolCall], Awaitable[Any]]
    kind: ToolKind = "read_only"
    confirm: bool = False
    repeatable: bool = False
    timeout_ms: int = protocol.TOOL_TIMEOUT_DEFAULT_MS
    filler_after_ms: int = protocol.FILLER_AFTER_DEFAULT_MS

    def __post_init__(self) -> None:
        """Refuses what the service would refuse at the handshake, when the agent is written and not in a call."""
        where = f"tool {self.name!r}"
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"{where}: the name must have 1 to {protocol.TOOL_NAME_CHARS} of A-Z a-z 0-9 _ -"
            )
        if self.kind not in ("read_only", "side_effect"):
            raise ValueError(f"{where}: kind must be read_only or side_effect")
        if self.kind == "read_only" and (self.confirm or self.repeatable):
            raise ValueError(f"{where}: confirm and repeatable are for side_effect tools only")
        if not 1 <= self.timeout_ms <= protocol.TOOL_TIMEOUT_MAX_MS:
            raise ValueError(f"{where}: timeout_ms must be from 1 to {protocol.TOOL_TIMEOUT_MAX_MS}")
        if not 0 <= self.filler_after_ms <= protocol.TOOL_TIMEOUT_MAX_MS:
            raise ValueError(f"{where}: filler_after_ms must be from 0 to {protocol.TOOL_TIMEOUT_MAX_MS}")
        if utf8_bytes(self.description) > protocol.TOOL_DESCRIPTION_BYTES:
            raise ValueError(
                f"{where}: the description must be at most {protocol.TOOL_DESCRIPTION_BYTES} bytes"
            )
        if self.parameters.get("type") != "object":
            raise ValueError(f"{where}: parameters must be a JSON Schema of type object")
        if _has_remote_ref(self.parameters):
            raise ValueError(f"{where}: parameters must have no remote $ref")

    def declaration(self) -> dict[str, Any]:
        """The tool as `session.accept` names it; defaults of the protocol are left out."""
        given = {
            "kind": self.kind,
            "timeout_ms": self.timeout_ms,
            "filler_after_ms": self.filler_after_ms,
            "confirm": self.confirm,
            "repeatable": self.repeatable,
        }
        optional = {name: value for name, value in given.items() if value != _DEFAULTS[name]}
        return {"name": self.name, "description": self.description, "parameters": self.parameters, **optional}


_DEFAULTS: Mapping[str, Any] = {
    "kind": "read_only",
    "timeout_ms": protocol.TOOL_TIMEOUT_DEFAULT_MS,
    "filler_after_ms": protocol.FILLER_AFTER_DEFAULT_MS,
    "confirm": False,
    "repeatable": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What the decorator takes; None means: as the function says."""

    name: str | None = None
    description: str | None = None
    parameters: Any = None
    """A pydantic model that the handler takes whole, or a JSON Schema whose arguments it takes as keywords."""
    kind: ToolKind = "read_only"
    confirm: bool = False
    repeatable: bool = False
    timeout_ms: int = protocol.TOOL_TIMEOUT_DEFAULT_MS
    filler_after_ms: int = protocol.FILLER_AFTER_DEFAULT_MS
    is_flat: bool = True
    """A function whose only parameter is a model takes the fields of that model as its arguments."""
    provided: Mapping[str, Provide] = field(default_factory=dict)
    """Parameters that are not the model's, beside those of type `ToolCall` and `Session`: what fills them in."""


def tool_of(function: Callable[..., Any], options: ToolOptions) -> Tool:
    """The tool of a function. Raises `TypeError` or `ValueError` naming the tool and the rule it breaks."""
    doc = read_docstring(function)
    name = options.name or function.__name__
    provided = {**_provided_by_type(function), **options.provided}
    own = _own_parameters(function, provided, f"tool {name!r}")
    parameters, decode = _parameters_of(own, options, doc.parameters, f"tool {name!r}")

    async def run(call: ToolCall) -> Any:
        values = decode(dict(call.arguments))
        values.update({each: provide(call) for each, provide in provided.items()})
        return await call_function(function, values)

    return Tool(
        name=name,
        description=doc.description if options.description is None else options.description,
        parameters=parameters,
        run=run,
        kind=options.kind,
        confirm=options.confirm,
        repeatable=options.repeatable,
        timeout_ms=options.timeout_ms,
        filler_after_ms=options.filler_after_ms,
    )


async def call_function(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Runs a function: an `async def` here, a plain `def` in a thread, so that it cannot hold up other calls."""
    if inspect.iscoroutinefunction(inspect.unwrap(function)):
        return await function(**values)
    result = await asyncio.to_thread(function, **values)
    return await result if inspect.isawaitable(result) else result


def plain_json(value: Any) -> Any:
    """A result as JSON: dataclasses and pydantic models become objects. Raises `WireError` for what does not."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    elif is_model(type(value)):
        value = value.model_dump(mode="json")
    elif isinstance(value, list | tuple):
        value = [plain_json(each) for each in value]
    wire.write_json(value)
    # The message itself is a level.
    if _is_deeper(value, protocol.NESTED_LEVELS - 1):
        raise WireError(f"a message must nest at most {protocol.NESTED_LEVELS} levels")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list | tuple):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def _parameters_of(
    own: Mapping[str, tuple[Any, bool]], options: ToolOptions, descriptions: Mapping[str, str], where: str
) -> tuple[dict[str, Any], Decode]:
    given = options.parameters
    if isinstance(given, Mapping):
        return dict(given), lambda values: values
    if given is not None and not is_model(given):
        raise TypeError(f"{where}: parameters must be a pydantic model or a JSON Schema")
    if given is not None and len(own) != 1:
        raise TypeError(f"{where}: with a model as parameters the function must take exactly that model")
    single = next(iter(own.items()), None) if len(own) == 1 else None
    may_be_flat = options.is_flat and single is not None and is_model(single[1][0])
    model = given if given is not None else (single[1][0] if single and may_be_flat else None)
    if model is not None and single is not None:
        shape, name = shape_of(model, where), single[0]
        schema = {**shape.schema, **({"$defs": shape.definitions} if shape.definitions else {})}
        return schema, lambda values: {name: shape.decode(values, "")}
    shapes: dict[str, Shape] = {}
    for name, (hint, _) in own.items():
        shape = shape_of(hint, f"{where}: parameter {name}")
        text = None if "description" in shape.schema else descriptions.get(name)
        shapes[name] = shape if text is None else describe(shape, text)
    required = [name for name, (_, is_required) in own.items() if is_required]
    return object_schema(shapes, required), lambda values: decode_object(shapes, required, values, "")


def _own_parameters(
    function: Callable[..., Any], provided: Mapping[str, Provide], where: str
) -> dict[str, tuple[Any, bool]]:
    """The model's parameters: the hint of each, and whether it is required."""
    hints = _hints(function)
    own: dict[str, tuple[Any, bool]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in provided or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{where}: parameter {name} must be one that can be given by its name")
        own[name] = (hints.get(name, Any), parameter.default is parameter.empty)
    return own


def _provided_by_type(function: Callable[..., Any]) -> dict[str, Provide]:
    from ._session import Session

    found: dict[str, Provide] = {}
    for name, hint in _hints(function).items():
        if name != "return" and hint is ToolCall:
            found[name] = lambda call: call
        elif name != "return" and hint is Session:
            found[name] = lambda call: call.session
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{function.__name__}: the type hint {error.name!r} is not known where the function is"
        ) from error


def _has_remote_ref(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(_has_remote_ref(each) for each in schema)
    if not isinstance(schema, dict):
        return False
    ref = schema.get("$ref")
    return (isinstance(ref, str) and not ref.startswith("#")) or any(map(_has_remote_ref, schema.values()))
