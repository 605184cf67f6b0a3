"""The form of registry files and of the `suites.yaml` of plugins, checked with pydantic."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue

from evalkit.errors import RegistryError, did_you_mean
from evalkit.registry_yaml import Place

FORMAT = 1
"""Version of the file format, the value of the header `evalkit:`."""

COUNTED_LIMITS = ("calls", "tool_calls", "llm_calls", "executions", "tokens", "turns")
LIMITS = (*COUNTED_LIMITS, "seconds", "cost")
METER_PREFIX = "meter:"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_THRESHOLD = re.compile(r"[^<>=\s]+\s*(>=|<=|>|<)\s*-?\d+(\.\d+)?")


def _known_limit(name: str) -> str:
    if name in LIMITS or (name.startswith(METER_PREFIX) and len(name) > len(METER_PREFIX)):
        return name
    similar = did_you_mean(name, LIMITS)
    hint = f"did you mean {' or '.join(similar)}?" if similar else f"known: {', '.join(LIMITS)}, meter:NAME"
    raise ValueError(f"unknown limit {name!r}; {hint}")


def _plain_number(value: float) -> float:
    """A whole number as int: the check for numbers makes floats, and 3.0 calls read oddly."""
    return int(value) if value == int(value) else value


def _whole_counts(limits: dict[str, float]) -> dict[str, float]:
    for name, value in limits.items():
        if name in COUNTED_LIMITS and value != int(value):
            raise ValueError(f"the limit {name!r} is {value}, wanted a whole number")
    return limits


def _distinct(names: list[str]) -> list[str]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is listed twice")
    return names


def _plain_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: letters, digits and ._- only")
    return name


def _threshold(text: str) -> str:
    if not _THRESHOLD.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is no threshold; write it like success>=0.8")
    return text


Name = Annotated[str, AfterValidator(_plain_name)]
Limit = Annotated[float, Field(gt=0, allow_inf_nan=False), AfterValidator(_plain_number)]
LimitName = Annotated[str, AfterValidator(_known_limit)]
Ids = Annotated[list[str], AfterValidator(_distinct)]
Threshold = Annotated[str, AfterValidator(_threshold)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class OverrideBlock(_Strict):
    """Changes of a suite: mappings are merged key by key, everything else is replaced."""

    version: int = Field(1, ge=1)
    """Raised when results can't be compared with earlier ones."""
    title: str = ""
    tags: list[str] = []
    """Words by which groups pick suites."""
    tasks: dict[str, Any] = {}
    """What the benchmark's task loader gets."""
    condition: str = "default"
    """Name of the condition; part of every episode's key."""
    variant: str = "default"
    """Which of the benchmark's environments."""
    agent: str | None = None
    """Who plays if nobody is named: `NAME` or `NAME:ARGUMENT`."""
    limits: Annotated[dict[LimitName, Limit], AfterValidator(_whole_counts)] = {}
    """Budgets of an episode: calls, tool_calls, llm_calls (answers of a model), executions, tokens, turns,
    seconds, cost, meter:NAME."""
    settings: dict[str, Any] = {}
    """Protocol settings of the benchmark that differ from its defaults."""
    validators: Ids = []
    executors: Ids = []
    """Executors and judges of every legal candidate, in the loop."""
    final_executors: Ids = []
    """Executors and judges of the last candidate, after play."""
    metrics: Ids = []
    thresholds: list[Threshold] = []
    """Conditions like `success>=0.8`, without which a run exits with 1."""


class SuiteBlock(OverrideBlock):
    """One suite: which tasks of a benchmark are played, under which protocol."""

    benchmark: str
    """Id of the benchmark."""


class GroupBlock(_Strict):
    """A name for several suites: a list of suites, groups and patterns, or all that have every tag."""

    suites: list[str] = []
    tags: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return {"suites": value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_way(self) -> GroupBlock:
        if bool(self.suites) == bool(self.tags):
            raise ValueError("a group is a list of suites, or a mapping with the key tags")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Callable[[Any], Any]) -> JsonSchemaValue:
        mapping: JsonSchemaValue = handler(core_schema)
        return {"anyOf": [{"type": "array", "items": {"type": "string"}}, mapping]}


class RegistryFile(_Strict):
    """A registry file, or the `suites.yaml` of a plugin (without `include` and `overrides`)."""

    evalkit: int
    """Version of the file format: 1."""
    include: list[str] = []
    """More registry files, by paths relative to this one."""
    suites: dict[Name, SuiteBlock] = {}
    groups: dict[Name, GroupBlock] = {}
    overrides: dict[str, OverrideBlock] = {}


Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], value: object, where: Callable[[Place], str]) -> Model:
    """Check a value against a model.

    `where` turns a place in the value into words for the error ("file:line"). Raises RegistryError for
    the first fault.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        place, sentence = first_fault(error)
        if error.errors()[0]["type"] == "extra_forbidden":
            sentence = _unknown_key(model, place)
        raise RegistryError(sentence, where(place)) from error


def first_fault(error: ValidationError) -> tuple[Place, str]:
    """The place of the first fault that pydantic found, and a sentence about it."""
    fault = error.errors(include_url=False)[0]
    place: Place = tuple(part for part in fault["loc"] if part != "[key]")
    name = _words(place)
    if fault["type"] == "missing":
        return place, f"the key {name!r} is missing"
    if fault["type"] == "value_error":
        return place, f"{name}: {fault['ctx']['error']}"
    message = (
        fault["msg"]
        .replace("Input should be", "should be")
        .replace("dictionary or instance of", "mapping for")
    )
    return place, f"{name} {message[0].lower()}{message[1:]}; it is {_short(fault['input'])}"


def _unknown_key(model: type[BaseModel], place: Place) -> str:
    known = _keys_at(model, place[:-1])
    similar = difflib.get_close_matches(str(place[-1]), known, n=1)
    hint = f"did you mean {similar[0]}?" if similar else f"known: {', '.join(known)}"
    return f"unknown key {_words(place)!r}; {hint}"


def _words(place: Place) -> str:
    return ".".join(str(part) for part in place) or "it"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _keys_at(model: type[BaseModel], place: Place) -> list[str]:
    """The keys that a mapping at a place of a registry file or a suite may have."""
    blocks: dict[object, type[BaseModel]] = {
        "suites": SuiteBlock,
        "overrides": OverrideBlock,
        "groups": GroupBlock,
    }
    if model is RegistryFile and place:
        model = blocks[place[0]]
    return list(model.model_fields)
