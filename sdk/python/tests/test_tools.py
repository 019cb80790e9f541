"""Tools (docs/reference/agent-link.md, Tool declaration): how they are declared, how calls are answered."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from voice_agent import Agent, Session, Tool, ToolCall, ToolError
from voice_agent.testing import ScriptedCall


async def nothing(_call: ToolCall) -> None:
    return None


def tool(**changed: Any) -> Tool:
    values: dict[str, Any] = {
        "name": "book",
        "description": "",
        "parameters": {"type": "object"},
        "run": nothing,
    }
    return Tool(**{**values, **changed})


@pytest.mark.parametrize(
    ("row", "changed", "rule"),
    [
        ("name", {"name": ""}, "1 to 64 of A-Z a-z 0-9 _ -"),
        ("name", {"name": "a" * 65}, "1 to 64"),
        ("name", {"name": "book a table"}, "1 to 64"),
        ("description", {"description": "ä" * 2_049}, "at most 4096 bytes"),
        ("parameters", {"parameters": {"type": "string"}}, "of type object"),
        ("parameters", {"parameters": {}}, "of type object"),
        (
            "parameters",
            {"parameters": {"type": "object", "allOf": [{"$ref": "https://a.example"}]}},
            "remote",
        ),
        ("kind", {"kind": "write"}, "read_only or side_effect"),
        ("timeout_ms", {"timeout_ms": 0}, "from 1 to 30000"),
        ("timeout_ms", {"timeout_ms": 30_001}, "from 1 to 30000"),
        ("filler_after_ms", {"filler_after_ms": -1}, "from 0 to 30000"),
        ("confirm", {"confirm": True}, "side_effect tools only"),
        ("repeatable", {"repeatable": True}, "side_effect tools only"),
    ],
)
def test_a_declaration_that_the_service_would_refuse_is_refused(
    row: str, changed: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ValueError, match=rule) as refused:
        tool(**changed)
    assert row in str(refused.value)


def test_defaults_are_left_out_of_the_declaration() -> None:
    assert tool().declaration() == {"name": "book", "description": "", "parameters": {"type": "object"}}


def test_everything_else_is_in_it() -> None:
    given = {
        "kind": "side_effect",
        "confirm": True,
        "repeatable": True,
        "timeout_ms": 30_000,
        "filler_after_ms": 0,
    }
    declared = tool(**given, parameters={"type": "object", "$ref": "#/$defs/a"}).declaration()
    assert {name: declared[name] for name in given} == given


def test_the_65th_tool_is_refused() -> None:
    agent = Agent()
    for index in range(64):
        agent.add_tools([tool(name=f"tool-{index}")])
    with pytest.raises(ValueError, match="at most 64 tools"):
        agent.add_tools([tool(name="one-more")])


def test_a_name_is_declared_once() -> None:
    agent = Agent()
    agent.add_tools([tool()])
    with pytest.raises(ValueError, match="declared twice"):
        agent.add_tools([tool()])


def test_parameters_come_from_hints_and_docstring() -> None:
    agent = Agent()

    @agent.tool
    async def google(session: Session, day: str, people: int = 2) -> None:
        """Books a table.

        For one evening.

        Args:
            day: The day,
                as the caller said it.
            people (int): How many come.

        Returns:
            Nothing.
        """

    @agent.tool
    async def sphinx(call: ToolCall, day: str, note: Annotated[str, "Anything else."] = "") -> None:
        """Books a table.

        :param day: The day.
        :param note: Not this one.
        :returns: Nothing.
        """

    one, other = agent.tools["google"], agent.tools["sphinx"]
    assert one.description == "Books a table.\n\nFor one evening."
    assert one.parameters == {
        "type": "object",
        "properties": {
            "day": {"type": "string", "description": "The day, as the caller said it."},
            "people": {"type": "integer", "description": "How many come."},
        },
        "required": ["day"],
        "additionalProperties": False,
    }
    assert other.description == "Books a table."
    assert other.parameters["properties"]["day"]["description"] == "The day."
    assert other.parameters["properties"]["note"]["description"] == "Anything else."


def test_a_function_that_cannot_be_called_by_names_is_refused() -> None:
    def stars(*days: str) -> None: ...

    def positional(day: str, /) -> None: ...

    for function in (stars, positional):
        with pytest.raises(TypeError, match=f"tool '{function.__name__}': parameter day"):
            Agent().tool(function)


class Booking(BaseModel):
    day: str
    people: int


@dataclass
class Booked:
    day: str
    people: int


async def answer(agent: Agent, name: str, **arguments: Any) -> tuple[Any, str | None]:
    async with ScriptedCall(agent) as call:
        outcome = await call.call_tool(name, **arguments)
        return outcome.result, outcome.error


async def test_a_model_is_the_parameters_as_a_whole() -> None:
    agent = Agent()

    @agent.tool
    async def by_hint(booking: Booking) -> Booked:
        return Booked(booking.day, booking.people)

    @agent.tool(parameters=Booking)
    async def by_option(booking: Any, session: Session) -> Booking:
        assert isinstance(session, Session)
        return Booking(day=booking.day, people=booking.people)

    for name in ("by_hint", "by_option"):
        assert agent.tools[name].parameters["required"] == ["day", "people"]
        whole = {"day": "Monday", "people": 2}
        assert await answer(agent, name, **whole) == (whole, None)


async def test_a_schema_may_be_given_as_it_is() -> None:
    agent = Agent()
    schema = {"type": "object", "properties": {"day": {"type": "string"}}}

    @agent.tool(name="book", description="Books.", parameters=schema)
    async def any_function(**values: Any) -> Any:
        return values

    assert agent.tools["book"].parameters == schema
    assert agent.tools["book"].description == "Books."
    assert await answer(agent, "book", day="Monday") == ({"day": "Monday"}, None)


@pytest.mark.parametrize("given", [Booked, 5, "schema"])
def test_other_parameters_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="pydantic model or a JSON Schema"):
        Agent().tool(parameters=given)(nothing)


async def test_a_plain_function_runs_in_a_thread() -> None:
    agent = Agent()

    @agent.tool
    def blocking() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert await answer(agent, "blocking") == (False, None)


@pytest.mark.parametrize("result", ["text", 5, 1.5, True, None, [1, "a"], {"a": {"b": []}}])
async def test_any_json_is_a_result(result: Any) -> None:
    agent = Agent()

    @agent.tool
    async def give() -> Any:
        return result

    assert await answer(agent, "give") == (result, None)


@pytest.mark.parametrize(
    "result",
    [
        object(),
        float("nan"),
        b"bytes",
        {"a": object()},
        "\ud800",
        "a" * 65_536,
        json.loads("[" * 64 + "]" * 64),
    ],
)
async def test_a_result_that_cannot_be_sent_is_an_error(result: Any) -> None:
    agent = Agent()

    @agent.tool
    async def give() -> Any:
        return result

    assert await answer(agent, "give") == (None, "the result of the tool cannot be sent")


async def test_arguments_that_do_not_fit_are_told_to_the_model() -> None:
    agent = Agent()

    @agent.tool
    async def book(people: int) -> int:
        return people

    assert await answer(agent, "book", people="two") == (None, "people must be of type integer")


async def test_only_a_tool_error_is_told_to_the_model() -> None:
    agent = Agent()

    @agent.tool
    async def sorry() -> None:
        raise ToolError("no table is free")

    @agent.tool
    async def broken() -> None:
        raise RuntimeError("password of the database")

    assert await answer(agent, "sorry") == (None, "no table is free")
    assert await answer(agent, "broken") == (None, "the tool failed")


async def test_a_call_tells_the_tool_what_it_is() -> None:
    agent = Agent()
    seen: list[ToolCall] = []

    @agent.tool(kind="side_effect", timeout_ms=9_000)
    async def book(call: ToolCall, people: int) -> None:
        seen.append(call)

    async with ScriptedCall(agent) as call:
        await call.call_tool("book", people=2)
    (one,) = seen
    assert (one.name, one.call_id, one.kind, one.timeout_ms) == ("book", "call_1", "side_effect", 9_000)
    assert one.arguments == {"people": 2}
    assert len(one.idempotency_key) == 16
    assert one.session.id == "scripted-call"


async def test_the_65th_tool_at_once_is_refused() -> None:
    agent = Agent()
    free = asyncio.Event()

    @agent.tool
    async def wait() -> str:
        await free.wait()
        return "done"

    async with ScriptedCall(agent) as call:
        ids = [call.start_tool("wait", {}) for _ in range(65)]
        assert (await call.tool_outcome(ids[-1])).error == "too many tools run at once"
        free.set()
        assert (await call.tool_outcome(ids[0])).result == "done"


async def test_a_tool_that_cancels_itself_is_answered() -> None:
    agent = Agent()

    @agent.tool
    async def giving_up() -> None:
        raise asyncio.CancelledError

    assert await answer(agent, "giving_up") == (None, "the tool failed")


async def test_the_end_of_the_call_stops_reads_and_lets_effects_finish() -> None:
    agent = Agent()
    done: list[str] = []
    running, free = asyncio.Event(), asyncio.Event()

    @agent.tool
    async def read() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            done.append("read stopped")

    @agent.tool(kind="side_effect")
    async def write(call: ToolCall) -> None:
        running.set()
        await call.cancellation.wait()
        done.append(f"write told: {call.cancelled}")
        free.set()

    async with ScriptedCall(agent) as call:
        call.start_tool("read", {})
        call.start_tool("write", {})
        await running.wait()
        await call.hang_up()
    assert sorted(done) == ["read stopped", "write told: abandoned"]
