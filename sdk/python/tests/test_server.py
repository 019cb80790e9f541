"""The server on real sockets: who gets in, how it stops, and what breaks nothing."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from voice_agent import Agent, AgentServer, Opening, Session, SessionEnd

TOKEN = "a token of the agent"
START: dict[str, Any] = {
    "seq": 1,
    "t_ms": 0,
    "type": "session.start",
    "protocol": "svc.agent",
    "versions": [1],
    "session_id": "one",
    "agent": "front-desk",
    "capabilities": {"transfer": False, "tools": True},
}


@asynccontextmanager
async def link(
    server: AgentServer, token: str | None = None, **changed: Any
) -> AsyncIterator[ClientConnection]:
    """A connection of the service whose `session.start` is sent; `type=None` sends nothing."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    url = f"ws://127.0.0.1:{server.port}/"
    async with connect(
        url, additional_headers=headers, compression=None, max_size=None, proxy=None
    ) as socket:
        if changed.get("type", "") is not None:
            await socket.send(json.dumps({**START, **changed}))
        yield socket


async def answer(socket: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(await socket.recv())
    return message


async def status_with(server: AgentServer, headers: list[tuple[str, str]]) -> int:
    try:
        async with connect(f"ws://127.0.0.1:{server.port}/", additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


# ---- who gets in


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Authorization", f"Bearer {TOKEN}")], 101),
        ([("authorization", f"bearer {TOKEN}")], 101),
        ([], 401),
        ([("Authorization", "Bearer wrong")], 401),
        ([("Authorization", f"Bearer {TOKEN}x")], 401),
        ([("Authorization", f"Basic {TOKEN}")], 401),
        ([("Authorization", TOKEN)], 401),
        ([("Authorization", "Bearer \xff")], 401),
        ([("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer wrong")], 401),
    ],
)
async def test_the_bearer_token_is_wanted(headers: list[tuple[str, str]], status: int) -> None:
    async with Agent().listen(port=0, token=TOKEN, grace_ms=0) as server:
        assert await status_with(server, headers) == status


async def test_a_probe_of_the_health_needs_no_token_and_no_upgrade() -> None:
    async with Agent().listen(port=0, token=TOKEN, grace_ms=0) as server:
        url = f"http://127.0.0.1:{server.port}/healthz"
        answer = await asyncio.to_thread(urllib.request.urlopen, url)
        assert answer.status == 200


async def test_without_a_token_everybody_on_this_machine_gets_in() -> None:
    async with Agent().listen(port=0, grace_ms=0) as server:
        assert await status_with(server, []) == 101


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "agent.example", ""])
def test_others_get_in_only_by_a_token_or_on_purpose(host: str) -> None:
    with pytest.raises(ValueError, match="give a token, or insecure=True"):
        Agent().listen(host)
    Agent().listen(host, token=TOKEN)
    Agent().listen(host, insecure=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_no_token(host: str) -> None:
    Agent().listen(host)


def test_an_empty_token_is_refused() -> None:
    with pytest.raises(ValueError, match="token must not be empty"):
        Agent().listen(token="")


async def test_a_wrong_token_stands_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with Agent().listen(port=0, token=TOKEN, grace_ms=0) as server:
        await status_with(server, [("Authorization", "Bearer a-wrong-secret")])
        await status_with(server, [("Authorization", f"Bearer {TOKEN}")])
    own = "".join(each.getMessage() for each in caplog.records if each.name.startswith("voice_agent"))
    assert "the right token" in own
    assert "a-wrong-secret" not in own
    assert TOKEN not in own


async def test_more_calls_than_it_takes_are_rejected() -> None:
    async with Agent().listen(port=0, grace_ms=0, max_calls=1) as server, link(server) as one:
        assert (await answer(one))["type"] == "session.accept"
        async with link(server, session_id="two") as two:
            rejected = await answer(two)
            assert (rejected["type"], rejected["code"]) == ("session.reject", "too_many_calls")
        assert server.calls == 1


async def test_more_connections_than_it_takes_are_refused() -> None:
    async with (
        Agent().listen(port=0, grace_ms=0, max_calls=1) as server,
        link(server, type=None),
        link(server, type=None),
    ):
        assert await status_with(server, []) == 503


# ---- what breaks nothing


async def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice_agent._host.FIRST_MESSAGE_S", 0)
    async with Agent().listen(port=0, grace_ms=0) as server, link(server, type=None) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1008


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "turn.interrupted", "epoch": 1},
        {"session_id": 5},
        {"agent": None},
        {"capabilities": "none"},
        {"resume": {"previous_seq": 1, "pending": 5}},
        {"resume": {"previous_seq": 1, "replay_from": "1"}},
        {"resume": {}},
        {"session": {}},
        {"seq": "1"},
    ],
)
async def test_a_first_message_that_cannot_be_read_closes_the_link(changed: dict[str, Any]) -> None:
    async with Agent().listen(port=0, grace_ms=0) as server, link(server, **changed) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1008
        assert server.calls == 0


async def test_a_call_that_begins_twice_is_the_newer_one() -> None:
    agent = Agent()
    ended: asyncio.Queue[str] = asyncio.Queue()
    agent.on_end(lambda _session, event: ended.put_nowait(event.reason))
    async with agent.listen(port=0, grace_ms=0) as server, link(server) as one:
        await answer(one)
        async with link(server) as two:
            assert (await answer(two))["type"] == "session.accept"
            assert await ended.get() == "link_lost"
            assert server.calls == 1


async def test_a_call_that_nobody_takes_up_again_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Agent()
    ended: asyncio.Queue[str] = asyncio.Queue()

    @agent.on_end
    async def over(session: Session, event: SessionEnd) -> None:
        assert session.end_reason == "link_lost"
        ended.put_nowait(event.reason)

    server = agent.listen(port=0, grace_ms=0)
    server._calls._parked_s = 0
    async with server:
        async with link(server) as socket:
            await answer(socket)
        assert await ended.get() == "link_lost"


async def test_a_call_that_was_taken_up_again_waits_for_nothing() -> None:
    async with Agent().listen(port=0, grace_ms=0) as server:
        async with link(server) as socket:
            await answer(socket)
        async with link(server, resume={"attempt": 1, "previous_seq": 1, "down_ms": 0}) as again:
            assert (await answer(again))["type"] == "session.accept"
            assert server.calls == 1
            assert not server._calls._tasks


async def test_without_resume_a_call_ends_with_its_link() -> None:
    agent = Agent(resume=False)
    ended: asyncio.Queue[str] = asyncio.Queue()
    agent.on_end(lambda _session, event: ended.put_nowait(event.reason))
    async with agent.listen(port=0, grace_ms=0) as server:
        async with link(server) as socket:
            assert "resume" not in await answer(socket)
        assert await ended.get() == "link_lost"


# ---- how it stops


async def test_draining_rejects_new_calls_and_lets_running_ones_end() -> None:
    async with Agent().listen(port=0) as server, link(server) as socket:
        await answer(socket)
        closing = asyncio.create_task(server.close(grace_ms=60_000))
        await asyncio.sleep(0)
        async with link(server, session_id="two") as two:
            rejected = await answer(two)
            assert (rejected["type"], rejected["code"]) == ("session.reject", "shutting_down")
        assert not closing.done()
        await socket.send(json.dumps({"seq": 2, "t_ms": 0, "type": "session.end", "reason": "hangup"}))
        await closing
        assert server.calls == 0


async def test_draining_takes_calls_up_again_whose_link_broke() -> None:
    async with Agent().listen(port=0) as server:
        async with link(server) as socket:
            await answer(socket)
        closing = asyncio.create_task(server.close(grace_ms=60_000))
        await asyncio.sleep(0)
        async with link(server, resume={"attempt": 1, "previous_seq": 1, "down_ms": 0}) as again:
            assert (await answer(again))["type"] == "session.accept"
            await again.send(json.dumps({"seq": 2, "t_ms": 0, "type": "session.end", "reason": "hangup"}))
            await closing


async def test_a_drain_without_resume_frees_the_port_at_once() -> None:
    agent = Agent(resume=False)
    async with agent.listen(port=0) as server, link(server) as socket:
        await answer(socket)
        port = server.port
        closing = asyncio.create_task(server.close(grace_ms=60_000))
        await asyncio.sleep(0)
        async with Agent().listen(port=port, grace_ms=0):
            await socket.send(json.dumps({"seq": 2, "t_ms": 0, "type": "session.end", "reason": "hangup"}))
            await closing


async def test_a_drain_has_a_limit() -> None:
    agent = Agent()
    seen: list[str] = []

    @agent.on_user_text
    async def hang(_session: Session, _text: str) -> None:
        seen.append("hangs")
        await asyncio.Event().wait()

    @agent.on_start
    async def begin(session: Session, _opening: Opening) -> None:
        session.data["ended"] = seen

    async with agent.listen(port=0) as server, link(server) as socket:
        await answer(socket)
        await socket.send(json.dumps({"seq": 2, "t_ms": 0, "type": "user.text", "epoch": 1, "text": "a"}))
        await server.close(grace_ms=0)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1001
        assert server.calls == 0


HELLO = Path(__file__).parents[1] / "examples" / "hello.py"


@asynccontextmanager
async def hello(**environment: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The first example as a process that listens, and the line it logged."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HELLO),
        env={"VOICE_AGENT_PORT": "0", "PYTHONPATH": str(HELLO.parents[1] / "src"), **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        yield process, (await process.stderr.readline()).decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_run_drains_on_sigterm_and_a_second_signal_ends_the_calls() -> None:
    async with hello() as (process, line):
        port = int(line.rsplit(" ", 1)[1])
        async with connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
            await socket.send(json.dumps(START))
            await socket.recv()
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            assert b"1 still run" in await process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0


async def test_run_ends_at_once_without_calls() -> None:
    async with hello() as (process, _line):
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0


async def test_run_takes_its_token_from_the_environment() -> None:
    async with hello(SVC_AGENT_TOKEN=TOKEN) as (_process, line):
        port = int(line.rsplit(" ", 1)[1])
        with pytest.raises(InvalidStatus):
            async with connect(f"ws://127.0.0.1:{port}/", proxy=None):
                pass


@pytest.mark.parametrize("port", ["x", "-1", "65536"])
def test_a_port_that_is_none_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("VOICE_AGENT_PORT", port)
    with pytest.raises(ValueError, match="VOICE_AGENT_PORT must be a port"):
        Agent().run()
