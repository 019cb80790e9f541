"""The agent of `sdk/conformance`: it does what the README there says, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import signal

from voice_agent import (
    Agent,
    CommandRefused,
    Opening,
    RejectCall,
    Session,
    ToolCall,
    ToolError,
    TurnInterrupted,
)

agent = Agent(
    name="conformance",
    system_prompt="You are the conformance agent.",
    greeting="Conformance.",
    context=[("system", "Be exact.")],
)


@agent.on_start
async def begin(session: Session, opening: Opening) -> None:
    session.data.update(log=[], release=asyncio.Event())
    match session.path:
        case "/reject":
            raise RejectCall("closed", "we are closed")
        case "/broken":
            raise RuntimeError("the agent's own fault")
        case "/tenant":
            opening.greeting = f"Hello {session.query['name']}."
            opening.tools = [agent.tools["echo"]]


@agent.on_user_text
async def obey(session: Session, text: str) -> None:
    try:
        await _obey(session, text)
    except CommandRefused as refused:
        await session.say(f"refused {refused.code}")


async def _obey(session: Session, text: str) -> None:
    order, _, rest = text.partition(" ")
    match order:
        case "say":
            await session.say(rest)
        case "interrupt":
            await session.say(rest, interrupt=True)
        case "end":
            await session.end(say="Bye.", reason="asked")
        case "transfer":
            await session.transfer("+15550100000", summary="a summary", reason="a reason")
        case "context":
            await session.update_context(system_prompt="New prompt.", append=[("user", "Remember this.")])
        case "tools":
            await session.set_tools(["echo"])
        case "all":
            await session.set_tools(None)
        case "long":
            await session.say("a" * 4097)
        case "throw":
            raise RuntimeError("the agent's own fault")
        case "wait":
            await asyncio.Event().wait()


@agent.on("turn.interrupted")
async def interrupted(session: Session, event: TurnInterrupted) -> None:
    await session.say(f"interrupted {event.epoch}")


@agent.tool
async def echo(text: str) -> str:
    """Returns the text."""
    return text


@agent.tool
async def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}


@agent.tool
async def fail() -> None:
    """Fails."""
    raise RuntimeError("the agent's own fault")


@agent.tool
async def sorry() -> None:
    """Finds nothing."""
    raise ToolError("no such order")


@agent.tool
async def slow(session: Session) -> None:
    """Takes for ever."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        session.data["log"].append("slow cancelled")
        raise


@agent.tool(kind="side_effect", confirm=True, repeatable=True, timeout_ms=20_000, filler_after_ms=0)
async def hold(call: ToolCall) -> str:
    """Waits for `release`."""

    async def told() -> None:
        await call.cancellation.wait()
        call.session.data["log"].append(f"hold told {call.cancelled}")

    call.session.spawn(told())
    await call.session.data["release"].wait()
    return "held"


@agent.tool
async def release(session: Session) -> bool:
    """Lets every `hold` go on."""
    session.data["release"].set()
    return True


@agent.tool
async def log(session: Session) -> list[str]:
    """What happened since the log was read last."""
    lines: list[str] = session.data["log"]
    session.data["log"] = []
    return lines


@agent.tool
async def large() -> str:
    """More than a message can hold."""
    return "a" * 70_000


async def main() -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    port = int(os.environ.get("VOICE_AGENT_PORT", "0"))
    server = agent.listen(port=port, token=os.environ["SVC_AGENT_TOKEN"], grace_ms=0)
    async with server:
        print(f"listening on {server.port}", flush=True)  # noqa: T201
        await stopped.wait()


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(main())
