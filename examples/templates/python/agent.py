"""The agent: its prompt, its tools, and what it does during calls. The service hears and speaks."""

from voice_agent import Agent, Session

agent = Agent(
    system_prompt="You answer the phone of a bakery. Answer in one or two short sentences, without markup.",
    greeting="Hello, this is the bakery. What can I do for you?",
)


@agent.tool
async def order_status(order_number: str) -> str:
    """Where an order is, by its number, digits only."""
    return "ready" if order_number == "427" else "still in the oven"


@agent.on_user_text
async def listen(session: Session, text: str) -> None:
    if "goodbye" in text.lower():
        await session.end(say="Goodbye, see you soon!")


if __name__ == "__main__":
    agent.run()
