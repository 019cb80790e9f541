"""Rehearses the agent without a service, a model or a network: python -m unittest."""

import unittest

from agent import agent
from voice_agent.testing import ScriptedCall


class Calls(unittest.IsolatedAsyncioTestCase):
    async def test_looks_up_orders(self) -> None:
        async with ScriptedCall(agent) as call:
            self.assertEqual((await call.call_tool("order_status", order_number="427")).result, "ready")
            self.assertEqual((await call.call_tool("order_status", order_number="1")).result, "still in the oven")

    async def test_ends_the_call_after_a_goodbye(self) -> None:
        async with ScriptedCall(agent) as call:
            await call.user_says("Thank you, goodbye!")
            self.assertEqual(await call.expect_end(), "Goodbye, see you soon!")


if __name__ == "__main__":
    unittest.main()
