"""Write the logic of a voice agent in Python: tools, lines and events of live calls, over one WebSocket per call."""

from .agent import Agent
from .errors import CallEnded, CommandRefused, LinkError, RejectCall, ToolError
from .events import (
    BotLlmStarted,
    BotLlmStopped,
    BotText,
    BotTtsStopped,
    BotTtsText,
    Event,
    EventsLost,
    Metrics,
    ServiceError,
    SessionEnd,
    SessionResume,
    TurnBotEnded,
    TurnBotStarted,
    TurnInterrupted,
    TurnMetrics,
    TurnUserEnded,
    TurnUserStarted,
    UserText,
    UserTranscript,
)
from .server import AgentServer
from .session import Caller, Capabilities, ContextMessage, Opening, Session
from .tools import Tool, ToolCall

__all__ = [
    "Agent",
    "AgentServer",
    "BotLlmStarted",
    "BotLlmStopped",
    "BotText",
    "BotTtsStopped",
    "BotTtsText",
    "CallEnded",
    "Caller",
    "Capabilities",
    "CommandRefused",
    "ContextMessage",
    "Event",
    "EventsLost",
    "LinkError",
    "Metrics",
    "Opening",
    "RejectCall",
    "ServiceError",
    "Session",
    "SessionEnd",
    "SessionResume",
    "Tool",
    "ToolCall",
    "ToolError",
    "TurnBotEnded",
    "TurnBotStarted",
    "TurnInterrupted",
    "TurnMetrics",
    "TurnUserEnded",
    "TurnUserStarted",
    "UserText",
    "UserTranscript",
]
