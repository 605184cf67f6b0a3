"""Levels with their calibrated budgets: what a run of the benchmark is given.

Calibration writes `data/budgets.json` and `data/heldout_budgets.json`; the levels themselves are
regenerated. `strict` is a rung of the ladder, `tight` 1.02 × the cheapest known cost, `loose` one budget.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal

from evalkit_polybridge.constants import BUDGET_LADDER, LOOSE_BUDGET
from evalkit_polybridge.graph import Level, LevelMeta
from evalkit_polybridge.levels.families import generate
from evalkit_polybridge.levels.heldout import heldout

Condition = Literal["strict", "loose", "tight"]

BUDGETS_FILE = "budgets.json"
HELDOUT_BUDGETS_FILE = "heldout_budgets.json"

STRICT_MARGIN = 1.10
TIGHT_MARGIN = 1.02


class CatalogueError(Exception):
    """The calibration data is missing, incomplete or contradicts itself; one line, with the remedy."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What calibration found, in dollars.

    `reference_cost` is that of the stored reference design, `optimum_cost` that of the cheapest design known
    to pass.
    """

    reference_cost: float
    optimum_cost: float

    @property
    def strict_budget(self) -> int:
        """The strict budget, see `strict_budget`."""
        return strict_budget(self.reference_cost)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs by level name, and the executor that confirmed them."""

    executor_version: str
    constants_sha256: str
    costs: dict[str, Costs]


@dataclass(frozen=True, slots=True)
class Entry:
    """A level under the budget of one condition, with what only its author knows; costs in dollars."""

    level: Level
    meta: LevelMeta
    reference_cost: float
    optimum_cost: float

    @property
    def strict_budget(self) -> int:
        """The strict budget, to which costs are compared under every condition."""
        return strict_budget(self.reference_cost)


def strict_budget(reference_cost: float) -> int:
    """The next rung at or above 1.10 × the reference's cost. Raises CatalogueError above the last rung."""
    needed = round(STRICT_MARGIN * reference_cost, 6)
    for rung in BUDGET_LADDER:
        if rung >= needed:
            return rung
    raise CatalogueError(
        f"a reference of ${reference_cost:,.2f} needs more than the ladder's last rung, "
        f"${BUDGET_LADDER[-1]:,}: find a cheaper one"
    )


def tight_budget(optimum_cost: float) -> float:
    """1.02 × the cheapest known cost, to the cent."""
    return round(TIGHT_MARGIN * optimum_cost, 2)


def load(condition: Condition) -> tuple[Entry, ...]:
    """The 189 levels under a condition, in the order of `generate`. Raises CatalogueError."""
    return _entries(generate(), read_calibration(BUDGETS_FILE), condition, BUDGETS_FILE)


def load_heldout(condition: Condition) -> tuple[Entry, ...]:
    """The 60 held-out levels under a condition, in the order of `heldout`. Raises CatalogueError."""
    return _entries(heldout(), read_calibration(HELDOUT_BUDGETS_FILE), condition, HELDOUT_BUDGETS_FILE)


def read_calibration(file_name: str) -> Calibration:
    """One checked-in budgets file (`BUDGETS_FILE` or `HELDOUT_BUDGETS_FILE`). Raises CatalogueError."""
    source = resources.files("evalkit_polybridge.levels").joinpath("data", file_name)
    try:
        return parse_budgets(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(f"levels/data/{file_name} is missing: {_REMEDY}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise CatalogueError(f"levels/data/{file_name} is not a budgets file ({error}): {_REMEDY}") from error


def parse_budgets(text: str) -> Calibration:
    """The inverse of `budgets_document`. Raises KeyError, TypeError or ValueError on any other text."""
    document = json.loads(text)
    costs = {name: _parse_costs(name, record) for name, record in document["levels"].items()}
    executor = document["executor"]
    return Calibration(str(executor["version"]), str(executor["constants_sha256"]), costs)


def budgets_document(calibration: Calibration) -> str:
    """The text of a budgets file: stable JSON, one level a line, costs to the cent."""
    executor = {"version": calibration.executor_version, "constants_sha256": calibration.constants_sha256}
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(_record(costs))}"
        for name, costs in sorted(calibration.costs.items())
    )
    return f'{{"executor": {json.dumps(executor)},\n "levels": {{\n{lines}\n }}\n}}\n'


def opaque_name(name: str) -> str:
    """`level-` and ten hexadecimal digits of the name's SHA-256: stable, and silent about the family."""
    return f"level-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


_REMEDY = "run `python -m evalkit_polybridge.calibrate` to write it"


def _record(costs: Costs) -> dict[str, Any]:
    return {
        "reference_cost": round(costs.reference_cost, 2),
        "optimum_cost": round(costs.optimum_cost, 2),
        "strict_budget": strict_budget(round(costs.reference_cost, 2)),
    }


def _parse_costs(name: str, record: dict[str, Any]) -> Costs:
    costs = Costs(float(record["reference_cost"]), float(record["optimum_cost"]))
    if record["strict_budget"] != costs.strict_budget:
        raise ValueError(
            f"{name}: strict budget {record['strict_budget']} is not {costs.strict_budget}, "
            "the rung of its reference"
        )
    return costs


def _entries(
    levels: Sequence[tuple[Level, LevelMeta]], calibration: Calibration, condition: Condition, file_name: str
) -> tuple[Entry, ...]:
    missing = [level.name for level, _ in levels if level.name not in calibration.costs]
    if missing:
        raise CatalogueError(
            f"levels/data/{file_name} lacks {len(missing)} of {len(levels)} levels "
            f"({missing[0]} is the first): {_REMEDY}"
        )
    return tuple(_entry(level, meta, calibration.costs[level.name], condition) for level, meta in levels)


def _entry(level: Level, meta: LevelMeta, costs: Costs, condition: Condition) -> Entry:
    budgets: dict[Condition, float] = {
        "strict": float(costs.strict_budget),
        "loose": float(LOOSE_BUDGET),
        "tight": tight_budget(costs.optimum_cost),
    }
    budgeted = replace(level, budget=budgets[condition])
    return Entry(
        budgeted,
        replace(meta, strict_budget=float(costs.strict_budget)),
        costs.reference_cost,
        costs.optimum_cost,
    )
