"""The README shows the example that the tests run."""

import re
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import pytest

import voice_agent
from voice_agent._events import EVENTS
from voice_agent.testing import ScriptedCall

FOLDER = Path(__file__).parents[1]
README = (FOLDER / "README.md").read_text()


def test_its_first_example_is_hello() -> None:
    first = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert first[1] == (FOLDER / "examples" / "hello.py").read_text()


def test_it_names_every_event() -> None:
    for name in EVENTS:
        assert f"`{name}`" in README


def test_what_is_exported_is_there() -> None:
    for name in voice_agent.__all__:
        assert hasattr(voice_agent, name)


PAGE = (FOLDER.parents[1] / "docs" / "agent-link" / "migrating.md").read_text()


def blocks(text: str) -> list[str]:
    return [textwrap.dedent(each) for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def test_the_page_on_migration_holds_python() -> None:
    assert len(blocks(PAGE)) == 5
    for block in blocks(PAGE):
        compile(block, "migrating.md", "exec")


async def test_the_receptionist_of_the_page_on_migration_works(monkeypatch: pytest.MonkeyPatch) -> None:
    restaurant = types.ModuleType("restaurant")
    exec(blocks(PAGE)[0].replace("async def book", "async def _book"), restaurant.__dict__)  # noqa: S102

    async def book(day: str, time: str, people: int, name: str) -> str:
        return f"{day} {time} {people} {name}"

    monkeypatch.setitem(sys.modules, "restaurant", restaurant)
    monkeypatch.setattr(restaurant, "book", book, raising=False)
    module: dict[str, Any] = {"__name__": "receptionist"}
    exec(blocks(PAGE)[3], module)  # noqa: S102
    async with ScriptedCall(module["agent"]) as call:
        assert call.greeting == "Restaurant Aurora, good evening."
        assert call.tools["book_table"]["confirm"] is True
        booked = await call.call_tool("book_table", day="2026-11-30", time="19:00", people=2, name="Ann")
        assert booked.result == {"number": "2026-11-30 19:00 2 Ann"}
        call.refuse("transfer", "unsupported")
        assert (await call.call_tool("transfer")).error == "calls cannot be transferred right now"
        call.start_tool("hang_up", {})
        assert await call.expect_end() == "Goodbye!"
