"""One name for each idea in all SDKs: this one has those of `sdk/conformance/names.json`, in the spelling of Python."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import voice_agent
from voice_agent import testing

FILE = Path(__file__).parents[2] / "conformance" / "names.json"
NAMES: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text())


def snake(name: str) -> str:
    return name if name[:1].isupper() else re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def public(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def members(cls: type) -> set[str]:
    """Fields, methods and properties, and what `__init__` sets."""
    names = {name for each in cls.__mro__ if each.__module__.startswith("voice_agent") for name in vars(each)}
    if dataclasses.is_dataclass(cls):
        names |= {each.name for each in dataclasses.fields(cls)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) == "self"
        ):
            names.add(node.attr)
    return public(names)


def parameters(function: Callable[..., Any]) -> set[str]:
    return public(inspect.signature(function).parameters) - {"self"}


def tool_options() -> set[str]:
    return {each.name for each in dataclasses.fields(voice_agent.Tool)} - {"run"}


SURFACE: dict[str, Callable[[], set[str]]] = {
    "exports": lambda: set(voice_agent.__all__),
    "Agent": lambda: members(voice_agent.Agent),
    "AgentOptions": lambda: parameters(voice_agent.Agent.__init__),
    "AgentServer": lambda: members(voice_agent.AgentServer),
    "ListenOptions": lambda: parameters(voice_agent.AgentServer.__init__) - {"agent"},
    "Session": lambda: members(voice_agent.Session),
    "TransferOptions": lambda: parameters(voice_agent.Session.transfer) - {"destination"},
    "Caller": lambda: members(voice_agent.Caller) - {"read"},
    "SignedSession": lambda: members(voice_agent.SignedSession) - {"read"},
    "ToolCall": lambda: members(voice_agent.ToolCall),
    "ToolOptions": tool_options,
    "SessionTokenOptions": lambda: parameters(voice_agent.mint_session_token),
    "ScriptedCall": lambda: members(testing.ScriptedCall),
    "ScriptedCallOptions": lambda: parameters(testing.ScriptedCall.__init__) - {"agent"},
}


@pytest.mark.parametrize("part", SURFACE)
def test_it_has_the_names_that_all_sdks_have(part: str) -> None:
    named = {snake(name) for kind in ("all", "python") for name in NAMES[part].get(kind, ())}
    assert SURFACE[part]() == named


def test_no_part_is_left_out() -> None:
    assert NAMES.keys() == SURFACE.keys()


def test_modules_that_are_no_ones_business_say_so() -> None:
    folder = Path(voice_agent.__file__).parent
    assert public(each.stem for each in folder.glob("*.py")) == {"adapters", "testing"}
