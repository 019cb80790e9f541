"""Plays the scenarios of `sdk/conformance` against an agent on a real socket; its README is what this implements."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

TOKEN = "conformance-token"
FOLDER = Path(__file__).parents[2] / "conformance"
DOCUMENT: dict[str, Any] = json.loads((FOLDER / "scenarios.json").read_text())
SCENARIOS: list[dict[str, Any]] = DOCUMENT["scenarios"]
WAIT_S = 5.0


class Driver:
    """One scenario."""

    def __init__(self, port: int, scenario: Mapping[str, Any], call: str) -> None:
        self._url = f"ws://127.0.0.1:{port}{scenario.get('path', '/')}"
        self._headers: dict[str, str] = scenario.get("headers", {"Authorization": f"Bearer {TOKEN}"})
        self._scenario = scenario
        self._call = call
        self._socket: ClientConnection | None = None
        self._seq = 0
        self._probes = 1_000
        self._untaken: list[dict[str, Any]] = []
        self._saved: dict[str, Any] = {}

    async def run(self) -> None:
        steps = self._scenario["steps"]
        if "expect_refused" in steps[0]:
            await self._expect_refused(steps[0]["expect_refused"])
            return
        await self._connect()
        try:
            for step in steps:
                await self._take(step)
        finally:
            await self._the_socket.close()

    @property
    def _the_socket(self) -> ClientConnection:
        assert self._socket is not None
        return self._socket

    async def _connect(self) -> None:
        self._seq = 0
        self._socket = await connect(
            self._url, additional_headers=self._headers, compression=None, max_size=None, proxy=None
        )

    async def _expect_refused(self, status: int) -> None:
        try:
            await self._connect()
        except InvalidStatus as refused:
            assert refused.response.status_code == status
            return
        raise AssertionError("the upgrade was not refused")

    async def _take(self, step: Mapping[str, Any]) -> None:
        match step:
            case {"send": message}:
                await self._send(message)
            case {"send_text": text}:
                await self._the_socket.send(text)
            case {"send_bytes": count}:
                await self._the_socket.send(bytes(count))
            case {"send_large": count}:
                await self._send_large(count)
            case {"expect": wanted}:
                await self._expect(wanted)
            case {"absent": unwanted}:
                await self._absent(unwanted)
            case {"expect_close": code}:
                await self._expect_close(code)
            case {"break": True}:
                self._the_socket.transport.abort()
                await self._the_socket.wait_closed()
            case {"connect": True}:
                self._untaken = []
                await self._connect()
            case {"repeat": {"times": times, "steps": steps}}:
                for _ in range(times):
                    for each in steps:
                        await self._take(each)
            case _:
                raise AssertionError(f"an unknown step: {step}")

    async def _send(self, given: Mapping[str, Any]) -> None:
        fields = dict(given)
        offer = dict(DOCUMENT["offers"][fields.pop("$offer")]) if "$offer" in fields else {}
        if offer:
            offer["session_id"] = self._call
        self._seq = fields.get("seq", self._seq + 1)
        message = {"seq": self._seq, "t_ms": 20 * self._seq, **offer, **fields}
        text = json.dumps({name: self._fill(value) for name, value in message.items()})
        try:
            await self._the_socket.send(text)
        except ConnectionClosed as closed:
            raise AssertionError(f"the agent closed the link: {closed}") from closed

    async def _send_large(self, count: int) -> None:
        self._seq += 1
        message = {"seq": self._seq, "t_ms": 0, "type": "large", "fill": ""}
        message["fill"] = "x" * (count - len(json.dumps(message)))
        await self._the_socket.send(json.dumps(message))

    async def _expect(self, wanted: Mapping[str, Any]) -> None:
        for message in self._untaken:
            if self._matches(wanted, message):
                self._untaken.remove(message)
                return
        seen: list[dict[str, Any]] = []
        try:
            async with asyncio.timeout(WAIT_S):
                while True:
                    message = json.loads(await self._the_socket.recv())
                    if self._matches(wanted, message):
                        return
                    seen.append(message)
                    self._untaken.append(message)
        except (TimeoutError, ConnectionClosed) as error:
            raise AssertionError(f"expected {wanted}, saw {seen or self._untaken}") from error

    async def _absent(self, unwanted: Mapping[str, Any]) -> None:
        self._probes += 1
        await self._send({
            "type": "tool.call", "id": self._probes, "call_id": "probe", "name": "echo", "arguments": {"text": "probe"},
            "kind": "read_only", "epoch": 1, "idempotency_key": "0" * 16, "timeout_ms": 5000,
        })  # fmt: skip
        await self._expect({"type": "tool.result", "id": self._probes})
        for message in self._untaken:
            assert not self._matches(unwanted, message), f"{message} should not have come"

    async def _expect_close(self, code: int | None) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while True:
                    self._untaken.append(json.loads(await self._the_socket.recv()))
        except ConnectionClosed:
            assert code in (None, self._the_socket.close_code)
        except TimeoutError as error:
            raise AssertionError("the agent did not close the link") from error

    def _fill(self, value: Any) -> Any:
        return self._saved[value["$saved"]] if isinstance(value, dict) and "$saved" in value else value

    def _matches(self, wanted: Any, value: Any) -> bool:
        match wanted:
            case {"$any": kind}:
                kinds = {"string": str, "number": int | float, "object": dict, "array": list}
                return isinstance(value, kinds[kind])
            case {"$save": name}:
                self._saved[name] = value
                return True
            case {"$saved": name}:
                return bool(value == self._saved[name])
            case {"$not": other}:
                return not self._matches(other, value)
            case {"$set": items}:
                return isinstance(value, list) and sorted(value) == sorted(items)
            case {"$contains": items}:
                return isinstance(value, list) and all(
                    any(self._matches(item, each) for each in value) for item in items
                )
            case dict():
                return isinstance(value, dict) and all(
                    name not in value
                    if each == {"$absent": True}
                    else name in value and self._matches(each, value[name])
                    for name, each in wanted.items()
                )
            case list():
                return (
                    isinstance(value, list)
                    and len(value) == len(wanted)
                    and all(self._matches(each, item) for each, item in zip(wanted, value, strict=True))
                )
        return type(wanted) is type(value) and bool(wanted == value)
