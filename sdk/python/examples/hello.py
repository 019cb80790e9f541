"""The smallest agent that is useful."""

from voice_agent import Agent, Session

agent = Agent(
    system_prompt="You answer the phone of a bakery. Be brief and friendly.",
    greeting="Hello, this is the bakery. What can I do for you?",
)


@agent.tool
async def opening_hours(day: str) -> str:
    """When the bakery is open on a day of the week."""
    return "closed" if day.lower() == "sunday" else "from seven to six"


@agent.on_user_text
async def listen(session: Session, text: str) -> None:
    if "goodbye" in text.lower():
        await session.end(say="Goodbye, see you soon!")


if __name__ == "__main__":
    agent.run()
