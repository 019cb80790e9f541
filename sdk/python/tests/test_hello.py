"""The first example, as its readers run it."""

import importlib.util
from pathlib import Path

from voice_agent import Agent
from voice_agent.testing import ScriptedCall

EXAMPLE = Path(__file__).parents[1] / "examples" / "hello.py"


def hello() -> Agent:
    spec = importlib.util.spec_from_file_location("hello", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    agent: Agent = module.agent
    return agent


def test_it_has_fewer_than_25_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 25


async def test_it_greets_answers_and_says_goodbye() -> None:
    async with ScriptedCall(hello()) as call:
        assert call.greeting == "Hello, this is the bakery. What can I do for you?"
        assert (await call.call_tool("order_status", order_number="427")).result == "ready"
        assert (await call.call_tool("order_status", order_number="1")).result == "still in the oven"
        await call.user_says("Goodbye then!")
        assert await call.expect_end() == "Goodbye, see you soon!"
