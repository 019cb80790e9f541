"""The example of an order line, without a service."""

from __future__ import annotations

import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from voice_agent import Agent
from voice_agent.testing import ScriptedCall

EXAMPLE = Path(__file__).parents[3] / "examples" / "agent-link" / "orders" / "orders.py"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("ORDERS_DB", str(tmp_path / "orders.sqlite3"))
    spec = importlib.util.spec_from_file_location("orders", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Agent = module.agent
    return made


def orders(folder: Path) -> list[tuple[str, str, int]]:
    with closing(sqlite3.connect(folder / "orders.sqlite3")) as database:
        return database.execute("SELECT name, items, total_cents FROM orders").fetchall()


async def test_an_order_is_taken_repeated_and_placed(agent: Agent, tmp_path: Path) -> None:
    async with ScriptedCall(agent) as call:
        assert call.greeting == "Pizzeria Aurora, what would you like to order?"
        assert "lasagna for 11.50 euros" in (await call.call_tool("menu")).result
        await call.call_tool("change_order", item="pizza", count=1)
        await call.call_tool("change_order", item="water", count=3)
        changed = await call.call_tool("change_order", item="water", count=2)
        assert changed.result == "The order is now: 1 pizza, 2 water."
        assert (await call.call_tool("repeat_order")).result == "That is 1 pizza, 2 water, for 15.50 euros."
        placed = await call.call_tool("place_order", name="Ann")
        assert placed.result == {
            "summary": "Your order has the number 101: 1 pizza, 2 water, for 15.50 euros. It is ready in 25 minutes.",
            "number": 101,
        }
        assert (
            await call.call_tool("order_status", number=101)
        ).result == "For Ann: 1 pizza, 2 water. It is in the oven."
    assert orders(tmp_path) == [("Ann", "1 pizza, 2 water", 1_550)]


async def test_the_caller_is_asked_before_an_order_is_placed(agent: Agent) -> None:
    async with ScriptedCall(agent) as call:
        assert call.tools["place_order"]["confirm"] is True
        assert call.tools["place_order"]["kind"] == "side_effect"


async def test_another_attempt_of_a_call_places_no_second_order(agent: Agent, tmp_path: Path) -> None:
    async with ScriptedCall(agent) as call:
        await call.call_tool("change_order", item="pizza", count=1)
        key = "0123456789abcdef"
        attempts = [call.start_tool("place_order", {"name": "Ann"}, idempotency_key=key) for _ in range(2)]
        first, second = [await call.tool_outcome(each) for each in attempts]
        assert first.result == second.result
    assert len(orders(tmp_path)) == 1


async def test_another_caller_places_another_order(agent: Agent, tmp_path: Path) -> None:
    for session_id in ("one", "two"):
        async with ScriptedCall(agent, session_id=session_id) as call:
            await call.call_tool("change_order", item="pizza", count=1)
            await call.call_tool("place_order", name="Ann")
    assert len(orders(tmp_path)) == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("change_order", {"item": "sushi", "count": 1}, "not on the menu; there is pizza, lasagna"),
        ("change_order", {"item": "water", "count": 21}, "at most 20 of one kind"),
        ("change_order", {"item": "water", "count": -1}, "at most 20 of one kind"),
        ("place_order", {"name": "Ann"}, "nothing is ordered yet"),
        ("order_status", {"number": 5}, "there is no order of this number"),
    ],
)
async def test_the_model_is_told_what_cannot_be(
    agent: Agent, tool: str, arguments: dict[str, str], error: str
) -> None:
    async with ScriptedCall(agent) as call:
        assert ((await call.call_tool(tool, **arguments)).error or "").startswith(error)


async def test_the_order_outlives_a_broken_link(agent: Agent) -> None:
    async with ScriptedCall(agent) as call:
        await call.call_tool("change_order", item="tiramisu", count=2)
        call.break_link()
        await call.resume()
        assert (await call.call_tool("repeat_order")).result == "That is 2 tiramisu, for 12.00 euros."
