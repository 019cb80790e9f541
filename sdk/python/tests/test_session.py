"""Calls from the agent's side (docs/reference/agent-link.md): opening, commands, limits, events, handlers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from voice_agent import (
    Agent,
    CallEnded,
    Caller,
    ClientMessage,
    CommandRefused,
    ContextMessage,
    EventsLost,
    Opening,
    ServiceError,
    Session,
    SessionEnd,
    SessionResume,
    SignedSession,
    TurnInterrupted,
    UserTranscript,
)
from voice_agent._event_queue import EventQueue
from voice_agent._events import BotText, Event
from voice_agent.testing import CallRejected, ScriptedCall

ASKED = ClientMessage(seq=2, t_ms=0, name="cart", message_id="m1", data=None)

Command = Callable[[Session], Coroutine[Any, Any, None]]


def agent_doing(command: Command) -> tuple[Agent, asyncio.Future[str]]:
    """An agent that gives one command when the caller speaks, and what became of it."""
    agent = Agent()
    outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @agent.on_user_text
    async def act(session: Session, _text: str) -> None:
        try:
            await command(session)
            outcome.set_result("done")
        except CallEnded:
            outcome.set_result("ended")
        except CommandRefused as refused:
            outcome.set_result(f"{refused.code}: {refused.message}")
        except Exception as error:
            # The agent goes on all the same; the test would wait for ever.
            outcome.set_exception(error)

    return agent, outcome


# ---- what a call begins with


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"system_prompt": "ä" * 32_769}, "system_prompt must be at most 65536 bytes"),
        ({"greeting": "ä" * 2_049}, "greeting must be at most 4096 bytes"),
        ({"context": [("user", "text")] * 33}, "context must have at most 32 messages"),
        ({"context": [("robot", "text")]}, "role must be system, user or assistant"),
        ({"context": [("user", " ")]}, "text of a context message must not be empty"),
        ({"events": ["turn.nothing"]}, "there is no event"),
    ],
)
def test_an_opening_beyond_the_limits_is_refused_when_the_agent_is_made(arguments: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Agent(**arguments)


def test_an_opening_larger_than_a_message_is_refused_before_any_call() -> None:
    with pytest.raises(Exception, match="at most 65536 bytes"):
        Agent(system_prompt="a" * 65_536).listen()


async def test_an_agent_without_an_opening_leaves_the_agent_file_alone() -> None:
    async with ScriptedCall(Agent(resume=False)) as call:
        assert call.accept == {"type": "session.accept", "version": 1, "events": []}


async def test_only_events_with_handlers_are_asked_for() -> None:
    agent = Agent()
    agent.on("turn.interrupted")(lambda _session, _event: None)
    agent.on("error")(lambda _session, _event: None)
    async with ScriptedCall(agent) as call:
        assert call.accept["events"] == ["turn.interrupted"]
    async with ScriptedCall(Agent(events=["bot.text", "session.end"])) as call:
        assert call.accept["events"] == ["bot.text"]


async def test_a_start_hook_sees_the_call_and_changes_its_opening() -> None:
    agent = Agent(greeting="Hello.")

    @agent.on_start
    async def begin(session: Session, opening: Opening) -> None:
        assert (session.path, session.query, session.agent) == ("/tenants", {"id": "a b"}, "agent")
        assert session.caller == Caller("+15550100001", "+15550100002", None)
        assert session.capabilities.transfer
        assert session.start["protocol"] == "svc.agent"
        opening.greeting = f"Hello {session.caller.number}."
        opening.context.append(ContextMessage("system", "A regular."))
        opening.overrides["tts.voice"] = "calm"

    caller = {"from": "+15550100001", "to": "+15550100002"}
    async with ScriptedCall(agent, path="/tenants?id=a%20b", caller=caller) as call:
        assert call.greeting == "Hello +15550100001."
        assert call.accept["context"] == [{"role": "system", "text": "A regular."}]
        assert call.accept["overrides"] == {"tts.voice": "calm"}
    async with ScriptedCall(Agent(greeting="Hello.")) as call:
        assert call.greeting == "Hello."


async def test_what_one_call_changed_is_not_in_the_next() -> None:
    agent = Agent(context=[("system", "One.")])
    agent.on_start(lambda _session, opening: opening.context.append(ContextMessage("system", "Two.")))
    for _ in range(2):
        async with ScriptedCall(agent) as call:
            assert len(call.accept["context"]) == 2


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param(lambda _session, opening: setattr(opening, "greeting", "a" * 4_097), id="too long"),
        pytest.param(
            lambda _session, opening: setattr(opening, "system_prompt", "a" * 65_536), id="too large"
        ),
        pytest.param(lambda _session, _opening: 1 / 0, id="throws"),
        pytest.param(lambda session, _opening: session.say("too early"), id="speaks before the accept"),
    ],
)
async def test_a_start_hook_that_fails_rejects_the_call(hook: Any) -> None:
    agent = Agent()
    agent.on_start(hook)
    with pytest.raises(CallRejected) as rejected:
        await ScriptedCall(agent).__aenter__()
    assert rejected.value.code == "agent_failed"
    assert rejected.value.message == "the agent could not begin the call"


async def test_a_start_hook_that_is_late_rejects_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice_agent._host.START_HOOK_S", 0)
    agent = Agent()

    @agent.on_start
    async def begin(_session: Session, _opening: Opening) -> None:
        await asyncio.Event().wait()

    with pytest.raises(CallRejected) as rejected:
        await ScriptedCall(agent).__aenter__()
    assert rejected.value.code == "agent_failed"


# ---- commands


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (lambda s: s.say("Hello."), {"type": "say", "text": "Hello."}),
        (lambda s: s.say("Stop.", interrupt=True), {"type": "say", "text": "Stop.", "interrupt": True}),
        (lambda s: s.say("ä" * 2_048), {"type": "say", "text": "ä" * 2_048}),
        (lambda s: s.end(), {"type": "end"}),
        (lambda s: s.end(say="", reason="done"), {"type": "end", "say": "", "reason": "done"}),
        (
            lambda s: s.transfer("+15550100", mode="warm", summary="s" * 512, reason="r" * 512),
            {
                "type": "transfer",
                "destination": "+15550100",
                "mode": "warm",
                "summary": "s" * 512,
                "reason": "r" * 512,
            },
        ),
        (
            lambda s: s.transfer("+15550100", command_id="i" * 64),
            {"type": "transfer", "destination": "+15550100", "mode": "cold", "id": "i" * 64},
        ),
        (
            lambda s: s.update_context(system_prompt="New.", append=[ContextMessage("assistant", "Yes.")]),
            {
                "type": "context.update",
                "system_prompt": "New.",
                "append": [{"role": "assistant", "text": "Yes."}],
            },
        ),
        (lambda s: s.set_tools([]), {"type": "tools.set", "enabled": []}),
        (lambda s: s.set_tools(iter(["a"])), {"type": "tools.set", "enabled": ["a"]}),
        (lambda s: s.set_tools(None), {"type": "tools.set", "enabled": None}),
        (lambda s: s.send_to_client({"a": [None]}), {"type": "client.send", "data": {"a": [None]}}),
        (
            lambda s: s.send_to_client(None, answers=ASKED),
            {"type": "client.send", "data": None, "answers": "m1", "name": "cart"},
        ),
    ],
)
async def test_a_command_is_written_with_an_id_and_what_it_reacts_to(command: Command, message: Any) -> None:
    agent, outcome = agent_doing(command)
    async with ScriptedCall(agent) as call:
        await call.user_says("now")
        given = await call.expect(message["type"])
        assert given == {"id": "c1", **message, "re": 2}
        assert await outcome == "done"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (lambda s: s.say("ä" * 2_049), "text must be at most 4096 bytes"),
        (lambda s: s.say("  "), "text must not be empty"),
        (lambda s: s.say(5), "text must be a string"),
        (lambda s: s.end(say="a" * 4_097), "say must be at most 4096 bytes"),
        (lambda s: s.end(reason="a" * 513), "reason must be at most 512 bytes"),
        (lambda s: s.transfer("15550100000"), r"destination must be \+ and 8 to 15 digits"),
        (lambda s: s.transfer("+1555010"), r"destination must be \+ and 8 to 15 digits"),
        (lambda s: s.transfer("+1555010000000000"), r"destination must be \+ and 8 to 15 digits"),
        (lambda s: s.transfer("+1555010000\n"), r"destination must be \+ and 8 to 15 digits"),
        (lambda s: s.transfer("+15550100000", mode="hot"), "mode must be cold or warm"),
        (lambda s: s.transfer("+15550100000", summary="ä" * 257), "summary must be at most 512 bytes"),
        (lambda s: s.transfer("+15550100000", reason="a" * 513), "reason must be at most 512 bytes"),
        (lambda s: s.transfer("+15550100000", command_id="ä" * 33), "command_id must be at most 64 bytes"),
        (lambda s: s.update_context(system_prompt="a" * 65_537), "system_prompt must be at most 65536 bytes"),
        (lambda s: s.update_context(system_prompt="a" * 65_536), "a message must be at most 65536 bytes"),
        (lambda s: s.update_context(append=[("user", "text")] * 33), "append must have at most 32 messages"),
        (lambda s: s.update_context(append=[("user", "")]), "context message must not be empty"),
        (lambda s: s.set_tools(["a"] * 129), "enabled must have at most 128 names"),
        (lambda s: s.say("\ud800"), "cannot be written as JSON"),
        (lambda s: s.send_to_client({1, 2}), "cannot be written as JSON"),
    ],
)
async def test_a_command_beyond_the_limits_is_refused_before_it_is_sent(command: Command, rule: str) -> None:
    agent, outcome = agent_doing(command)
    async with ScriptedCall(agent) as call:
        await call.user_says("now")
        with pytest.raises(AssertionError, match=rule):
            raise AssertionError(await outcome)
        assert (await outcome).startswith("invalid_message: ")
        assert [each["type"] for each in call.written] == ["session.accept"]


@pytest.mark.parametrize(
    "code", ["unsupported", "outcome_unknown", "queue_full", "dropped", "a_code_of_the_future"]
)
async def test_a_refused_command_raises_its_code(code: str) -> None:
    agent, outcome = agent_doing(lambda session: session.transfer("+15550100000"))
    async with ScriptedCall(agent) as call:
        call.refuse("transfer", code, "the reason")
        await call.user_says("now")
        assert await outcome == f"{code}: the reason"


async def test_a_transfer_whose_outcome_was_lost_is_repeated_by_its_id() -> None:
    async def insist(session: Session) -> None:
        with pytest.raises(CommandRefused, match="outcome_unknown"):
            await session.transfer("+15550100000", command_id="t")
        await asyncio.gather(
            session.transfer("+15550100000", command_id="t"),
            session.transfer("+15550100000", command_id="t"),
        )

    agent, outcome = agent_doing(insist)
    async with ScriptedCall(agent) as call:
        call.refuse("transfer", "outcome_unknown")
        await call.user_says("now")
        assert await outcome == "invalid_message: id: another command with it waits for its outcome"
        assert [each["id"] for each in call.written if each["type"] == "transfer"] == ["t", "t"]


async def test_commands_that_wait_when_the_call_ends_learn_it() -> None:
    agent, outcome = agent_doing(lambda session: session.say("Hello."))
    call = ScriptedCall(agent, answers_commands=False)
    async with call:
        await call.user_says("now")
        await call.expect_say()
        await call.hang_up()
        assert await outcome == "ended"


async def test_commands_after_the_end_are_refused() -> None:
    agent = Agent()
    seen: list[object] = []

    @agent.on_end
    async def over(session: Session, event: SessionEnd) -> None:
        seen.append((session.end_reason, event.reason))
        with pytest.raises(CallEnded):
            await session.say("too late")
        seen.append("refused")

    async with ScriptedCall(agent) as call:
        await call.hang_up("hangup")
    assert seen == [("hangup", "hangup"), "refused"]


async def test_the_65th_command_that_waits_is_refused() -> None:
    async def many(session: Session) -> None:
        tasks = [session.spawn(session.say(f"Line {index}.")) for index in range(64)]
        await asyncio.sleep(0)
        try:
            await session.say("One more.")
        finally:
            for task in tasks:
                task.cancel()

    agent, outcome = agent_doing(many)
    async with ScriptedCall(agent, answers_commands=False) as call:
        await call.user_says("now")
        assert (await outcome).startswith("too_many_commands: 64 commands wait")


def test_a_command_after_the_end_is_one_that_is_refused() -> None:
    assert issubclass(CallEnded, CommandRefused)
    assert CallEnded().code == "session_over"


# ---- events and handlers


async def test_handlers_run_in_the_order_of_events_and_of_their_declaration() -> None:
    agent = Agent()
    seen: list[str] = []

    @agent.on("user.transcript")
    async def slow(_session: Session, event: UserTranscript) -> None:
        await asyncio.sleep(0)
        seen.append(f"slow {event.text}")

    @agent.on("user.transcript")
    def plain(_session: Session, event: UserTranscript) -> None:
        seen.append(f"plain {event.text}")

    @agent.on("turn.interrupted")
    async def last(_session: Session, event: TurnInterrupted) -> None:
        seen.append(f"interrupted {event.epoch}")

    async with ScriptedCall(agent) as call:
        call.event("user.transcript", text="a", final=False)
        call.event("turn.interrupted", epoch=2)
        call.event("user.transcript", text="b", final=True)
    assert seen == ["slow a", "plain a", "interrupted 2", "slow b", "plain b"]


async def test_a_handler_that_throws_costs_nothing_but_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent()
    seen: list[str] = []

    @agent.on_user_text
    def broken(_session: Session, _text: str) -> None:
        raise RuntimeError("the agent's own fault")

    @agent.on_user_text
    async def cancelled(_session: Session, _text: str) -> None:
        raise asyncio.CancelledError

    agent.on_user_text(lambda _session, text: seen.append(text))
    async with ScriptedCall(agent) as call:
        await call.user_says("one")
        await call.user_says("two")
    assert seen == ["one", "two"]
    assert [each.message for each in caplog.records if each.levelno == logging.ERROR] == [
        "call scripted-call: a handler of user.text failed"
    ] * 2


async def test_problems_of_the_call_are_events() -> None:
    agent = Agent()
    seen: list[ServiceError] = []
    agent.on("error")(lambda _session, event: seen.append(event))
    async with ScriptedCall(agent) as call:
        call.event("error", stage="agent_link", message="tool_refused: a tool was left out", fatal=False)
    assert [(each.stage, each.fatal) for each in seen] == [("agent_link", False)]


async def test_work_beside_the_handlers_ends_with_the_call() -> None:
    agent = Agent()
    ended = asyncio.Event()

    @agent.on_user_text
    async def begin(session: Session, _text: str) -> None:
        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        session.spawn(work())
        await asyncio.sleep(0)
        await session.say("Begun.")

    async with ScriptedCall(agent) as call:
        await call.user_says("now")
        await call.expect_say()
    await asyncio.sleep(0)
    assert ended.is_set()


def test_an_event_that_does_not_exist_has_no_handler() -> None:
    untyped: Any = Agent()
    with pytest.raises(ValueError, match=r"there is no event 'turn\.nothing'"):
        untyped.on("turn.nothing")


# ---- a link that broke


async def test_a_session_knows_what_was_signed_and_apart_from_it_what_the_client_says() -> None:
    agent = Agent()
    sessions: list[Session] = []
    agent.on_start(lambda session, _opening: sessions.append(session))
    session = {"sid": "s", "agent": "acme", "meta": {"plan": "gold", "later": 5}}
    metadata = {"agent_route": "other"}
    async with ScriptedCall(
        agent, caller={"carrier": "sip"}, route="billing", session=session, metadata=metadata
    ):
        pass
    async with ScriptedCall(agent):
        pass
    known, unknown = sessions
    assert (known.route, known.signed, known.metadata) == (
        "billing",
        SignedSession("s", "acme", {"plan": "gold"}),
        {"agent_route": "other"},
    )
    assert known.caller is not None
    assert known.caller.carrier == "sip"
    assert (unknown.route, unknown.signed, unknown.metadata, unknown.caller) == (None, None, {}, None)


async def test_handlers_learn_that_the_call_goes_on_and_what_they_missed() -> None:
    agent = Agent()
    seen: list[int] = []

    @agent.on_resume
    def again(session: Session, event: SessionResume) -> None:
        assert session.end_reason is None
        seen.append(event.lost)

    async with ScriptedCall(agent) as call:
        assert call.accept["events"] == []
        for lost, last_seq in ((0, 1), (3, 1)):
            call.break_link()
            await call.resume(lost=lost)
            assert call.written[-1]["last_seq"] == last_seq
    assert seen == [0, 3]


async def test_messages_that_are_not_kept_any_more_count_as_lost() -> None:
    agent = Agent()
    seen: list[int] = []
    agent.on_resume(lambda _session, event: seen.append(event.lost))
    async with ScriptedCall(agent) as call:
        call.break_link()
        call.send("turn.interrupted", epoch=1)
        call.send("turn.interrupted", epoch=2)
        await call.resume(lost=1)
    assert seen == [3]


async def test_commands_given_without_a_link_are_sent_over_the_next() -> None:
    agent = Agent()
    sessions: list[Session] = []
    agent.on_start(lambda session, _opening: sessions.append(session))
    async with ScriptedCall(agent) as call:
        call.break_link()
        saying = asyncio.ensure_future(sessions[0].say("Still here."))
        await asyncio.sleep(0)
        await call.resume()
        assert await call.expect_say() == "Still here."
        await saying


async def test_a_service_that_does_not_read_loses_its_link(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent()

    @agent.tool
    async def echo(text: str) -> str:
        return text

    async with ScriptedCall(agent) as call:
        call.stop_reading()
        while "does not read" not in caplog.text:
            call.start_tool("echo", {"text": "a"})
            await asyncio.sleep(0)
        await call.resume()
        assert (await call.call_tool("echo", text="b")).result == "b"


# ---- slow handlers


def text(seq: int) -> Event:
    return BotText(seq=seq, t_ms=0, epoch=1, text="delta")


def interrupted(seq: int) -> Event:
    return TurnInterrupted(seq=seq, t_ms=0, epoch=1)


async def popped(queue: EventQueue, count: int) -> list[tuple[str, int]]:
    events = [await queue.pop() for _ in range(count)]
    return [(each.type, each.count if isinstance(each, EventsLost) else each.seq) for each in events]


async def test_deltas_are_left_out_first_and_counted() -> None:
    queue = EventQueue(most_waiting=2)
    for event in (interrupted(1), text(2), text(3), interrupted(4)):
        queue.push(event)
    assert await popped(queue, 3) == [("events.lost", 2), ("turn.interrupted", 1), ("turn.interrupted", 4)]


async def test_a_delta_never_takes_the_place_of_another_event() -> None:
    queue = EventQueue(most_waiting=2)
    for event in (interrupted(1), interrupted(2), text(3)):
        queue.push(event)
    assert await popped(queue, 3) == [("events.lost", 1), ("turn.interrupted", 1), ("turn.interrupted", 2)]


async def test_interim_transcripts_are_left_out_like_deltas_and_final_ones_are_not() -> None:
    queue = EventQueue(most_waiting=2)
    for seq, final in ((1, True), (2, False), (3, True)):
        queue.push(UserTranscript(seq=seq, t_ms=0, text="a", final=final))
    assert await popped(queue, 3) == [("events.lost", 1), ("user.transcript", 1), ("user.transcript", 3)]


async def test_the_oldest_event_is_left_out_when_there_are_no_deltas() -> None:
    queue = EventQueue(most_waiting=2)
    for seq in (1, 2, 3):
        queue.push(interrupted(seq))
    assert await popped(queue, 3) == [("events.lost", 1), ("turn.interrupted", 2), ("turn.interrupted", 3)]


async def test_the_end_of_the_call_is_never_left_out() -> None:
    queue = EventQueue(most_waiting=1)
    queue.push(interrupted(1))
    queue.push(SessionEnd(seq=2, t_ms=0, reason="hangup"))
    assert await popped(queue, 2) == [("turn.interrupted", 1), ("session.end", 2)]
