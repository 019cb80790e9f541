"""Type hints as JSON Schemas, and JSON as values of those types."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from pydantic import BaseModel, Field

from voice_agent._schema import BadArgument, shape_of


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Item:
    name: Annotated[str, "What it is called."]
    count: int = 1
    notes: list[str] = field(default_factory=list)


class Address(TypedDict):
    street: str
    floor: NotRequired[int]


class Part(BaseModel):
    weight: float = Field(gt=0)


class Order(BaseModel):
    number: str = Field(pattern="^[0-9]+$")
    parts: list[Part] = []


SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    (Any, {}),
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (Optional[str], {"type": ["string", "null"]}),  # noqa: UP045
    (int | str, {"type": ["integer", "string"]}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (list, {"type": "array", "items": {}}),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}),
    (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
    (dict, {"type": "object", "additionalProperties": {}}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, "b"], {"enum": [1, "b"]}),
    (Size, {"type": "string", "enum": ["small", "large"]}),
    (datetime.date, {"type": "string", "format": "date"}),
    (datetime.time, {"type": "string", "format": "time"}),
    (datetime.datetime, {"type": "string", "format": "date-time"}),
    (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
    (Annotated[int, Field(description="How many.")], {"type": "integer", "description": "How many."}),
    (
        Item,
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "What it is called."},
                "count": {"type": "integer"},
                "notes": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
    (
        Address,
        {
            "type": "object",
            "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["street"],
            "additionalProperties": False,
        },
    ),
    (Item | None, {"anyOf": [shape_of(Item, "x").schema, {"type": "null"}]}),
]


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=[str(hint) for hint, _ in SCHEMAS])
def test_a_type_hint_becomes_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert shape_of(hint, "x").schema == schema


@pytest.mark.parametrize(
    ("hint", "value", "decoded"),
    [
        (str, "a", "a"),
        (int, 3, 3),
        (int, 3.0, 3),
        (float, 3, 3.0),
        (bool, False, False),
        (str | None, None, None),
        (int | str, "a", "a"),
        (list[int], [1, 2], [1, 2]),
        (tuple[str, ...], ["a"], ("a",)),
        (set[str], ["a", "a"], {"a"}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Literal[1, "b"], 1, 1),
        (Size, "large", Size.LARGE),
        (datetime.date, "2026-11-23", datetime.date(2026, 11, 23)),
        (datetime.time, "19:30", datetime.time(19, 30)),
        (Item, {"name": "bread"}, Item("bread")),
        (list[Item], [{"name": "bread", "count": 2}], [Item("bread", 2)]),
        (Item | None, None, None),
        (Address, {"street": "High Street"}, {"street": "High Street"}),
        (Order, {"number": "7", "parts": [{"weight": 1}]}, Order(number="7", parts=[Part(weight=1)])),
    ],
)
def test_json_becomes_the_type(hint: Any, value: Any, decoded: Any) -> None:
    result = shape_of(hint, "x").decode(value, "x")
    assert result == decoded
    assert type(result) is type(decoded)


@pytest.mark.parametrize(
    ("hint", "value", "fault"),
    [
        (str, 5, "x must be of type string"),
        (int, "secret", "x must be of type integer"),
        (int, 1.5, "x must be of type integer"),
        (int, True, "x must be of type integer"),
        (bool, 1, "x must be of type boolean"),
        (float, "secret", "x must be of type number"),
        (list[int], "secret", "x must be of type array"),
        (list[int], [1, "secret"], r"x\[1\] must be of type integer"),
        (dict[str, int], [], "x must be of type object"),
        (dict[str, int], {"a": "secret"}, r"x\.a must be of type integer"),
        (Literal[1, 2], True, "x must be one of 1, 2"),
        (Size, "secret", "x must be one of small, large"),
        (datetime.date, "secret", "x must be a date of ISO 8601"),
        (datetime.date, 5, "x must be a date of ISO 8601"),
        (int | bool, "secret", "x fits none of its types"),
        (Item, {}, r"x\.name is required"),
        (Item, {"name": "a", "secret": 1}, "x must have no other properties than name, count, notes"),
        (Item, "secret", "x must be an object"),
        (Order, {"number": "secret"}, r"x\.number: String should match pattern"),
    ],
)
def test_what_does_not_fit_is_told_without_its_value(hint: Any, value: Any, fault: str) -> None:
    with pytest.raises(BadArgument, match=fault) as told:
        shape_of(hint, "x").decode(value, "x")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("hint", [object, bytes, dict[int, str], tuple[int, str], Literal[b"a"], type])
def test_a_type_without_a_schema_is_refused_where_it_stands(hint: Any) -> None:
    with pytest.raises(TypeError, match="tool 'book': parameter x"):
        shape_of(hint, "tool 'book': parameter x")


def test_the_schema_of_a_model_is_pydantics_own() -> None:
    shape = shape_of(Order, "x")
    assert shape.schema["properties"]["number"]["pattern"] == "^[0-9]+$"
    assert set(shape.definitions) == {"Part"}


def test_whole_numbers_keep_every_digit() -> None:
    shape = shape_of(int, "id")
    for value in (2512292042121000001, -(2**53) - 1, 10**400):
        assert shape.decode(value, "id") == value
    assert shape.decode(10.0, "id") == 10


@pytest.mark.parametrize("hint", [int, float])
def test_what_no_float_can_hold_is_no_number(hint: type) -> None:
    with pytest.raises(BadArgument):
        shape_of(hint, "n").decode(float("inf"), "n")
