"""Agents that ask a model: `chat`, `tools` and `text-tools`, each as `NAME:MODEL`.

`chat` is for environments with one tool that takes one text (a whole answer): every observation becomes a
user message, every reply is the answer. `tools` offers the environment's tools as native function calls,
`text-tools` as blocks of text, for servers that can't parse calls.

What a model sees of an observation, in this order: the `prompt` as the system message; the text; every
other field of the data under its name, as JSON; the pictures in the order of the environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalkit.episode import LimitReached
from evalkit.errors import UsageError
from evalkit.types import EpisodeKey, Image, Observation, Reply, StepContext, Stop, Tool, ToolCall

if TYPE_CHECKING:
    from evalkit.models import (
        Codec,
        Message,
        ModelReply,
        ModelRequest,
        ModelSession,
        ModelToolCall,
        ToolResult,
    )

NUDGE = "Your reply held no tool call. Call a tool to go on."
_TOKENS = ("input_tokens", "output_tokens", "reused_input_tokens", "reused_output_tokens")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """How a conversation about tools is held; manifests keep it.

    Results of tools are cut to `result_characters`, all but the `newest_results` of them to
    `old_result_characters`; of their pictures only the `newest_pictures` are shown (some providers take 100
    in a request). A reply without a call is answered by a reminder, at most `nudges` times in a row. What a
    reply calls behind a call of the tool `hand_in` isn't carried out. Before each call of that tool the model
    has `steps` replies.
    """

    result_characters: int = 20_000
    newest_results: int = 10
    old_result_characters: int = 200
    newest_pictures: int = 80
    nudges: int = 3
    hand_in: str | None = None
    steps: int | None = None


class _NoAnswer(Exception):  # noqa: N818 - it ends the episode as the model's result, not as an error
    """A refusal by a content filter, or a conversation longer than the model's context."""


class ModelAgent:
    """What the agents share: the session, the conversation, the accounts."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is the model; UsageError if it is missing."""
        if not argument:
            raise UsageError("this agent needs a model: -m MODEL")
        self._messages: list[Message] = []
        self._tools: tuple[Tool, ...] = ()
        self._turn = 0
        self._left: Mapping[str, float] = {}
        self._before: Mapping[str, float] = {}
        self.fatal = False
        self._session: ModelSession
        self._key: EpisodeKey

    def connect(self, session: ModelSession, key: EpisodeKey) -> None:
        """Take the session that calls go through; the core does this before the episode."""
        self._session, self._key = session, key
        self._prices = session.client.describe().get("prices")

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new conversation."""
        self._messages, self._tools, self._turn = [], tuple(tools), 0

    def spent(self) -> Mapping[str, float]:
        """Model calls, HTTP attempts and tokens since the start, and their cost where prices are known.

        `tokens` are all that the model read and wrote, also in replies from the cache, so that the same limit
        ends an episode at the same place; only the others cost anything.
        """
        from evalkit.models import Usage, cost

        counters = self._session.counters
        found: dict[str, float] = {**counters, "tokens": sum(counters[name] for name in _TOKENS)}
        usage = Usage(counters["input_tokens"], counters["output_tokens"], counters["cached_tokens"])
        dollars = cost(usage, self._prices)
        return found if dollars is None else {**found, "cost": dollars}

    def _begin(self, ctx: StepContext) -> None:
        """Take note of what the episode's budget leaves for this turn."""
        self._left, self._before = ctx.budget_left, self.spent()
        self._session.allow(ctx.budget_left.get("seconds"))

    def _check_limits(self) -> None:
        """Raise LimitReached before a call that the episode's budget doesn't allow."""
        spent = self.spent()
        for name, left in self._left.items():
            if name in spent and spent[name] - self._before.get(name, 0) >= left:
                raise LimitReached(name)
        seconds = self._session.left_s()
        if seconds is not None and seconds <= 0:
            raise LimitReached("seconds")

    def _complete(self, request: ModelRequest) -> ModelReply:
        from evalkit.models import CallKey, ErrorKind, ModelError

        self._check_limits()
        self._turn += 1
        key = CallKey(self._key.task, self._key.epoch, self._turn)
        try:
            return self._session.complete(request, key=key)
        except ModelError as error:
            if error.kind is ErrorKind.DEADLINE:
                raise LimitReached("seconds") from error
            self.fatal = error.policy.fatal
            if error.policy.counts:  # the model's own answer, if no usable one
                raise _NoAnswer(str(error)) from error
            raise

    def _begins(self, observation: Observation) -> bool:
        """Whether a conversation begins: with the first observation, and with every one that has a prompt."""
        return not self._messages or isinstance(observation.data.get("prompt"), str)

    def _open(self, observation: Observation) -> None:
        """Begin a conversation with an observation; what was said before is forgotten."""
        from evalkit.models import Message

        self._messages = []
        prompt = observation.data.get("prompt")
        if isinstance(prompt, str):
            self._messages.append(Message("system", prompt))
        self._messages.append(Message("user", observation_text(observation), observation.images))


class ChatAgent(ModelAgent):
    """One answer per observation, the conversation kept."""

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """Ask for the next answer."""
        from evalkit.models import Message, ModelRequest

        self._begin(ctx)
        tool, field = answer_tool(self._tools)
        if self._begins(observation):
            self._open(observation)
        else:
            self._messages.append(Message("user", observation_text(observation), observation.images))
        try:
            reply = self._complete(ModelRequest(tuple(self._messages)))
        except _NoAnswer as refused:
            return Stop(str(refused))
        self._messages.append(Message("assistant", reply.text, opaque=reply.opaque))
        return Reply((ToolCall(tool.name, {field: reply.text}),))


class ToolsAgent(ModelAgent):
    """Native function calls; parallel calls run in the model's order."""

    dialogue = Dialogue()

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new conversation."""
        super().start(tools, seed)
        self._codec = self._make_codec()
        self._asked: tuple[ModelToolCall, ...] = ()
        self._made: tuple[ModelToolCall, ...] = ()
        self._steps = 0

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """Take results back to the model and ask for its next calls."""
        from evalkit.models import Message, ToolSchema

        self._begin(ctx)
        if self._begins(observation):
            self._open(observation)
        else:
            results = tuple(self._results(observation))
            self._messages.append(Message("tool", tool_results=results))
        schemas = [ToolSchema.of(tool) for tool in self._tools]
        for _ in range(self.dialogue.nudges + 1):
            if self._steps == self.dialogue.steps:
                return Stop(f"{self._steps} replies without a call of {self.dialogue.hand_in}")
            self._steps += 1
            shown = shortened(self._messages, self.dialogue)
            try:
                reply = self._complete(self._codec.request(shown, schemas))
            except _NoAnswer as refused:
                return Stop(str(refused))
            self._asked = self._codec.calls(reply)
            native = self._asked if self._codec.name == "native" else ()
            self._messages.append(Message("assistant", reply.text, tool_calls=native, opaque=reply.opaque))
            if self._asked:
                self._made = self._up_to_hand_in()
                return Reply(tuple(_call(call) for call in self._made))
            self._messages.append(Message("user", NUDGE))
        return Stop(f"{self.dialogue.nudges + 1} replies in a row held no tool call")

    def _up_to_hand_in(self) -> tuple[ModelToolCall, ...]:
        """The reply's calls up to the one that hands in, if one does; the count of steps begins anew then."""
        for number, call in enumerate(self._asked, 1):
            if call.name == self.dialogue.hand_in:
                self._steps = 0
                return self._asked[:number]
        return self._asked

    def _results(self, observation: Observation) -> list[ToolResult]:
        """A result for each call; calls that weren't run, because an earlier one ended the turn, say so."""
        from evalkit.models import ToolResult

        if len(self._made) == 1:
            texts = [observation_text(observation)]
        else:
            results = observation.data.get("results", [])
            texts = [observation_text(Observation(r["text"], r["data"])) for r in results]
        texts += ["not run"] * (len(self._asked) - len(texts))
        images: list[tuple[Image, ...]] = [()] * (len(self._asked) - 1) + [observation.images]
        return [
            ToolResult(call.id, call.name, _clipped(text, self.dialogue.result_characters), pictures)
            for call, text, pictures in zip(self._asked, texts, images, strict=True)
        ]

    def _make_codec(self) -> Codec:
        from evalkit.models import NativeCodec

        return NativeCodec()


class TextToolsAgent(ToolsAgent):
    """Calls as blocks of text."""

    def _make_codec(self) -> Codec:
        from evalkit.models import TextCodec

        return TextCodec()


def answer_tool(tools: Sequence[Tool]) -> tuple[Tool, str]:
    """The one tool and its one text field that an answer goes to; UsageError if there are others."""
    if len(tools) == 1 and tools[0].arguments is not None:
        fields = tools[0].arguments.model_fields
        if len(fields) == 1 and next(iter(fields.values())).annotation is str:
            return tools[0], next(iter(fields))
    names = ", ".join(tool.name for tool in tools)
    raise UsageError(f"agent 'chat' plays environments with one text answer, not {names}; use 'tools'")


def observation_text(observation: Observation) -> str:
    """The text and the data (but for the prompt) of an observation, as a model reads them."""
    parts = [observation.text] if observation.text else []
    for name, value in observation.data.items():
        if name != "prompt":
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            parts.append(f"{name}:\n{text}")
    return "\n\n".join(parts)


def shortened(messages: Sequence[Message], dialogue: Dialogue) -> list[Message]:
    """The conversation with old tool results cut short and their pictures left out, the newest kept."""
    total = sum(len(message.tool_results) for message in messages)
    pictures = sum(len(result.images) for message in messages for result in message.tool_results)
    surplus = pictures - dialogue.newest_pictures
    seen = 0
    found = []
    for message in messages:
        results = []
        for result in message.tool_results:
            is_new = seen >= total - dialogue.newest_results
            limit = dialogue.result_characters if is_new else dialogue.old_result_characters
            images = result.images[max(surplus, 0) :]
            results.append(replace(result, text=_clipped(result.text, limit), images=images))
            surplus -= len(result.images)
            seen += 1
        found.append(replace(message, tool_results=tuple(results)) if results else message)
    return found


def _clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters)"


def _call(call: ModelToolCall) -> ToolCall:
    if call.arguments is None:
        problem = call.error or "the arguments are not a JSON object"
        return ToolCall(call.name, {"raw": call.raw_arguments}, problem)
    return ToolCall(call.name, call.arguments)
