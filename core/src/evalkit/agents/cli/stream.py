"""What a program says of itself while it works: turns, tokens, cost, failures, read from its lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from evalkit.agents.cli.template import Rule, Template, UsageRule
from evalkit.jsonfiles import parse_json

_UNKNOWN = object()
_MAX_AMOUNT = 2**53


class Meter:
    """Counts by a template's rules. Lines that no rule fits, or that aren't JSON, are passed over."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._turns: dict[Any, int] = {}
        self._usages: dict[Any, dict[str, float]] = {}
        self._lines = 0
        #: What the program said of its own failure.
        self.failure: str | None = None

    @property
    def turns(self) -> int:
        """Turns so far."""
        return len(self._turns)

    def counters(self) -> dict[str, float]:
        """Turns; tokens and US dollars if any tokens were reported."""
        sums = {"input": 0.0, "output": 0.0, "cost": 0.0}
        for usage in self._usages.values():
            for name, amount in usage.items():
                sums[name] += amount
        counted: dict[str, float] = {"turns": self.turns}
        tokens = int(sums["input"] + sums["output"])
        if tokens > 0:
            counted |= {"input_tokens": int(sums["input"]), "output_tokens": int(sums["output"])}
            counted["tokens"] = tokens
            if sums["cost"] > 0:
                counted["cost"] = round(sums["cost"], 6)
        return counted

    def line(self, line: bytes) -> None:
        """Read one line of stdout."""
        self._lines += 1
        seen: Any = line.decode("utf-8", "replace")
        if self._template.output == "json":
            try:
                seen = parse_json(seen)
            except ValueError:
                return
        for rule in self._template.turns:
            if _fits(rule, seen):
                self._turns[self._mark(rule, seen)] = 1
                break
        for number, usage in enumerate(self._template.usage):
            if _fits(usage, seen):
                self._use(number, usage, seen)
        for failure in self._template.failures:
            if _fits(failure, seen):
                self.failure = _told(_at(seen, failure.message) if failure.message else seen)

    def _mark(self, rule: Rule, seen: Any) -> Any:
        """What tells a counted line from others."""
        value = _at(seen, rule.distinct) if rule.distinct else _UNKNOWN
        return self._lines if value is _UNKNOWN else json.dumps(value, sort_keys=True)

    def _use(self, number: int, rule: UsageRule, seen: Any) -> None:
        amounts = _amounts(rule, seen)
        if rule.total:
            if amounts["input"] + amounts["output"] <= 0:
                return
            if not amounts["cost"]:
                del amounts["cost"]
            self._usages.clear()
        self._usages[number, self._mark(rule, seen)] = amounts


def _fits(rule: Rule, seen: Any) -> bool:
    if rule.pattern is not None:
        return isinstance(seen, str) and re.search(rule.pattern, seen) is not None
    for path, wanted in rule.where.items():
        found = _at(seen, path)
        if not any(type(found) is type(value) and found == value for value in _list(wanted)):
            return False
    return True


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _at(seen: Any, path: str) -> Any:
    """The value at a dotted path; `_UNKNOWN` if there is none."""
    for name in path.split("."):
        if not isinstance(seen, Mapping) or name not in seen:
            return _UNKNOWN
        seen = seen[name]
    return seen


def _amounts(rule: UsageRule, seen: Any) -> dict[str, float]:
    if rule.pattern is not None:
        found = re.search(rule.pattern, seen)
        groups = found.groupdict() if found is not None else {}
        return {name: _amount(groups.get(name)) for name in ("input", "output", "cost")}
    paths = {"input": rule.input, "output": rule.output, "cost": rule.cost}
    return {name: sum(_amount(_at(seen, path)) for path in wanted) for name, wanted in paths.items()}


def _amount(value: Any) -> float:
    """A number that can be an amount; 0 for anything else: a program may print what it likes."""
    if isinstance(value, str):
        try:
            value = float(value.replace(",", ""))
        except ValueError:
            return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return value if 0 <= value <= _MAX_AMOUNT else 0.0


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else "it reported a failure"
    return " ".join(text.split())[:500]
