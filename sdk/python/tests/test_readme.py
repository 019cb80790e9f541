"""The README shows the example that the tests run."""

import re
from pathlib import Path

import voice_agent
from voice_agent.events import EVENTS

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
