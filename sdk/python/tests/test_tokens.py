"""Session tokens: the same texts, and the same refusals, as the service's own helper makes (`token-vectors.json`)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from voice_agent import mint_session_token

SECRET = "current-secret-of-at-least-32-bytes!"
VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "token-vectors.json").read_text())


def payload_of(token: str) -> dict[str, Any]:
    text = token.split(".")[1]
    payload: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return payload


@pytest.mark.parametrize("vector", VECTORS, ids=[each["name"] for each in VECTORS])
def test_the_service_makes_the_same(vector: dict[str, Any]) -> None:
    if "token" in vector:
        assert mint_session_token(secret=vector["secret"], **vector["arguments"]) == vector["token"]
    else:
        with pytest.raises(ValueError, match=r"must (be|have)") as refused:
            mint_session_token(secret=vector["secret"], **vector["arguments"])
        assert str(refused.value) == vector["error"]


def test_defaults_are_a_new_call_for_a_minute_from_now() -> None:
    one, other = (payload_of(mint_session_token(secret=SECRET, audience="svc-ws")) for _ in range(2))
    assert one["aud"] == "svc-ws"
    assert one["sid"] != other["sid"]
    assert isinstance(one["exp"], int)
    assert set(one) == {"aud", "exp", "sid"}


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"audience": "svc"}, "aud must be one of"),
        ({"ttl_s": True}, "the TTL must be whole seconds"),
        ({"now_s": 2**60}, "now must be whole seconds"),
        ({"agent": 5}, "agent must be a string"),
        ({"meta": {"a": None}}, "values of meta"),
        ({"meta": {"a": float("nan")}}, "values of meta"),
        ({"meta": {"a": float("inf")}}, "values of meta"),
        ({"meta": {5: "a"}}, "keys of meta"),
        ({"session_id": "\ud800"}, "sid must be text"),
        ({"not_before_s": 1.5}, "nbf must be an integer"),
    ],
)
def test_what_only_python_can_get_wrong_is_refused_too(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        mint_session_token(**{"secret": SECRET, "audience": "svc-ws", **arguments})


def test_no_error_holds_the_secret() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes") as refused:
        mint_session_token(secret="a-short-secret", audience="svc-ws")
    assert "a-short-secret" not in str(refused.value)
