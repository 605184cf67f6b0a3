"""Tools as schemas and text, calls as function calls and blocks, pictures of results."""

import json

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models import (
    TOOL_IMAGES_SENTENCE,
    Message,
    ModelReply,
    ModelToolCall,
    TextCodec,
    ToolResult,
    ToolSchema,
    format_tools,
    parse_arguments,
    parse_blocks,
    strict_schema,
)
from evalkit.models._arguments import without_strict_nulls
from evalkit.models._chat import chat_messages, chat_tools, without_images
from evalkit.types import Image, Tool


class Joint(pydantic.BaseModel, extra="forbid"):
    kind: str
    limit: float | None = None
    pitch: float = 1.0


class Arguments(pydantic.BaseModel, extra="forbid"):
    part: str
    joints: list[Joint] = []
    note: str = ""


TOOL = ToolSchema.of(Tool("attach", "Attach a part.", Arguments))


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"a": 1', "not valid JSON"),
        ("", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1,}', "not valid JSON"),
        ('{"a": 1} {}', "not valid JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ("[1]", "a list, not a JSON object"),
        ("null", "null, not a JSON object"),
        ('"{}"', "a string, not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_arguments_are_reported_and_never_repaired(raw, problem):
    arguments, error = parse_arguments(raw)
    assert arguments is None
    assert problem in error


def test_arguments_cut_off_at_the_limit_say_so():
    assert "cut off at the output limit" in parse_arguments('{"a": [1, 2', cut_off=True)[1]
    assert parse_arguments('{"a": 1}', cut_off=True) == ({"a": 1}, None)


def test_the_strict_form_requires_everything_and_allows_null_for_what_may_be_left_out():
    strict = strict_schema(TOOL.parameters)
    assert strict["required"] == ["part", "joints", "note"]
    assert strict["additionalProperties"] is False
    assert strict["properties"]["part"]["type"] == "string"
    assert {"type": "null"} in strict["properties"]["note"]["anyOf"]
    joint = strict["$defs"]["Joint"]
    assert joint["required"] == ["kind", "limit", "pitch"]
    assert joint["properties"]["limit"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert "default" not in json.dumps(strict)
    assert "default" in json.dumps(TOOL.parameters)


@given(
    st.builds(
        Arguments,
        part=st.text(),
        joints=st.lists(
            st.builds(Joint, kind=st.text(), limit=st.none() | st.floats(0, 1), pitch=st.floats(0, 1))
        ),
        note=st.text(),
    ),
    st.randoms(use_true_random=False),
)
def test_arguments_in_the_strict_form_fit_the_plain_schema(arguments, random):
    given_values = arguments.model_dump(mode="json")
    if random.random() < 0.5:
        given_values["note"] = None
    for joint in given_values["joints"]:
        if random.random() < 0.5:
            joint["pitch"] = None
    plain = without_strict_nulls(given_values, TOOL.parameters)
    parsed = Arguments.model_validate(plain)
    assert parsed.part == arguments.part
    assert [j.limit for j in parsed.joints] == [j.limit for j in arguments.joints]


def test_schemas_go_out_plain_unless_strict_is_asked_for():
    plain, strict = chat_tools([TOOL], strict=False)[0], chat_tools([TOOL], strict=True)[0]
    assert plain["function"]["parameters"] == dict(TOOL.parameters)
    assert "strict" not in plain["function"]
    assert strict["function"]["strict"] is True


def test_blocks_are_parsed_in_order_and_prose_is_ignored():
    text = 'First\n```tool\n{"name": "a", "arguments": {"x": 1}}\n```\nthen\n```json\n{"name": "no"}\n```\n'
    text += '  ```tool\n  {"name": "b"}\n  ```'
    calls = parse_blocks(text)
    assert [(c.name, c.arguments, c.error) for c in calls] == [("a", {"x": 1}, None), ("b", {}, None)]
    assert [c.id for c in calls] == ["block-1", "block-2"]


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ('{"name": "a", "arguments": {"x": 1}', "not valid JSON"),
        ('{"name": "a", "arguments": {}} trailing', "not valid JSON"),
        ('{"arguments": {}}', 'not an object {"name"'),
        ('["a"]', 'not an object {"name"'),
        ('{"name": "a", "arguments": "x"}', "arguments are not a JSON object"),
        ('{"name": "a", "args": {}}', "other keys than name and arguments: args"),
        ("", "not valid JSON"),
    ],
)
def test_malformed_blocks_become_calls_with_an_error(block, problem):
    good = '```tool\n{"name": "b"}\n```'
    bad, fine = parse_blocks(f"```tool\n{block}\n```\n{good}")
    assert bad.arguments is None
    assert problem in bad.error
    assert bad.raw_arguments == block
    assert (fine.name, fine.error) == ("b", None)


def test_an_unclosed_block_is_an_error_and_may_have_been_cut_off():
    reply = ModelReply('```tool\n{"name": "a", ', finish_reason="length")
    (call,) = TextCodec().calls(reply)
    assert "no closing ```" in call.error
    assert "cut off at the output limit" in call.error


@given(st.text(), st.dictionaries(st.text(), st.none() | st.integers() | st.text()))
def test_any_call_survives_being_written_as_a_block(name, arguments):
    block = json.dumps({"name": name, "arguments": arguments})
    (call,) = parse_blocks(f"I call\n```tool\n{block}\n```")
    assert (call.name, call.arguments, call.error) == (name, arguments, None)


def test_the_text_form_explains_the_tools_in_the_system_message():
    request = TextCodec().request((Message("system", "Be brief."), Message("user", "Go.")), (TOOL,))
    assert request.tools == ()
    assert request.messages[0].text.startswith("Be brief.\n\n")
    assert format_tools([TOOL]) in request.messages[0].text
    assert '"part"' in format_tools([TOOL])
    alone = TextCodec().request((Message("user", "Go."),), (TOOL,))
    assert [m.role for m in alone.messages] == ["system", "user"]


def picture(name):
    return Image(name, f"png {name}".encode())


def test_pictures_of_results_follow_all_results_of_the_turn_in_one_user_message():
    results = (
        ToolResult("1", "view", "front", (picture("a"),)),
        ToolResult("2", "view", "side", (picture("b"),)),
    )
    turn = Message("tool", tool_results=results)
    calls = (ModelToolCall("1", "view", {}, "{}"), ModelToolCall("2", "view", {}, "{}"))
    messages = chat_messages((Message("assistant", tool_calls=calls), turn))
    assert [m["role"] for m in messages] == ["assistant", "tool", "tool", "user"]
    assert [m["content"] for m in messages[1:3]] == ["front", "side"]
    parts = messages[3]["content"]
    assert parts[0] == {"type": "text", "text": TOOL_IMAGES_SENTENCE}
    assert [part["type"] for part in parts] == ["text", "image_url", "image_url"]


def test_pictures_are_kept_if_the_model_speaks_next():
    turn = Message("tool", tool_results=(ToolResult("1", "view", "front", (picture("a"),)),))
    messages = chat_messages((turn, Message("assistant", "I see."), Message("user", "Well?")))
    assert [m["role"] for m in messages] == ["tool", "user", "assistant", "user"]
    assert messages[1]["content"][0]["text"] == TOOL_IMAGES_SENTENCE


def test_pictures_join_a_user_message_that_follows():
    turn = Message("tool", tool_results=(ToolResult("1", "view", "front", (picture("a"),)),))
    follow = Message("user", "Your move.", (picture("b"),))
    messages = chat_messages((turn, follow))
    assert [m["role"] for m in messages] == ["tool", "user"]
    kinds = [part.get("text", "image") for part in messages[1]["content"]]
    assert kinds == [TOOL_IMAGES_SENTENCE, "image", "Your move.", "image"]


def test_broken_arguments_go_back_as_valid_json():
    call = ModelToolCall("1", "attach", None, '{"part": ', "cut")
    (message,) = chat_messages((Message("assistant", tool_calls=(call,)),))
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"unreadable": '{"part": '}


def test_signed_reasoning_goes_back_as_it_came():
    call = ModelToolCall("c1", "attach", {}, "{}")
    opaque = {
        "thinking_blocks": [{"signature": "s"}],
        "tool_calls": {"c1": {"provider_specific_fields": {"t": 1}}},
    }
    (message,) = chat_messages((Message("assistant", "x", tool_calls=(call,), opaque=opaque),))
    assert message["thinking_blocks"] == [{"signature": "s"}]
    assert message["tool_calls"][0]["provider_specific_fields"] == {"t": 1}


def test_pictures_leave_the_recorded_request_and_are_named_by_their_hash():
    image = picture("a")
    body = json.dumps(chat_messages((Message("user", "see", (image,)),))).encode()
    stripped = without_images(body, [image]).decode()
    assert "base64,sha256:" in stripped
    assert len(stripped) > 64
    assert json.loads(stripped)[0]["content"][0]["text"] == "see"


def test_lone_surrogates_are_replaced_on_the_way_out():
    (message,) = chat_messages((Message("assistant", "a\ud800b é \ud83d\ude00"),))
    assert message["content"] == "a\ufffdb é 😀"
