"""Does a build stand? Evidence by screen and simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Candidate, Execution, Task
from evalkit_brickbench.designs import look
from evalkit_brickbench.inspection import tools
from evalkit_brickbench.pictures import sheet
from evalkit_brickbench.report import as_json
from evalkit_brickbench.settings import settings_of
from evalkit_brickbench.specs import STABILITY
from evalkit_brickbench.stability.constants import as_dict
from evalkit_brickbench.stability.simulation import available_engine, engine_version

FIELDS = (
    "stable",
    "stability_method",
    "max_displacement_ldu",
    "stability",
    "parts",
    "distinct_parts",
    "part_colour_counts",
    "components",
    "component_sizes",
    "connection_edges",
    "providers",
)


class StabilityExecutor:
    """Judges whether every component of a build stays where it is."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)

    def constants(self) -> Mapping[str, Any]:
        """Constants of the method, the sources of geometry and connectors, and the engine."""
        protocol = self._settings.protocol()
        engine = available_engine(protocol.engine)
        return {
            **as_dict(),
            "sources": tools(protocol).ids(),
            "engine": engine_version(engine),
            "undetermined": self._settings.undetermined,
        }

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """The verdict, with the parts at fault."""
        found = look(candidate, self._settings, stand=True)
        stability = found.stability
        stable = None if stability is None else stability.stable
        success = self._settings.undetermined == "stable" if stable is None else stable
        report = as_json(found)
        return Execution(
            success,
            {name: report[name] for name in FIELDS},
            tuple(sheet(found)) if pictures else (),
            STABILITY.id,
        )
