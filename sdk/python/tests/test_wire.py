"""The SDK knows what the service declares (`wire.schema.json`, written by `npm run docs`), and reads it strictly."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from voice_agent import _wire_types as protocol
from voice_agent._errors import WireError
from voice_agent._events import ALWAYS_SENT, EVENTS, Event, Metrics
from voice_agent._tools import Tool, ToolCall
from voice_agent._wire import read_message, write_message

DECLARED: dict[str, Any] = json.loads((Path(__file__).parent / "wire.schema.json").read_text())


def fields_of(side: str, type_: str) -> set[str]:
    return set(DECLARED[side][type_]["properties"]) - {"type"}


def test_protocol_and_version() -> None:
    assert DECLARED["protocol"] == protocol.PROTOCOL
    assert protocol.VERSION in DECLARED["versions"]


def test_close_codes() -> None:
    assert DECLARED["close_codes"]["normal"] == protocol.CLOSE_NORMAL
    assert DECLARED["close_codes"]["violation"] == protocol.CLOSE_VIOLATION


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
        "overrides",
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
    assert len(text.encode()) == protocol.MESSAGE_BYTES
    assert read_message(text) == message
    with pytest.raises(WireError, match="at most 65536 bytes"):
        write_message({**message, "fill": message["fill"] + "a"})


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, "\ud800", b"bytes"])
def test_what_is_no_json_is_not_written(value: object) -> None:
    with pytest.raises(WireError, match="cannot be written as JSON"):
        write_message({"type": "x", "value": value})
