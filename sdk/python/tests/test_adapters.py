"""Tools written for LiveKit Agents and Pipecat, as they stand in such code, called over the link."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

from voice_agent import Agent, adapters
from voice_agent.adapters import (
    FunctionCallParams,
    RunContext,
    function_tool,
    livekit_tools,
    pipecat_tool,
)
from voice_agent.testing import ScriptedCall

Userdata = TypeVar("Userdata")


class Receptionist:
    """A class as LiveKit's users write it, with only the imports changed."""

    def __init__(self) -> None:
        self.booked: list[str] = []

    @function_tool
    async def book(self, context: RunContext, name: str, people: int = 2) -> dict[str, Any]:
        """Books a table.

        Args:
            name: Whose table it is.
            people: How many come.
        """
        self.booked.append(name)
        context.userdata["last"] = context.function_call.call_id
        await context.session.say("Done.")
        return {"name": name, "people": people}

    @function_tool(name="cancel_booking", description="Cancels a table.")
    async def cancel(self, name: str) -> str:
        self.booked.remove(name)
        return "cancelled"

    async def not_a_tool(self) -> None:
        return None


async def test_methods_marked_with_function_tool_become_tools() -> None:
    agent, receptionist = Agent(), Receptionist()
    agent.add_tools(livekit_tools(receptionist, kind="side_effect"))
    async with ScriptedCall(agent) as call:
        assert set(call.tools) == {"book", "cancel_booking"}
        assert call.tools["book"]["kind"] == "side_effect"
        assert call.tools["book"]["description"] == "Books a table."
        assert call.tools["book"]["parameters"] == {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Whose table it is."},
                "people": {"type": "integer", "description": "How many come."},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
        assert (await call.call_tool("book", name="Ann")).result == {"name": "Ann", "people": 2}
        assert await call.expect_say() == "Done."
        assert (await call.call_tool("cancel_booking", name="Ann")).result == "cancelled"
    assert receptionist.booked == []


class LiveKitRunContext(Generic[Userdata]):
    """As LiveKit's, for its name."""


LiveKitRunContext.__name__ = "RunContext"


class LiveKitToolError(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


LiveKitToolError.__name__ = "ToolError"


class LiveKitFunctionTool:
    """What LiveKit's own decorator returns: a callable object with `info`."""

    def __init__(self, function: Any, **info: Any) -> None:
        self.info = SimpleNamespace(**info)
        self.__wrapped__ = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__annotations__, self.__module__ = function.__annotations__, function.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


async def look_up(context: LiveKitRunContext[dict[str, str]], number: str) -> str:
    """Looks up an order."""
    assert isinstance(context, adapters.RunContext)
    if number != "1":
        raise LiveKitToolError("there is no such order")
    return "on its way"


async def raw(raw_arguments: dict[str, Any], context: LiveKitRunContext[Any]) -> str:
    return str(raw_arguments["city"])


async def test_objects_of_livekits_own_decorator_become_tools() -> None:
    schema = {
        "name": "weather",
        "description": "Weather.",
        "parameters": {"type": "object", "properties": {}},
    }
    agent = Agent()
    tools = [
        LiveKitFunctionTool(look_up, name="look_up", description="Looks up an order."),
        LiveKitFunctionTool(raw, name="weather", raw_schema=schema),
    ]
    agent.add_tools(livekit_tools(tools))
    async with ScriptedCall(agent) as call:
        assert call.tools["look_up"]["parameters"]["required"] == ["number"]
        assert (await call.call_tool("look_up", number="1")).result == "on its way"
        assert (await call.call_tool("look_up", number="2")).error == "there is no such order"
        assert call.tools["weather"]["parameters"] == schema["parameters"]
        assert (await call.call_tool("weather", city="Bern")).result == "Bern"


class Item(BaseModel):
    name: str


class StopResponse(Exception):
    """As LiveKit's: the agent should say nothing to the result."""


class ToolResult:
    """As LiveKit's: a result in a wrapper."""

    def __init__(self, output: Any) -> None:
        self.output = output


class Toolset:
    """As LiveKit's: tools of its own, and other toolsets."""

    def __init__(self, *tools: Any) -> None:
        self.tools = list(tools)


@function_tool
async def order(item: Item) -> ToolResult:
    return ToolResult({"ordered": item.name})


@function_tool
async def quiet() -> None:
    raise StopResponse


async def test_a_model_that_is_the_only_parameter_keeps_its_name() -> None:
    agent = Agent()
    agent.add_tools(livekit_tools(order))
    agent.add_tools([pipecat_tool(take_item)])
    async with ScriptedCall(agent) as call:
        assert call.tools["order"]["parameters"]["required"] == ["item"]
        assert (await call.call_tool("order", item={"name": "tea"})).result == {"ordered": "tea"}
        assert (await call.call_tool("take_item", item={"name": "tea"})).result == "tea"
        assert (await call.call_tool("order", name="tea")).error is not None


async def test_a_tool_that_wants_no_answer_has_not_failed(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent()
    agent.add_tools(livekit_tools([quiet]))
    async with ScriptedCall(agent) as call:
        outcome = await call.call_tool("quiet")
    assert (outcome.result, outcome.error, caplog.records) == (None, None, [])


async def test_a_toolset_among_the_tools_brings_its_own() -> None:
    agent = Agent()
    agent.add_tools(
        livekit_tools(
            [quiet, Toolset(order, Toolset(LiveKitFunctionTool(look_up, name="look_up", description=None)))]
        )
    )
    async with ScriptedCall(agent) as call:
        assert set(call.tools) == {"quiet", "order", "look_up"}


async def test_a_tool_that_allows_no_interruption_runs_to_its_end() -> None:
    agent, let_go, ended = Agent(), asyncio.Event(), asyncio.Event()

    @function_tool
    async def slow(context: RunContext, stays: bool) -> None:
        if stays:
            context.disallow_interruptions()
        await context.session.say("Wait.")
        await let_go.wait()
        ended.set()

    agent.add_tools(livekit_tools(slow))
    async with ScriptedCall(agent) as call:
        for stays in (False, True):
            running = call.start_tool("slow", {"stays": stays})
            assert await call.expect_say() == "Wait."
            call.cancel_tool(running, "interrupted")
            if stays:
                let_go.set()
                await ended.wait()
        assert [each["type"] for each in call.written].count("tool.result") == 0


def test_an_object_without_tools_is_refused() -> None:
    with pytest.raises(ValueError, match="no method that is marked"):
        livekit_tools(SimpleNamespace())


class FunctionSchema:
    """The part of Pipecat's that a handler is registered with."""

    def __init__(self, name: str, description: str, properties: dict[str, Any], required: list[str]) -> None:
        self.name, self.description, self.properties, self.required = name, description, properties, required


async def fetch_weather(params: FunctionCallParams) -> None:
    await params.result_callback({"still": "asking"}, properties=SimpleNamespace(is_final=False))
    await params.result_callback({"place": params.arguments["place"], "conditions": "nice"})


async def test_a_function_schema_of_pipecat_with_its_handler_becomes_a_tool() -> None:
    agent = Agent()
    schema = FunctionSchema("weather", "The weather.", {"place": {"type": "string"}}, ["place"])
    agent.add_tools([pipecat_tool(schema, fetch_weather, filler_after_ms=0)])
    async with ScriptedCall(agent) as call:
        assert call.tools["weather"]["parameters"]["required"] == ["place"]
        assert call.tools["weather"]["filler_after_ms"] == 0
        assert (await call.call_tool("weather", place="Bern")).result == {
            "place": "Bern",
            "conditions": "nice",
        }


async def add_numbers(params: FunctionCallParams, a: int, b: int = 1) -> None:
    """Adds.

    Args:
        a: The first number.
        b: The second.
    """
    await params.result_callback(a + b)


async def take_item(params: FunctionCallParams, item: Item) -> None:
    await params.result_callback(item.name)


async def test_a_direct_function_of_pipecat_becomes_a_tool() -> None:
    agent = Agent()
    agent.add_tools([pipecat_tool(add_numbers)])
    async with ScriptedCall(agent) as call:
        declared = call.tools["add_numbers"]
        assert declared["description"] == "Adds."
        assert declared["parameters"]["properties"]["a"] == {
            "type": "integer",
            "description": "The first number.",
        }
        assert declared["parameters"]["required"] == ["a"]
        assert (await call.call_tool("add_numbers", a=2)).result == 3


def test_a_direct_function_without_params_is_refused() -> None:
    with pytest.raises(ValueError, match="params as its first parameter"):
        pipecat_tool(lambda city: city)
