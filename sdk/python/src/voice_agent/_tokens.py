"""Session tokens: a token lets one client open one call (docs/tokens.md, Form).

Your backend mints them with the secret that it shares with the service (`SVC_SESSION_SECRET`), and gives each to the
browser or app that calls. What is minted here, the service accepts; what it would refuse raises `ValueError`, which names
the field and the rule and never a value.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unicodedata
import uuid
from collections.abc import Mapping
from typing import Any, Final, Literal

Audience = Literal["svc-ws", "svc-rtvi", "svc-webrtc"]

TOKEN_BYTES: Final = 4_096
SECRET_BYTES: Final = 32
LIFETIME_S: Final = 86_400
CALL_S: Final = 86_400
SID_BYTES: Final = 128
META_ENTRIES: Final = 16
META_KEY_BYTES: Final = 64
META_VALUE_BYTES: Final = 256

_AUDIENCES = ("svc-ws", "svc-rtvi", "svc-webrtc")
_LEAST_MILLISECONDS = 10**11
"""Unix seconds reach this in the year 5138, milliseconds passed it in 1973."""
_MOST_SAFE = 2**53 - 1


def mint_session_token(
    *,
    secret: str,
    audience: Audience,
    session_id: str | None = None,
    ttl_s: int = 60,
    agent: str | None = None,
    max_call_s: int | None = None,
    meta: Mapping[str, str | int | float | bool] | None = None,
    not_before_s: int | None = None,
    now_s: int | None = None,
) -> str:
    """A signed session token for one call.

    Args:
        secret: the service's `SVC_SESSION_SECRET`, at least 32 bytes.
        audience: the listener that the call goes to.
        session_id: 1 to 128 bytes; a new random one by default. Never use one twice.
        ttl_s: whole seconds until the token expires, 30 to 120 are usual; it has to last until the call begins.
        agent: reaches the call as `session.agent`.
        max_call_s: longest call in seconds, 1 to 86400.
        meta: up to 16 strings, numbers or booleans that reach the call as `session.meta.<key>`.
        not_before_s: Unix seconds before which the token is refused.
        now_s: Unix seconds; the clock by default.
    """
    _require(isinstance(secret, str) and _bytes(secret, "the secret") >= SECRET_BYTES,
             f"the secret must have at least {SECRET_BYTES} bytes")  # fmt: skip
    now = int(time.time()) if now_s is None else now_s
    _require(_is_whole(now) and now >= 0, "now must be whole seconds since 1970")
    _require(now < _LEAST_MILLISECONDS, "now must be in seconds, and looks like milliseconds")
    _require(
        _is_whole(ttl_s) and 1 <= ttl_s <= LIFETIME_S, f"the TTL must be whole seconds from 1 to {LIFETIME_S}"
    )
    claims = {
        "aud": audience,
        "exp": now + ttl_s,
        "nbf": not_before_s,
        "sid": str(uuid.uuid4()) if session_id is None else session_id,
        "agent": agent,
        "max_s": max_call_s,
        "meta": None if meta is None else dict(meta),
    }
    payload = _payload({name: value for name, value in claims.items() if value is not None})
    signature = hmac.digest(secret.encode(), payload, hashlib.sha256)
    token = f"v1.{_base64url(payload)}.{_base64url(signature)}"
    _require(len(token) <= TOKEN_BYTES, f"the token must have at most {TOKEN_BYTES} bytes")
    return token


def _payload(claims: dict[str, Any]) -> bytes:
    _require(claims["aud"] in _AUDIENCES, f"aud must be one of {', '.join(_AUDIENCES)}")
    for name in ("nbf", "max_s"):
        _require(
            _is_whole(claims.get(name, 0)), f"{name} must be an integer, written without point and exponent"
        )
    _require(claims.get("nbf", 0) < claims["exp"], "nbf must be before exp")
    sid = claims["sid"]
    _require(
        isinstance(sid, str)
        and 1 <= _bytes(sid, "sid") <= SID_BYTES
        and not any(unicodedata.category(each) == "Cc" for each in sid),
        f"sid must have 1 to {SID_BYTES} bytes and no control characters",
    )
    agent = claims.get("agent", "")
    _require(isinstance(agent, str) and _bytes(agent, "agent") >= 0, "agent must be a string")
    _require(1 <= claims.get("max_s", 1) <= CALL_S, f"max_s must be from 1 to {CALL_S}")
    _check_meta(claims.get("meta", {}))
    return json.dumps(claims, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _check_meta(meta: dict[Any, Any]) -> None:
    _require(len(meta) <= META_ENTRIES, f"meta must have at most {META_ENTRIES} entries")
    for key, value in meta.items():
        _require(isinstance(key, str), "keys of meta must be strings")
        _require(
            _bytes(key, "meta") <= META_KEY_BYTES, f"keys of meta must have at most {META_KEY_BYTES} bytes"
        )
        is_scalar = isinstance(value, str | int | float | bool) and value == value and value not in _INFINITE
        _require(is_scalar, "values of meta must be strings, numbers or booleans")
        text = value if isinstance(value, str) else json.dumps(value)
        fits = _bytes(text, "meta") <= META_VALUE_BYTES
        _require(fits, f"values of meta must have at most {META_VALUE_BYTES} bytes")


_INFINITE = (float("inf"), float("-inf"))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_SAFE


def _bytes(text: str, name: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must be text without halves of surrogate pairs") from error


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
