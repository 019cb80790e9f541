"""JSON Schemas out of type hints, and values of those types out of JSON.

One function, `shape_of`, gives both sides of a hint, so that what a tool declares is what it accepts. It knows `str`,
`int`, `float`, `bool`, `None`, `Any`, `Literal`, enumerations, unions, lists, tuples of one type, string-keyed
dictionaries, `TypedDict`, dataclasses, `date`, `time` and `datetime`, `Annotated[T, "description"]`, and pydantic models,
which are recognised by their methods: this module imports no pydantic.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

Decode = Callable[[Any, str], Any]


class BadArgument(Exception):
    """An argument that does not fit its schema. The text names the path and the rule and never holds the value."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A type as JSON: its schema, and how a JSON value becomes a value of the type (`decode(value, path)`)."""

    schema: dict[str, Any]
    decode: Decode
    definitions: dict[str, Any] = field(default_factory=dict)


def shape_of(hint: Any, where: str) -> Shape:
    """The shape of a type hint; `TypeError` naming `where` for a type that JSON has no schema for."""
    if hint is Any or hint is inspect.Parameter.empty:
        return Shape({}, lambda value, _: value)
    if get_origin(hint) is typing.Annotated:
        return _annotated(hint, where)
    if get_origin(hint) is Literal:
        return _one_of(list(get_args(hint)), {each: each for each in get_args(hint)}, where)
    if get_origin(hint) in (Union, types.UnionType):
        return _union(get_args(hint), where)
    if get_origin(hint) in (list, Sequence, tuple, set, frozenset) or hint in (list, tuple):
        return _array(hint, where)
    if get_origin(hint) in (dict, Mapping) or hint is dict:
        return _string_map(hint, where)
    if is_typeddict(hint):
        return _typed_dict(hint, where)
    if inspect.isclass(hint):
        return _class(hint, where)
    raise TypeError(f"{where}: no JSON Schema is known for the type {hint!r}")


def object_schema(properties: Mapping[str, Shape], required: Sequence[str]) -> dict[str, Any]:
    """The schema of an object that holds exactly these properties; definitions of models move to its top."""
    schema: dict[str, Any] = {"type": "object"}
    if properties:
        schema["properties"] = {name: shape.schema for name, shape in properties.items()}
    if required:
        schema["required"] = list(required)
    schema["additionalProperties"] = False
    definitions = {key: value for shape in properties.values() for key, value in shape.definitions.items()}
    return {**schema, "$defs": definitions} if definitions else schema


def decode_object(
    properties: Mapping[str, Shape], required: Sequence[str], value: Any, path: str
) -> dict[str, Any]:
    """The decoded properties of a JSON object; absent ones stay absent."""
    if not isinstance(value, dict):
        raise BadArgument(f"{path or 'the arguments'} must be an object")
    prefix = f"{path}." if path else ""
    for name in required:
        if name not in value:
            raise BadArgument(f"{prefix}{name} is required")
    for name in value:
        if name not in properties:
            raise BadArgument(
                f"{path or 'the arguments'} must have no other properties than {', '.join(properties)}"
            )
    return {name: properties[name].decode(each, f"{prefix}{name}") for name, each in value.items()}


_SCALARS: Mapping[type, tuple[str, Callable[[Any], bool]]] = {
    str: ("string", lambda value: isinstance(value, str)),
    bool: ("boolean", lambda value: isinstance(value, bool)),
    int: ("integer", lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer())),
    float: ("number", lambda value: _is_number(value)),
    type(None): ("null", lambda value: value is None),
}

_TIMES: Mapping[type, str] = {datetime.datetime: "date-time", datetime.date: "date", datetime.time: "time"}


def _is_number(value: Any) -> bool:
    """A float beyond its range was read as infinite, which is no number that anybody sent."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _class(hint: type, where: str) -> Shape:
    if hint in _SCALARS:
        return _scalar(hint)
    if hint in _TIMES:
        return _time(hint)
    if issubclass(hint, enum.Enum):
        return _one_of([each.value for each in hint], {each.value: each for each in hint}, where)
    if is_model(hint):
        return _model(hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, where)
    raise TypeError(f"{where}: no JSON Schema is known for the type {hint.__name__}")


def _scalar(hint: type) -> Shape:
    name, fits = _SCALARS[hint]

    def decode(value: Any, path: str) -> Any:
        if not fits(value):
            raise BadArgument(f"{path} must be of type {name}")
        return value if hint is type(None) else hint(value)

    return Shape({"type": name}, decode)


def _time(hint: type) -> Shape:
    form = _TIMES[hint]
    read: Callable[[str], Any] = hint.fromisoformat  # type: ignore[attr-defined]

    def decode(value: Any, path: str) -> Any:
        try:
            return read(value)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"{path} must be a {form} of ISO 8601") from error

    return Shape({"type": "string", "format": form}, decode)


def _one_of(choices: list[Any], values: Mapping[Any, Any], where: str) -> Shape:
    kinds = {type(choice) for choice in choices}
    if not kinds <= set(_SCALARS):
        raise TypeError(f"{where}: choices must be strings, numbers, booleans or None")
    schema: dict[str, Any] = {"enum": choices}
    if len(kinds) == 1:
        schema = {"type": _SCALARS[kinds.pop()][0], **schema}

    def decode(value: Any, path: str) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return values[choice]
        raise BadArgument(f"{path} must be one of {', '.join(map(str, choices))}")

    return Shape(schema, decode)


def _annotated(hint: Any, where: str) -> Shape:
    inner, *notes = get_args(hint)
    shape = shape_of(inner, where)
    texts = [note if isinstance(note, str) else getattr(note, "description", None) for note in notes]
    description = next((text for text in texts if isinstance(text, str)), None)
    return shape if description is None else describe(shape, description)


def describe(shape: Shape, description: str) -> Shape:
    """The same shape with a description in its schema."""
    return Shape({**shape.schema, "description": description}, shape.decode, shape.definitions)


def _union(hints: Sequence[Any], where: str) -> Shape:
    shapes = [shape_of(hint, where) for hint in hints]
    definitions = {key: value for shape in shapes for key, value in shape.definitions.items()}

    def decode(value: Any, path: str) -> Any:
        faults = []
        for shape in shapes:
            try:
                return shape.decode(value, path)
            except BadArgument as error:
                faults.append(str(error))
        raise BadArgument(faults[0] if len(faults) == 1 else f"{path} fits none of its types")

    names = [shape.schema.get("type") for shape in shapes]
    if all(
        isinstance(name, str) and len(shape.schema) == 1 for name, shape in zip(names, shapes, strict=True)
    ):
        return Shape({"type": names}, decode)
    return Shape({"anyOf": [shape.schema for shape in shapes]}, decode, definitions)


def _array(hint: Any, where: str) -> Shape:
    arguments = [each for each in get_args(hint) if each is not Ellipsis]
    if len(arguments) > 1:
        raise TypeError(f"{where}: a tuple must hold one type, as in tuple[str, ...]")
    item = shape_of(arguments[0], f"{where}[]") if arguments else Shape({}, lambda value, _: value)
    origin = get_origin(hint) or hint
    build: Callable[[list[Any]], Any] = origin if origin in (tuple, set, frozenset) else list

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, list):
            raise BadArgument(f"{path} must be of type array")
        return build([item.decode(each, f"{path}[{index}]") for index, each in enumerate(value)])

    unique = {"uniqueItems": True} if origin in (set, frozenset) else {}
    return Shape({"type": "array", "items": item.schema, **unique}, decode, item.definitions)


def _string_map(hint: Any, where: str) -> Shape:
    key, value_hint = get_args(hint) or (str, Any)
    if key is not str:
        raise TypeError(f"{where}: the keys of a dictionary must be strings")
    each = shape_of(value_hint, f"{where}{{}}")

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise BadArgument(f"{path} must be of type object")
        return {name: each.decode(entry, f"{path}.{name}") for name, entry in value.items()}

    return Shape({"type": "object", "additionalProperties": each.schema}, decode, each.definitions)


def _typed_dict(hint: Any, where: str) -> Shape:
    # `__required_keys__` does not see NotRequired where annotations are kept as texts.
    hints = typing.get_type_hints(hint, include_extras=True)
    marked = {name: get_origin(each) for name, each in hints.items()}
    required = [
        name
        for name, mark in marked.items()
        if mark is typing.Required or (mark is not typing.NotRequired and name in hint.__required_keys__)
    ]
    marks = (typing.Required, typing.NotRequired)
    plain = {name: get_args(each)[0] if marked[name] in marks else each for name, each in hints.items()}
    properties = {name: shape_of(each, f"{where}.{name}") for name, each in plain.items()}
    return _object(properties, required, lambda values: values)


def _dataclass(hint: type, where: str) -> Shape:
    hints = typing.get_type_hints(hint, include_extras=True)
    known = [each for each in dataclasses.fields(hint) if each.init]
    properties = {each.name: shape_of(hints[each.name], f"{where}.{each.name}") for each in known}
    missing = dataclasses.MISSING
    required = [each.name for each in known if each.default is missing and each.default_factory is missing]
    return _object(properties, required, lambda values: hint(**values))


def _object(
    properties: Mapping[str, Shape], required: Sequence[str], build: Callable[[dict[str, Any]], Any]
) -> Shape:
    schema = object_schema(properties, required)
    definitions = schema.pop("$defs", {})
    return Shape(
        schema,
        lambda value, path: build(decode_object(properties, required, value, path)),
        definitions,
    )


def is_model(hint: Any) -> bool:
    """Whether a class is a pydantic model, by what it can do."""
    return inspect.isclass(hint) and all(
        callable(getattr(hint, name, None)) for name in ("model_json_schema", "model_validate")
    )


def _model(hint: Any) -> Shape:
    schema = dict(hint.model_json_schema())
    definitions = schema.pop("$defs", {})

    def decode(value: Any, path: str) -> Any:
        try:
            return hint.model_validate(value)
        except ValueError as error:
            raise BadArgument(_model_faults(error, path)) from error

    return Shape(schema, decode, definitions)


def _model_faults(error: Any, path: str) -> str:
    """pydantic's faults as `path: rule`, without the values that it repeats."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [
        f"{'.'.join([*([path] if path else []), *map(str, each['loc'])])}: {each['msg']}"
        for each in faults[:8]
    ]
    return "; ".join(lines)
