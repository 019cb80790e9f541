"""What a docstring says of a function and its parameters, in the styles of Google, NumPy-less Sphinx, and plain text."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

_SECTION = re.compile(r"^(args|arguments|parameters|params):\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(r"^[A-Z][A-Za-z ]{1,24}:\s*$")
_GOOGLE = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")
_SPHINX_OTHER = re.compile(r"^:(returns?|raises|rtype|type)\b")


@dataclass(frozen=True, slots=True)
class Docstring:
    """The text before any section, and the description of each parameter."""

    description: str
    parameters: dict[str, str]


def read_docstring(function: object) -> Docstring:
    """The docstring of a function, empty when there is none."""
    lines = (inspect.getdoc(function) or "").splitlines()
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    place = "text"
    indent: int | None = None
    current: list[str] | None = None
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if match := _SPHINX.match(text):
            place, current = "sphinx", parameters.setdefault(match[1], [match[2]])
        elif _SPHINX_OTHER.match(text):
            place, current = "other", None
        elif depth == 0 and _SECTION.match(text):
            place, indent, current = "google", None, None
        elif depth == 0 and place != "sphinx" and _OTHER_SECTION.match(text):
            place, current = "other", None
        elif place == "google" and text and (indent is None or depth <= indent):
            indent = depth if indent is None else indent
            match = _GOOGLE.match(text)
            current = parameters.setdefault(match[1], [match[2]]) if match else None
        elif place == "text":
            description.append(line)
        elif current is not None and text:
            current.append(text)
    return Docstring(
        "\n".join(description).strip(),
        {name: " ".join(part for part in parts if part) for name, parts in parameters.items()},
    )
