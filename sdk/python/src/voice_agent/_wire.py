"""The agent link on the wire: how one message is read and written. Lengths count bytes of UTF-8."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from ._errors import CommandRefused, WireError
from ._wire_types import MESSAGE_BYTES

Json = Mapping[str, Any]
Role = Literal["system", "user", "assistant"]
ToolKind = Literal["read_only", "side_effect"]


def read_message(frame: str | bytes) -> dict[str, Any]:
    """One frame of the service as a JSON object with a `type`, or `WireError`."""
    if not isinstance(frame, str):
        raise WireError("binary frames are not part of the protocol")
    if utf8_bytes(frame) > MESSAGE_BYTES:
        raise WireError(f"a message must be at most {MESSAGE_BYTES} bytes")
    try:
        message = json.loads(frame, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError("a text frame must hold one JSON object") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("a text frame must hold one JSON object with a string type")
    return message


def write_message(message: Json) -> str:
    """The text of a message, compact. Raises `WireError` for what is no JSON or does not fit into one message."""
    text = write_json(message)
    if utf8_bytes(text) > MESSAGE_BYTES:
        raise WireError(f"a message must be at most {MESSAGE_BYTES} bytes")
    return text


def write_json(value: object) -> str:
    """Compact JSON text, or `WireError` for a value that JSON cannot hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError("the value cannot be written as JSON") from error
    return text


def utf8_bytes(text: str) -> int:
    """Bytes of a text in UTF-8; half of a surrogate pair counts as the three bytes it would take."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_text(field: str, text: str, most_bytes: int, *, may_be_empty: bool = True) -> str:
    """The text, or `CommandRefused` in the service's words when it breaks a limit that the service would enforce."""
    if not isinstance(text, str):
        raise CommandRefused("invalid_message", f"{field} must be a string")
    if not may_be_empty and text.strip() == "":
        raise CommandRefused("invalid_message", f"{field} must not be empty")
    if utf8_bytes(text) > most_bytes:
        raise CommandRefused("invalid_message", f"{field} must be at most {most_bytes} bytes")
    return text


def field(message: Json, name: str, kind: type | tuple[type, ...]) -> Any:
    """A required field of a message, or `WireError`. A boolean is no number here."""
    value = message.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise WireError(f"{message.get('type')}: {name} is missing or of the wrong type")
    return value


def _refuse_constant(_name: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")
