"""60 levels off the grid of the 189, to see whether a method learnt the levels or the task.

Every held-out level perturbs one of the 189. It is kept only if some level of the same family is at least
as demanding in every respect (gaps, load, grade, rock, ceiling, depth of its anchors), so that it is
solvable whenever the grid is. The generator is `random.Random(<seed>:<parent's name>)`, of which only
`random()` is used: its sequence is the same on every Python version.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from random import Random

from evalkit_polybridge.graph import Level, LevelMeta
from evalkit_polybridge.levels.families import FAMILIES, Family
from evalkit_polybridge.levels.geometry import MAX_TRAVEL_M, Recipe, Rock

HELDOUT_SEED = 20260
HELDOUT_LEVELS = 60
MAX_DRAWS = 20_000

#: Largest change and step of each quantity, in metres (loads: share of the load and PG).
SPAN_CHANGE_M, PLATFORM_CHANGE_M, STEP_M = 0.9, 0.4, 0.1
RISE_CHANGE_M, DEPTH_CHANGE_M, ROCK_CHANGE_M, CEILING_CHANGE_M, FINE_STEP_M = 0.4, 0.3, 0.3, 0.2, 0.05
LOAD_CHANGE, LOAD_STEP_PG = 0.15, 0.1
SMALLEST_RISE_M = 0.3
#: The shortest gap of the 189.
SMALLEST_GAP_M = 4.0


def heldout() -> list[tuple[Level, LevelMeta]]:
    """The 60 held-out levels under the loose budget, named `H_<family>_<title>_<number>`.

    The parents are spread evenly over the 189, so families and groups keep their shares.
    """
    grid = [(family, name, recipe) for family in FAMILIES for name, recipe in family.named_recipes()]
    numbers = dict.fromkeys((family.id for family in FAMILIES), 0)
    levels = []
    for index in range(HELDOUT_LEVELS):
        family, parent_name, parent = grid[(2 * index + 1) * len(grid) // (2 * HELDOUT_LEVELS)]
        numbers[family.id] += 1
        name = f"H_{family.id}_{family.title}_{numbers[family.id]:02d}"
        levels.append(family.build(name, _variation(family, parent_name, parent)))
    return levels


def _variation(family: Family, parent_name: str, parent: Recipe) -> Recipe:
    """The first admissible perturbation of the parent's recipe."""
    draws = Random(f"{HELDOUT_SEED}:{parent_name}")
    for _ in range(MAX_DRAWS):
        recipe = _perturbed(parent, draws)
        if _is_admissible(recipe, family):
            return recipe
    raise RuntimeError(f"no admissible variation of {parent_name} in {MAX_DRAWS} draws")


def _perturbed(parent: Recipe, draws: Random) -> Recipe:
    """A recipe of the parent's kind with every number that matters moved at random."""

    def moved(value: float, change: float, step: float) -> float:
        raw = value + change * (2 * draws.random() - 1)
        return round(round(raw / step) * step, 4)

    def moved_if_present(value: float, change: float) -> float:
        return moved(value, change, FINE_STEP_M) if value else value

    segments = tuple(
        moved(width, PLATFORM_CHANGE_M if index % 2 else SPAN_CHANGE_M, STEP_M)
        for index, width in enumerate(parent.segments_m)
    )
    load = moved(parent.loads_pg[0], LOAD_CHANGE * parent.loads_pg[0], LOAD_STEP_PG)
    rock, ceiling = parent.rock, parent.ceiling_y_m
    return replace(
        parent,
        segments_m=segments,
        loads_pg=(load,) * len(parent.loads_pg),
        dy_m=moved_if_present(parent.dy_m, RISE_CHANGE_M),
        surface_y_m=moved_if_present(parent.surface_y_m, RISE_CHANGE_M),
        bottom_depth_m=moved_if_present(parent.bottom_depth_m, DEPTH_CHANGE_M),
        top_height_m=moved_if_present(parent.top_height_m, DEPTH_CHANGE_M),
        mid_depth_m=moved_if_present(parent.mid_depth_m, DEPTH_CHANGE_M),
        rock=rock and replace(rock, apex_y_m=moved(rock.apex_y_m, ROCK_CHANGE_M, FINE_STEP_M)),
        ceiling_y_m=ceiling and moved(ceiling, CEILING_CHANGE_M, FINE_STEP_M),
    )


def _is_admissible(recipe: Recipe, family: Family) -> bool:
    relatives = [other for other in family.variants.values() if _kind(other) == _kind(recipe)]
    spans = {span for other in family.variants.values() for span in other.gaps_m}
    rises = [abs(rise) for rise in (recipe.dy_m, recipe.surface_y_m) if rise]
    return (
        recipe.travel_m() <= MAX_TRAVEL_M
        and all(rise >= SMALLEST_RISE_M for rise in rises)
        and not spans.intersection(recipe.gaps_m)
        and min(recipe.gaps_m) >= SMALLEST_GAP_M
        and any(_is_as_demanding(other, recipe) for other in relatives)
    )


def _kind(recipe: Recipe) -> tuple[object, ...]:
    """What two recipes must share for their numbers to be comparable."""
    return (
        len(recipe.segments_m),
        len(recipe.loads_pg),
        recipe.road_wood_only,
        recipe.dy_m > 0,
        recipe.surface_y_m > 0,
        recipe.bottom_sides,
        recipe.rock is None,
        recipe.rock is not None and recipe.rock.apex_y_m > 0,
        recipe.ceiling_y_m is None,
    )


def _is_as_demanding(harder: Recipe, easier: Recipe) -> bool:
    return all(h >= e for h, e in zip(_demand(harder), _demand(easier), strict=True))


def _demand(recipe: Recipe) -> tuple[float, ...]:
    """Numbers that make a level harder as they grow; shallow anchors help less than deep ones."""
    return (
        *recipe.gaps_m,
        recipe.loads_pg[0],
        _steepest_grade(recipe),
        recipe.rock.apex_y_m if recipe.rock else -math.inf,
        -recipe.ceiling_y_m if recipe.ceiling_y_m else -math.inf,
        -recipe.bottom_depth_m,
        -recipe.top_height_m,
        -recipe.mid_depth_m,
    )


def _steepest_grade(recipe: Recipe) -> float:
    """Largest |rise ÷ run| of the straight lines from ground to ground and over a rock above the line."""
    landings = [0.0, *(recipe.surface_y_m for _ in recipe.platform_widths_m), recipe.dy_m]
    grades = [
        abs(right - left) / gap for (left, right), gap in zip(pairwise(landings), recipe.gaps_m, strict=True)
    ]
    return max(*grades, _hump_grade(recipe.rock, recipe.span_m))


def _hump_grade(rock: Rock | None, span_m: float) -> float:
    return max(rock.apex_y_m, 0.0) / (rock.at * span_m) if rock else 0.0
