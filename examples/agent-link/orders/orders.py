"""The order line of a pizzeria: the agent takes an order, repeats it, and places it in a database once the caller agrees.

The rules of the shop are code and not prompt: prices come from the menu, an order is placed once whatever happens to the
link, and nothing is placed that the caller did not confirm.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Annotated, Any

from voice_agent import Agent, Opening, Session, ToolCall, ToolError

MENU_CENTS = {"pizza": 1_050, "lasagna": 1_150, "salad": 750, "tiramisu": 600, "water": 250}
MOST_OF_ONE_KIND = 20

agent = Agent(
    name="orders",
    system_prompt=(
        "You take orders on the phone of Pizzeria Aurora. Use the tools for everything about menu, order and prices. "
        "When the caller wants nothing more, repeat the order with its total, ask for a name, and place it. "
        "Speak in short sentences and say prices in words."
    ),
    greeting="Pizzeria Aurora, what would you like to order?",
)


def connect() -> sqlite3.Connection:
    """The database of `ORDERS_DB`; made when it is not there."""
    database = sqlite3.connect(os.environ.get("ORDERS_DB", "orders.sqlite3"))
    database.execute(
        "CREATE TABLE IF NOT EXISTS orders"
        " (number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, name TEXT NOT NULL,"
        " items TEXT NOT NULL, total_cents INTEGER NOT NULL)"
    )
    return database


def price(cents: int) -> str:
    """As the caller hears it."""
    return f"{cents // 100}.{cents % 100:02} euros"


def summary(basket: dict[str, int]) -> str:
    """What is ordered, in words."""
    return ", ".join(f"{count} {item}" for item, count in basket.items()) or "nothing"


def total_cents(basket: dict[str, int]) -> int:
    """What it costs."""
    return sum(MENU_CENTS[item] * count for item, count in basket.items())


@agent.on_start
def begin(session: Session, _opening: Opening) -> None:
    session.data["basket"] = {}


@agent.tool
async def menu() -> str:
    """What there is, with prices."""
    return "There is " + ", ".join(f"{item} for {price(cents)}" for item, cents in MENU_CENTS.items()) + "."


@agent.tool(kind="side_effect", repeatable=True)
async def change_order(
    session: Session,
    item: Annotated[str, "An item of the menu."],
    count: Annotated[int, "How many of it the caller wants in all; 0 takes it off."],
) -> str:
    """Sets how many of an item are in the order, and says what the order is now."""
    if item not in MENU_CENTS:
        raise ToolError(f"not on the menu; there is {', '.join(MENU_CENTS)}")
    if not 0 <= count <= MOST_OF_ONE_KIND:
        raise ToolError(f"at most {MOST_OF_ONE_KIND} of one kind")
    basket: dict[str, int] = session.data["basket"]
    basket.pop(item, None)
    if count > 0:
        basket[item] = count
    return f"The order is now: {summary(basket)}."


@agent.tool
async def repeat_order(session: Session) -> str:
    """The order so far and its total, to be repeated to the caller."""
    basket = session.data["basket"]
    return f"That is {summary(basket)}, for {price(total_cents(basket))}."


@agent.tool(kind="side_effect", confirm=True, timeout_ms=10_000)
def place_order(call: ToolCall, name: Annotated[str, "The caller's name."]) -> dict[str, Any]:
    """Places the order. Repeat it before."""
    basket: dict[str, int] = call.session.data["basket"]
    if not basket:
        raise ToolError("nothing is ordered yet")
    key = f"{call.session.id}/{call.idempotency_key}"
    with closing(connect()) as database, database:
        # The same call again, after a lost answer, finds its order instead of placing another.
        database.execute(
            "INSERT INTO orders (number, key, name, items, total_cents)"
            # Three digits are said and heard more safely than one.
            " VALUES ((SELECT COALESCE(MAX(number), 100) + 1 FROM orders), ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (key, name, summary(basket), total_cents(basket)),
        )
        number, items, cents = database.execute(
            "SELECT number, items, total_cents FROM orders WHERE key = ?", (key,)
        ).fetchone()
    return {
        "summary": f"Your order has the number {number}: {items}, for {price(cents)}. It is ready in 25 minutes.",
        "number": number,
    }


@agent.tool
def order_status(number: int) -> str:
    """Whose order a number is, and what is in it."""
    with closing(connect()) as database:
        found = database.execute("SELECT name, items FROM orders WHERE number = ?", (number,)).fetchone()
    if found is None:
        raise ToolError("there is no order of this number")
    return f"For {found[0]}: {found[1]}. It is in the oven."


if __name__ == "__main__":
    agent.run()
