"""Reads a dashboard of Grafana, as JSON on stdin, into the types of Grafana's own SDK and writes it again. Writes the paths of what was lost or changed."""

import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(before, after, path):
    """Where two values differ, but for what the SDK adds by itself."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [line for key, value in before.items() for line in lost(value, after.get(key), f"{path}.{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [line for at, value in enumerate(before) for line in lost(value, after[at], f"{path}[{at}]")]
    return [] if before == after else [path]


register_default_plugins()
given = json.load(sys.stdin)
read = json.loads(JSONEncoder().encode(Dashboard.from_json(given)))
json.dump(lost(given, read, "dashboard"), sys.stdout)
