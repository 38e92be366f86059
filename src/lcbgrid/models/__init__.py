"""Language models: one client over several providers, and the transcript that is log and cache."""

from lcbgrid.models.client import ModelClient
from lcbgrid.models.failures import ModelCallError
from lcbgrid.models.transcript import Transcript
from lcbgrid.models.types import CallId, ChatReply, ChatRequest, Message, ToolCall, Usage

__all__ = [
    "CallId",
    "ChatReply",
    "ChatRequest",
    "Message",
    "ModelCallError",
    "ModelClient",
    "ToolCall",
    "Transcript",
    "Usage",
]
