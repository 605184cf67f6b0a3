"""The tasks of the benchmark: prompts of this project's own, the published ones that the user pulled, or
captions that the user has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Task, UsageError
from evalkit_brickbench.part_rules import RULES, SETTINGS, PartRules
from evalkit_brickbench.tasks import captions, embedded, official
from evalkit_brickbench.tasks.schema import Prompt

CATEGORIES: Mapping[str, str] = {
    "castle": "Medieval/Castle",
    "vehicle": "Vehicle/Boat/Airplane",
    "train": "Train",
    "space": "Space/Sci-Fi/Fantasy",
    "art": "Art/Object",
    "building": "Building",
    "floral": "Floral/Nature",
    "animal": "Animal",
    "pirate": "Pirate",
    "history": "History/Period",
}
"""Titles of the categories by the names that suites, results and files of categories use."""
SETS = ("embedded", "official", embedded.SMOKE, captions.SETTING)
KEYS = ("set", "setting", "categories", "categories_file", "captions", "names", "limit")


def load_tasks(tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[Task]:
    """The tasks of a suite.

    `tasks` may hold `set` (`embedded`, the default, `official`, `smoke` or `bricknet-val`), `setting`
    (`model`, `set`, `alt-build`; all three if it isn't given), `categories` and `names` (lists: only these),
    `limit` (so many of each setting at most), for `official` `categories_file`: JSON of prompt ids and
    categories, and for `bricknet-val` `captions`: the file with them. UsageError for anything else.
    """
    _check(tasks)
    chosen, setting = tasks.get("set", "embedded"), tasks.get("setting")
    wanted = [setting] if setting is not None else list(SETTINGS)
    if chosen == captions.SETTING:
        found = _selected(_of_captions(tasks.get("captions")), tasks)
    else:
        found = [task for one in wanted for task in _selected(_of_setting(chosen, one, tasks), tasks)]
    if missing := sorted(set(tasks.get("names", ())) - {task.id for task in found}):
        raise UsageError(f"there is no task {missing[0]!r} here; `evalkit ls tasks` lists them")
    if not found:
        raise UsageError("the suite's block `tasks` selects no task")
    return found


def _check(tasks: Mapping[str, Any]) -> None:
    for key in tasks:
        if key not in KEYS:
            raise UsageError(f"brickbench tasks have no option {key!r}; there are {', '.join(KEYS)}")
    _check_choice("set", tasks.get("set", "embedded"), SETS)
    if "setting" in tasks:
        _check_choice("setting", tasks["setting"], tuple(SETTINGS))
    for key in ("categories", "names"):
        listed = tasks.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise UsageError(f"tasks.{key} has to be a list of strings")
    for category in tasks.get("categories", ()):
        _check_choice("categories", category, tuple(CATEGORIES))
    limit = tasks.get("limit", 1)
    if type(limit) is not int or limit < 1:
        raise UsageError(f"tasks.limit is {limit!r}; it is a number of tasks from 1")
    if "categories_file" in tasks and tasks.get("set") != "official":
        raise UsageError("tasks.categories_file goes with `set: official`; the other prompts have categories")
    for key in ("categories_file", "captions"):
        if not isinstance(tasks.get(key, ""), str):
            raise UsageError(f"tasks.{key} has to be a path")
    if tasks.get("set") == captions.SETTING:
        if without := [key for key in ("setting", "categories") if key in tasks]:
            raise UsageError(f"captions have no {without[0]}: leave out tasks.{without[0]}")
    elif "captions" in tasks:
        raise UsageError(f"tasks.captions goes with `set: {captions.SETTING}`")


def _check_choice(key: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UsageError(f"tasks.{key} is {value!r}; there are {', '.join(choices)}")


def _of_setting(chosen: str, setting: str, tasks: Mapping[str, Any]) -> list[Task]:
    """All tasks of a set in one setting."""
    if chosen == "official":
        named = tasks.get("categories_file")
        categories = {} if named is None else official.read_categories(Path(named).expanduser(), CATEGORIES)
        prompts = official.prompts(setting)
        by_id: dict[str, str | None] = {prompt.id: categories.get(prompt.id) for prompt in prompts}
    else:
        file = setting if chosen == "embedded" else embedded.SMOKE
        prompts = [p for p in embedded.prompts(file) if p.notes.get("setting", setting) == setting]
        by_id = {prompt.id: prompt.notes["category"] for prompt in prompts}
    rules = _rules(setting, chosen)
    return [_task(prompt, setting, rules, by_id[prompt.id], chosen) for prompt in prompts]


def _of_captions(path: str | None) -> list[Task]:
    if path is None:
        raise UsageError(captions.HOW_TO_GIVE)
    rules = PartRules(1, captions.MAX_PARTS).as_json()
    found = captions.read_captions(Path(path).expanduser())
    return [_task(prompt, captions.SETTING, rules, None, captions.SETTING) for prompt in found]


def _rules(setting: str, chosen: str) -> Mapping[str, Any]:
    least, most = SETTINGS[setting]
    if setting != "alt-build":
        return PartRules(least, most).as_json()
    stock = official.stock() if chosen == "official" else embedded.stock()
    return PartRules(least, sum(stock.values()), stock).as_json()


def _task(prompt: Prompt, setting: str, rules: Mapping[str, Any], category: str | None, chosen: str) -> Task:
    inputs = {"prompt": prompt.prompt, "setting": setting, RULES: rules}
    hidden = {
        "set": chosen,
        "setting": setting,
        "category": category,
        "questions": [question.as_json() for question in prompt.questions],
    }
    return Task(prompt.id, inputs, hidden)


def _selected(found: Sequence[Task], tasks: Mapping[str, Any]) -> list[Task]:
    categories, names = tasks.get("categories"), tasks.get("names")
    kept = [task for task in found if categories is None or task.hidden["category"] in categories]
    kept = [task for task in kept if names is None or task.id in names]
    return kept[: tasks.get("limit")]
