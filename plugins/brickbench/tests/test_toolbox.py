"""Building with tools: exact, replayable from JSON at any point, bounded, and mistakes change nothing."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from pydantic import ValidationError
from tool_script import CALLS

from evalkit_brickbench.guide import primer_text, tools_text
from evalkit_brickbench.inspection import inspect
from evalkit_brickbench.toolbox.arguments import TOOLS
from evalkit_brickbench.toolbox.holdings import MAX_ASSEMBLIES, MAX_PARTS
from evalkit_brickbench.toolbox.session import Answer, ToolSession

INPUTS = {"prompt": "a glider", "part_rules": {"min_parts": 1, "max_parts": 400}}


@pytest.fixture
def session() -> ToolSession:
    return ToolSession(INPUTS)


def done(session: ToolSession, tool: str, **arguments: Any) -> Answer:
    """The answer to a call that has to work."""
    answer = session.call(tool, arguments)
    assert not answer.mistake, answer.data
    return answer


def mistake(session: ToolSession, tool: str, **arguments: Any) -> str:
    """What is said of a call that is wrong; it changes nothing."""
    before = copy.deepcopy(session.state())
    answer = session.call(tool, arguments)
    assert answer.mistake, answer
    assert answer.data["ok"] is False
    assert session.state() == before
    return str(answer.data["message"])


def place(session: ToolSession, item: str, into: str = "model", **more: Any) -> str:
    """The id of one thing that is placed."""
    (id_,) = done(session, "place", items=[{"item": item, **more}], into=into).data["ids"]
    return str(id_)


def test_whole_build_with_every_tool(session: ToolSession) -> None:
    assert {tool for tool, _ in CALLS} == set(TOOLS)
    answers = [session.call(tool, arguments) for tool, arguments in CALLS]
    assert not any(answer.mistake for answer in answers)
    first, second = (a for (tool, _), a in zip(CALLS, answers, strict=True) if tool == "check")
    assert first.data["valid"] is False
    assert first.data["components"][1] == {"parts": 1, "ids": ["p10"]}
    assert "p10 3005" in first.text
    assert second.data["valid"] is True
    assert second.data["stable"] is True
    model = answers[-1].model
    assert model is not None
    found = inspect(model, "model.mpd")
    assert sorted(found.scene.stems) == ["3005", "3020", "3020", "3024", "3024", "3031", "41769", "41770"]
    assert len(found.components.sizes) == 1
    assert found.collision_free
    assert found.connections.residual_ldu.max() < 1e-8


def test_state_goes_on_the_same_from_every_point() -> None:
    whole = ToolSession(INPUTS)
    states, models = [whole.state()], []
    for tool, arguments in CALLS:
        models.append(whole.call(tool, arguments).model)
        states.append(json.loads(json.dumps(whole.state())))
    for start in range(0, len(CALLS), 4):
        resumed = ToolSession.of_state(INPUTS, states[start])
        assert json.dumps(resumed.state()) == json.dumps(states[start])
        for number, (tool, arguments) in list(enumerate(CALLS))[start:]:
            if tool in ("check", "view"):
                continue
            assert resumed.call(tool, arguments).model == models[number]
            assert json.dumps(resumed.state()) == json.dumps(states[number + 1]), tool


def test_examples_of_the_guide_are_calls_that_work(session: ToolSession) -> None:
    blocks = re.findall(r"^    ([a-z_]+) (\{.*?\})\n(?!     )", tools_text(), re.DOTALL | re.MULTILINE)
    assert [tool for tool, _ in blocks] == ["place", "join"]
    for tool, arguments in blocks:
        done(session, tool, **json.loads(arguments))
    report = done(session, "check").data
    assert (report["parts"], report["valid"]) == (4, True)
    assert all(
        f"`{tool}`" in tools_text() for tool in ("place", "join", "connectors", "new_assembly", "mirror")
    )


def test_examples_of_the_primer_are_valid_models() -> None:
    blocks = re.findall(r"^```\n(.*?)^```$", primer_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    three, towers = (inspect(block.encode(), "model.mpd") for block in blocks)
    assert (len(three.scene), len(three.components.sizes), len(towers.scene)) == (3, 1, 4)
    for found in (three, towers):
        assert found.collision_free
        assert found.stability is not None
        assert found.stability.stable


def test_state_has_no_negative_zeros(session: ToolSession) -> None:
    id_ = place(session, "3001", spin=180, at=[-0.0, 0, 0])
    done(session, "change", ids=[id_], spin=180)
    assert "-0.0," not in json.dumps(session.state())


def test_picture_is_of_what_was_there_at_the_call(session: ToolSession) -> None:
    id_ = place(session, "3001", color="red")
    early = done(session, "view", side=0).picture
    again = done(session, "view", side=0).picture
    assert early is not None
    assert again is not None
    first = early()
    done(session, "change", ids=[id_], color="blue")
    late = done(session, "view", side=0).picture
    assert late is not None
    assert first.startswith(b"\x89PNG")
    assert again() == first
    assert late() != first


def test_mistakes_are_explained_and_change_nothing(session: ToolSession) -> None:
    base = place(session, "brick 2x4")
    done(session, "new_assembly", name="tree")
    place(session, "3062b", into="tree")
    tree = place(session, "tree")
    assert "3001" in mistake(session, "describe", thing="briick 2x4")
    assert "did you mean" in mistake(session, "remove", ids=[base, "p11"])
    assert "did you mean tree" in mistake(session, "contents", assembly="tre")
    assert "there are 0 … 7" in mistake(session, "join", item="3003", to=f"{base}.stud[8]")
    assert "write it like" in mistake(session, "join", item="3003", to=base)
    assert "isn't placed" in mistake(session, "join", item="3003", to="3001.stud[0]")
    assert "doesn't fit" in mistake(session, "join", item="3003", to=f"{base}.stud[0]", by="stud[0]")
    assert "give by" in mistake(session, "join", item="3003", to=f"{base}.stud[0]")
    assert "can't be in" in mistake(session, "place", items=[{"item": "model"}], into="tree")
    unknown = mistake(session, "describe", thing="qqqq")
    assert "search by words" in unknown
    assert "find" not in unknown  # which is a function of the library, not a tool
    assert "item 2: no part" in mistake(session, "place", items=[{"item": "3001"}, {"item": "zzz"}])
    assert "did you mean red" in mistake(session, "place", items=[{"item": "3001", "color": "redd"}])
    assert "is placed already" in mistake(session, "place", items=[{"item": base}])
    assert "is taken" in mistake(session, "new_assembly", name="Tree")
    assert "is taken" in mistake(session, "mirror", assembly="tree", name="model")
    assert "no part" in mistake(session, "measure", thing=f"{tree}/p9")
    assert "there is no list" in mistake(session, "connectors", thing=base, kind="studs")
    assert "submit" in mistake(ToolSession(INPUTS), "submit")
    assert "no parts" in mistake(ToolSession(INPUTS), "check")
    assert "no part" in mistake(ToolSession(INPUTS), "view")


def test_parts_of_pieces_within_pieces(session: ToolSession) -> None:
    done(session, "new_assembly", name="leaf")
    leaf = place(session, "3024", into="leaf")
    done(session, "new_assembly", name="twig")
    first = place(session, "leaf", into="twig")
    second = place(session, "leaf", into="twig", at=[1, 0, 0])
    twig = place(session, "twig", at=[0, 0, 3])
    path = f"{twig}/{second}/{leaf}"
    assert done(session, "measure", thing=path).data["low"] == [10.0, -28.0, -10.0]
    joined = done(session, "join", item="leaf", to=f"{path}.stud[0]", by="hole[0]").data
    assert joined["position"] == [20.0, -32.0, 0.0]
    assert done(session, "compatible", to=f"{twig}/{first}/{leaf}.stud[0]", item="leaf").data["total"] == 1
    assert done(session, "contents").data["parts"] == 3


def test_mirror_of_a_piece_with_pieces_has_names_and_ids(session: ToolSession) -> None:
    done(session, "new_assembly", name="inner")
    place(session, "41769", into="inner")
    done(session, "new_assembly", name="outer")
    place(session, "inner", into="outer", at=[3, 0, 0])
    assert done(session, "mirror", assembly="outer", name="left").data == {
        "ok": True,
        "assembly": "left",
        "parts": 1,
    }
    assert done(session, "contents", assembly="left").data["assemblies"] == [
        *("model", "inner", "outer", "left", "inner mirrored")
    ]
    (row,) = done(session, "contents", assembly="inner mirrored").data["members"]
    assert row["item"] == "41770 wing 2x4 left"


def test_rules_of_the_task_are_checked() -> None:
    stock = {"3001": {"4": 1}}
    session = ToolSession({"part_rules": {"min_parts": 1, "max_parts": 5, "stock": stock}})
    place(session, "3001", color="red")
    assert done(session, "check").data["valid"] is True
    place(session, "3001", color="blue", at=[4, 0, 0])
    report = done(session, "check").data
    assert report["valid"] is False
    assert "3001 in colour 1: 1 of 0" in report["broken_rules"][0]


def test_parts_are_bounded_however_they_are_multiplied(session: ToolSession) -> None:
    inner = "model"
    for name in "abcd":
        done(session, "new_assembly", name=name)
    place(session, "3024", into="a")
    for inner, outer in (("a", "b"), ("b", "c")):
        done(session, "place", items=[{"item": inner}] * 70, into=outer)
    message = mistake(session, "place", items=[{"item": "c"}] * 2, into="d")
    assert f"more than {MAX_PARTS:,}" in message
    # what is added to a piece counts wherever the piece is
    place(session, "c", into="d")
    assert "parts, more than" in mistake(session, "place", items=[{"item": "3024"}], into="a")


def test_assemblies_are_bounded(session: ToolSession) -> None:
    for number in range(MAX_ASSEMBLIES - 1):
        done(session, "new_assembly", name=f"n{number}")
    assert "the most there may be" in mistake(session, "new_assembly", name="more")
    assert "more than" in mistake(session, "mirror", assembly="n0", name="more")


def test_chain_of_pieces_may_be_as_long_as_there_are_pieces(session: ToolSession) -> None:
    place(session, "3024")
    for number in range(MAX_ASSEMBLIES - 1):
        done(session, "new_assembly", name=f"n{number}")
        done(
            session,
            "place",
            items=[{"item": f"n{number - 1}"} if number else {"item": "3024"}],
            into=f"n{number}",
        )
    place(session, f"n{MAX_ASSEMBLIES - 2}")
    assert done(session, "contents").data["parts"] == 2
    assert done(session, "submit").model is not None


def test_pile_of_parts_in_one_place_is_reported(session: ToolSession) -> None:
    done(session, "place", items=[{"item": "3001"}] * 100)
    report = done(session, "check").data
    assert report["colliding_pairs"] == 4950
    assert len(report["collisions"]) == 20


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("place", {"items": []}),
        ("place", {"items": [{"item": "3001"}] * 101}),
        ("place", {"items": [{"item": "3001", "at": [0, 0]}]}),
        ("place", {"items": [{"item": "3001", "at": [0, 0, float("nan")]}]}),
        ("place", {"items": [{"item": "3001", "move": [1e300, 0, 0]}]}),
        ("place", {"items": [{"item": "x" * 101}]}),
        ("place", {"items": [{"item": "3001", "size": 2}]}),
        ("new_assembly", {"name": "../x"}),
        ("new_assembly", {"name": "\ud800"}),
        ("new_assembly", {"name": "x" * 41}),
        ("view", {"side": 8}),
        ("search", {"query": "brick", "limit": 1000}),
        ("join", {"item": "3001", "to": "p1.stud[0]", "slide": float("inf")}),
    ],
)
def test_arguments_out_of_bounds(session: ToolSession, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        session.call(tool, arguments)
