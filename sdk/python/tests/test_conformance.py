"""The scenarios that every SDK runs, over real sockets."""

from collections.abc import Mapping
from typing import Any

import pytest
from conformance_agent import agent
from conformance_driver import SCENARIOS, TOKEN, Driver


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[f"{each['row']}: {each['name']}" for each in SCENARIOS])
async def test_the_agent(scenario: Mapping[str, Any]) -> None:
    async with agent.listen(port=0, token=TOKEN, grace_ms=0) as server:
        await Driver(server.port, scenario, "a-call").run()


def test_every_scenario_has_its_own_name() -> None:
    names = [each["name"] for each in SCENARIOS]
    assert len(set(names)) == len(names)
