"""``agents_sdk_decentralized``: the debate, with every peer's turn a run of the OpenAI Agents SDK.

The SDK has no debate of its own, so rounds, texts and vote are those of ``decentralized``; what a
peer does within its turn (asking, running tools, keeping its history) is the SDK's. Its tracing is
off, and it has no client of its own: the only model that it knows asks ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from lcbgrid.models.types import ChatReply, Message
from lcbgrid.teams.agent import Agent, Turn
from lcbgrid.teams.decentralized import DecentralizedTeam
from lcbgrid.teams.frameworks.seat import Seat, need, only_freeform, wire_id
from lcbgrid.teams.interface import TeamPlan, register
from lcbgrid.teams.work import Meter, Work

if TYPE_CHECKING:
    from agents import FunctionTool, Model, ModelResponse


class SdkAgent(Agent):
    """One role whose turn is a run of the SDK."""

    def __init__(self, plan: TeamPlan) -> None:
        spec = plan.spec
        super().__init__(
            spec.roles[0],
            max_model_calls=spec.max_model_calls,
            max_tool_calls=spec.max_tool_calls,
        )
        self._spec = spec

    async def turn(
        self,
        work: Work,
        name: str,
        history: list[Message],
        *,
        meter: Meter,
        first_step: int = 0,
    ) -> Turn:
        """Let the SDK run the agent on a history; arguments as for ``Agent.turn``.

        Raises:
            ModelCallError: The model cannot be asked.
        """
        from agents import Agent as SdkRole
        from agents import RunConfig, Runner, ToolExecutionConfig, set_tracing_disabled

        set_tracing_disabled(True)
        seat = Seat.of(self._spec, work, name, self.role, meter, first_step)
        seat.private = True
        role = SdkRole(
            name=name,
            instructions=history[0]["content"],
            tools=[_tool(seat, tool) for tool in self.role.tools],
            model=_model(seat),
        )
        given = [item for message in history[1:] for item in to_items(message)]
        try:
            result = await Runner.run(
                role,
                given,
                max_turns=seat.limit,
                run_config=RunConfig(
                    tracing_disabled=True,
                    tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1),
                ),
            )
        except Exception as error:
            raise (seat.failure or error) from None
        if seat.failure is not None:
            raise seat.failure
        kept = to_messages(result.to_input_list())
        return seat.turn(kept[len(to_messages(given)) :])


class AgentsSdkTeam(DecentralizedTeam):
    """Copies of one role in a debate, each run by the SDK."""

    def __init__(self, plan: TeamPlan) -> None:
        only_freeform(plan)
        need("agents", "openai-agents", "'lcbgrid[agents-sdk]'")
        super().__init__(plan)
        self._agent = SdkAgent(plan)


def to_items(message: Message) -> list[dict[str, Any]]:
    """Return a message of the chat form as the SDK's input items."""
    if message["role"] == "tool":
        output = {"call_id": message["tool_call_id"], "output": message["content"]}
        return [{"type": "function_call_output", **output}]
    items = []
    if message["content"] or not message.get("tool_calls"):
        items.append({"role": message["role"], "content": message["content"] or ""})
    items += [
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls", ())
    ]
    return items


def to_messages(items: Sequence[Any]) -> list[Message]:
    """Return the SDK's input items in the chat form; ids stay as ``Seat.ask`` gave them."""
    messages: list[Message] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        elif kind == "function_call_output":
            answer = {"tool_call_id": item["call_id"], "content": item["output"]}
            messages.append({"role": "tool", **answer})
        else:
            messages.append({"role": item["role"], "content": _text(item["content"])})
    return messages


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _for_server(message: Message) -> Message:
    """Return a message with the ids that the server gave."""
    if message["role"] == "tool":
        return {**message, "tool_call_id": wire_id(message["tool_call_id"])}
    if "tool_calls" not in message:
        return message
    calls = [{**call, "id": wire_id(call["id"])} for call in message["tool_calls"]]
    return {**message, "tool_calls": calls}


def _model(seat: Seat) -> Model:
    from agents import Model

    class SeatModel(Model):
        """The SDK's model: it asks through the seat."""

        async def get_response(
            self, system_instructions: str | None, input: Any, *rest: Any, **more: Any
        ) -> ModelResponse:
            history: list[Message] = [{"role": "system", "content": system_instructions or ""}]
            history += [_for_server(message) for message in to_messages(input)]
            return _response(await seat.ask(history))

        def stream_response(self, *given: Any, **more: Any) -> AsyncIterator[Any]:
            message = "runs are not streamed"
            raise NotImplementedError(message)

    return SeatModel()


def _response(reply: ChatReply) -> ModelResponse:
    from agents import ModelResponse, Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    output: list[Any] = []
    if reply.text or not reply.tool_calls:
        text = ResponseOutputText(text=reply.text or "", type="output_text", annotations=[])
        output.append(
            ResponseOutputMessage(
                id="message", content=[text], role="assistant", status="completed", type="message"
            )
        )
    for call in reply.tool_calls:
        output.append(
            ResponseFunctionToolCall(
                call_id=call.id, name=call.name, arguments=call.arguments, type="function_call"
            )
        )
    used = reply.usage
    usage = Usage(
        requests=1,
        input_tokens=used.prompt_tokens,
        output_tokens=used.completion_tokens,
        total_tokens=used.total_tokens,
    )
    return ModelResponse(output=output, usage=usage, response_id=None)


def _tool(seat: Seat, name: str) -> FunctionTool:
    from agents import FunctionTool

    async def invoke(context: Any, arguments: str) -> str:
        return await seat.run(context.tool_call_id)

    schema = seat.work.context.tools.schemas((name,))[0]["function"]
    return FunctionTool(
        name=name,
        description=schema.get("description", ""),
        params_json_schema=dict(schema.get("parameters", {"type": "object", "properties": {}})),
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


register("agents_sdk_decentralized")(AgentsSdkTeam)
