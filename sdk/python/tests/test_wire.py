"""The SDK knows what the service declares (`wire.schema.json`, written by `npm run docs`), and reads it strictly."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from voice_agent import wire
from voice_agent.errors import WireError
from voice_agent.events import ALWAYS_SENT, EVENTS, Event, Metrics
from voice_agent.tools import Tool, ToolCall
from voice_agent.wire import read_message, write_message

DECLARED: dict[str, Any] = json.loads((Path(__file__).parent / "wire.schema.json").read_text())


def fields_of(side: str, type_: str) -> set[str]:
    return set(DECLARED[side][type_]["properties"]) - {"type"}


def test_protocol_and_version() -> None:
    assert DECLARED["protocol"] == wire.PROTOCOL
    assert wire.VERSION in DECLARED["versions"]


LIMITS = {
    "messageBytes": wire.MESSAGE_BYTES,
    "tools": wire.TOOLS,
    "toolNameChars": wire.TOOL_NAME_CHARS,
    "toolDescriptionBytes": wire.TOOL_DESCRIPTION_BYTES,
    "systemPromptBytes": wire.SYSTEM_PROMPT_BYTES,
    "contextMessages": wire.CONTEXT_MESSAGES,
    "sayBytes": wire.SAY_BYTES,
    "commandIdBytes": wire.COMMAND_ID_BYTES,
    "reasonBytes": wire.REASON_BYTES,
    "eventTypes": wire.EVENT_TYPES,
    "enabledTools": wire.ENABLED_TOOLS,
    "nestedLevels": wire.NESTED_LEVELS,
}
NOT_THE_AGENTS_LIMITS = {"waitingLines", "rememberedCommands", "handshakeProblems", "clientNameBytes"}
TIMES = {
    "connectMs": wire.CONNECT_MS,
    "handshakeMs": wire.HANDSHAKE_MS,
    "toolTimeoutDefaultMs": wire.TOOL_TIMEOUT_DEFAULT_MS,
    "toolTimeoutMaxMs": wire.TOOL_TIMEOUT_MAX_MS,
    "fillerAfterDefaultMs": wire.FILLER_AFTER_DEFAULT_MS,
    "resumeLimitMs": wire.RESUME_LIMIT_MS,
}
NOT_THE_AGENTS_TIMES = {
    *("pingIntervalMs", "downAfterMs", "endGraceMs", "closeGraceMs"),
    *("resumeFirstPauseMs", "resumeLongestPauseMs"),
}


def test_every_limit_and_time_is_known() -> None:
    assert set(DECLARED["limits"]) == LIMITS.keys() | NOT_THE_AGENTS_LIMITS
    assert set(DECLARED["times"]) == TIMES.keys() | NOT_THE_AGENTS_TIMES
    assert {name: DECLARED["limits"][name] for name in LIMITS} == LIMITS
    assert {name: DECLARED["times"][name] for name in TIMES} == TIMES


def test_close_codes() -> None:
    assert DECLARED["close_codes"]["normal"] == wire.CLOSE_NORMAL
    assert DECLARED["close_codes"]["violation"] == wire.CLOSE_VIOLATION


SETTLED_BY_THE_LINK = {
    "session.start": {
        *("protocol", "versions", "session_id", "agent", "capabilities"),
        *("route", "session", "metadata", "call", "resume"),
    },
    "tool.cancel": {"id", "reason"},
    "command.result": {"id", "ok", "error"},
    "tool.call": {each.name for each in dataclasses.fields(ToolCall)}
    - {"session", "seq", "cancelled", "cancellation", "runs_on"},
}


def test_every_message_of_the_service_is_known() -> None:
    assert set(DECLARED["service"]) == set(EVENTS) | SETTLED_BY_THE_LINK.keys()
    assert set(DECLARED["events"]) == set(EVENTS) - ALWAYS_SENT


@pytest.mark.parametrize("type_", SETTLED_BY_THE_LINK)
def test_every_field_of_the_service_is_known(type_: str) -> None:
    assert fields_of("service", type_) == SETTLED_BY_THE_LINK[type_]


@pytest.mark.parametrize("type_", EVENTS)
def test_every_field_of_an_event_is_known(type_: str) -> None:
    known = {each.name for each in dataclasses.fields(EVENTS[type_])} - {"seq", "t_ms"}
    assert fields_of("service", type_) == known


def test_every_latency_is_known() -> None:
    metrics = DECLARED["service"]["turn.metrics"]["properties"]["metrics"]["properties"]
    assert set(metrics) == {each.name for each in dataclasses.fields(Metrics)}


WRITTEN = {
    "session.accept": {
        *("version", "tools", "system_prompt", "context", "greeting", "resume", "events", "last_seq"),
    },
    "session.reject": {"code", "message"},
    "say": {"id", "re", "text", "interrupt"},
    "end": {"id", "re", "say", "reason"},
    "transfer": {"id", "re", "destination", "mode", "summary", "reason"},
    "context.update": {"id", "re", "system_prompt", "append"},
    "tools.set": {"id", "re", "enabled"},
    "client.send": {"id", "re", "data", "answers", "name"},
    "tool.result": {"id", "re", "result", "error"},
}


def test_every_message_of_an_agent_is_written_with_every_field() -> None:
    assert {type_: fields_of("agent", type_) for type_ in DECLARED["agent"]} == WRITTEN


def test_every_field_of_a_tool_declaration_is_written() -> None:
    declared = DECLARED["agent"]["session.accept"]["properties"]["tools"]["items"]["properties"]
    assert set(declared) == {each.name for each in dataclasses.fields(Tool)} - {"run"}


SAMPLES: dict[str, Any] = {"integer": 7, "string": "text", "boolean": True, "object": {"response_ms": 640}}


def sample(type_: str) -> dict[str, Any]:
    properties = DECLARED["service"][type_]["properties"]
    fields = {name: SAMPLES[each.get("type", "string")] for name, each in properties.items()}
    return {"seq": 3, "t_ms": 60, **fields, "type": type_}


@pytest.mark.parametrize("type_", EVENTS)
def test_an_event_becomes_its_dataclass(type_: str) -> None:
    event: Event = EVENTS[type_].read({**sample(type_), "field_of_the_future": 1})
    assert (event.type, event.seq, event.t_ms) == (type_, 3, 60)
    for name in fields_of("service", type_) - {"metrics"}:
        assert getattr(event, name) == sample(type_)[name]
    if type_ == "turn.metrics":
        assert getattr(event, "metrics") == Metrics(response_ms=640)  # noqa: B009


@pytest.mark.parametrize(
    ("type_", "name"), [(type_, name) for type_ in EVENTS for name in sorted(fields_of("service", type_))]
)
def test_an_event_without_a_field_or_with_a_wrong_one_is_refused(type_: str, name: str) -> None:
    whole = sample(type_)
    with pytest.raises(WireError, match=f"{type_}: {name} is missing"):
        EVENTS[type_].read({key: value for key, value in whole.items() if key != name})
    if name == "data":
        return  # any JSON
    with pytest.raises(WireError, match=f"{type_}: {name} is missing or of the wrong type"):
        EVENTS[type_].read({**whole, name: ["wrong"]})


def test_true_is_no_number() -> None:
    with pytest.raises(WireError, match="epoch"):
        EVENTS["turn.interrupted"].read({"type": "turn.interrupted", "seq": 1, "t_ms": 0, "epoch": True})


def test_latencies_are_whole_numbers() -> None:
    with pytest.raises(WireError, match="whole milliseconds"):
        EVENTS["turn.metrics"].read({**sample("turn.metrics"), "metrics": {"response_ms": "fast"}})


@pytest.mark.parametrize(
    "frame",
    [
        *(b"{}", "", "{", "[]", "null", "7", '"x"', "{}", '{"type":1}', '{"type":"a","x":NaN}'),
        '{"type":"a","x":' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"type":"a","x":' + "1" * 5_000 + "}",
        '{"type":"' + "a" * 65_536 + '"}',
    ],
)
def test_what_is_no_message_is_refused_without_its_content(frame: str | bytes) -> None:
    with pytest.raises(WireError) as refused:
        read_message(frame)
    assert len(str(refused.value)) < 80


def test_a_message_of_64_kib_is_read_and_written() -> None:
    message = {"type": "x", "fill": "ä" * 32_757}
    text = write_message(message)
    assert len(text.encode()) == wire.MESSAGE_BYTES
    assert read_message(text) == message
    with pytest.raises(WireError, match="at most 65536 bytes"):
        write_message({**message, "fill": message["fill"] + "a"})


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, "\ud800", b"bytes"])
def test_what_is_no_json_is_not_written(value: object) -> None:
    with pytest.raises(WireError, match="cannot be written as JSON"):
        write_message({"type": "x", "value": value})
