"""How tools reach a model and calls come back: as native function calls, or as blocks of text.

The text form is for servers without a parser for tools. A call is a fenced block:

    ```tool
    {"name": "check", "arguments": {"part": "deck"}}
    ```

A reply may hold several; they run in order. A block that isn't such an object becomes a call with an
error, which goes back to the model; nothing is repaired.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from evalkit.models._arguments import CUT_OFF, strict_json
from evalkit.models._types import Message, ModelReply, ModelRequest, ModelToolCall, ToolSchema

FENCE = "```"
OPENING = "```tool"


class Codec(Protocol):
    """A way to put tools to a model; `name` goes into the record."""

    @property
    def name(self) -> str: ...

    def request(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> ModelRequest:
        """The request for a conversation in which these tools can be called.

        The results of a turn are one message of the role `tool` in the conversation, whatever the codec
        sends.
        """
        ...

    def calls(self, reply: ModelReply) -> tuple[ModelToolCall, ...]:
        """The calls in a reply, in order."""
        ...


class NativeCodec:
    """Function calls of the provider's own; `strict` asks for OpenAI's strict form of schemas."""

    name = "native"

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict

    def request(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> ModelRequest:
        """The request with the tools beside the messages."""
        return ModelRequest(tuple(messages), tuple(tools), strict_tools=self.strict)

    def calls(self, reply: ModelReply) -> tuple[ModelToolCall, ...]:
        """The reply's function calls."""
        return reply.tool_calls


class TextCodec:
    """Blocks of text, explained in the system message."""

    name = "text"

    def request(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> ModelRequest:
        """The request with the tools described in the first system message, or in one of their own.

        Results of tools become text.
        """
        explained = format_tools(tools)
        messages = [_told(message) for message in messages]
        if messages and messages[0].role == "system":
            first = Message("system", f"{messages[0].text}\n\n{explained}", messages[0].images)
            return ModelRequest((first, *messages[1:]))
        return ModelRequest((Message("system", explained), *messages))

    def calls(self, reply: ModelReply) -> tuple[ModelToolCall, ...]:
        """The blocks in the reply's text."""
        return parse_blocks(reply.text, cut_off=reply.finish_reason == "length")


def _told(message: Message) -> Message:
    """The results of a turn as a user message: each under its tool's name, their pictures behind them."""
    from evalkit.models._chat import TOOL_IMAGES_SENTENCE

    results = message.tool_results
    if not results:
        return message
    texts = [
        f"Result of {result.name or 'the call'} ({result.call_id}):\n{result.text}" for result in results
    ]
    images = tuple(image for result in results for image in result.images)
    if images:
        texts.append(TOOL_IMAGES_SENTENCE)
    return Message("user", "\n\n".join(texts), images)


def format_tools(tools: Iterable[ToolSchema]) -> str:
    """The tools, and how to call them, as text for a prompt."""
    lines = [
        "You can call tools. To call one, write a block like this, the arguments as one JSON object:",
        "",
        OPENING,
        '{"name": "NAME", "arguments": {}}',
        FENCE,
        "",
        "Several blocks in one reply run in order. The tools:",
    ]
    for tool in tools:
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        lines += ["", f"{tool.name}: {tool.description}", f"Arguments (JSON Schema): {schema}"]
    return "\n".join(lines)


def parse_blocks(text: str, *, cut_off: bool = False) -> tuple[ModelToolCall, ...]:
    """The calls in a reply's text, in order; `cut_off` says that the reply ended at its limit."""
    found: list[ModelToolCall] = []
    block: list[str] | None = None
    for line in text.splitlines():
        mark = line.strip()
        if block is None:
            if mark == OPENING:
                block = []
        elif mark == FENCE:
            found.append(_call(len(found) + 1, "\n".join(block)))
            block = None
        else:
            block.append(line)
    if block is not None:
        problem = f"the block has no closing {FENCE}{CUT_OFF if cut_off else ''}"
        found.append(ModelToolCall(f"block-{len(found) + 1}", "", None, "\n".join(block), problem))
    return tuple(found)


def _call(number: int, raw: str) -> ModelToolCall:
    def wrong(problem: str, name: str = "") -> ModelToolCall:
        return ModelToolCall(f"block-{number}", name, None, raw, problem)

    try:
        value = strict_json(raw)
    except ValueError as error:
        return wrong(f"the block is not valid JSON: {error}")
    except RecursionError:
        return wrong("the block is nested too deeply")
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return wrong('the block is not an object {"name": …, "arguments": {…}}')
    name, arguments = value["name"], value.get("arguments", {})
    if extra := sorted(value.keys() - {"name", "arguments"}):
        return wrong(f"the block has other keys than name and arguments: {', '.join(extra)}", name)
    if not isinstance(arguments, dict):
        return wrong("the arguments are not a JSON object", name)
    return ModelToolCall(f"block-{number}", name, arguments, raw)
