"""Running the designs of a release again."""

from __future__ import annotations

from evalkit import sha256_of
from evalkit_polybridge.designs import bridge_from_json
from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.check_context import Context, Ran
from evalkit_polybridge.release.manifest import MANIFEST
from evalkit_polybridge.words import counted


def simulate_designs(context: Context) -> None:
    """Run every design again; runs that can't be made again as they were are a finding.

    These are runs of the embedded executor under other constants than the installed ones, and those of any
    other executor: who asks for a simulation is not to take their verdicts for confirmed.
    """
    from evalkit_polybridge.constants import physics_constants
    from evalkit_polybridge.executor_embedded import evidence_of
    from evalkit_polybridge.physics import simulate

    installed = sha256_of(physics_constants())
    again: dict[tuple[Level, str], dict[str, object]] = {}
    foreign = 0
    for ran in context.runs:
        if ran.execution["constants_sha256"] != installed:
            foreign += 1
            continue
        key = (ran.level, sha256_of(ran.design))
        with context.report.guarded(ran.where):
            if key not in again:
                bridge = bridge_from_json(ran.design)
                again[key] = evidence_of(bridge, simulate(ran.level, bridge))
            _compare(context, ran, again[key])
    context.report.simulated = len(again)
    unconfirmed = {f"of {executor}": runs for executor, runs in sorted(context.foreign.items())}
    for which, runs in ({"made with other constants": foreign} | unconfirmed).items():
        if runs:
            told = f"{counted(runs, 'run')} {which} can't be simulated here"
            context.report.find("simulation", MANIFEST, told)


def _compare(context: Context, ran: Ran, again: dict[str, object]) -> None:
    recorded = ran.execution["data"]
    if recorded["outcome"] != again["outcome"]:
        context.report.find(
            "simulation",
            ran.where,
            f"recorded is {recorded['outcome']!r}, simulated again it ends {again['outcome']!r}",
        )
        return
    names = [name for name in sorted({**recorded, **again}) if recorded.get(name) != again.get(name)]
    if names:
        context.report.find(
            "simulation", ran.where, f"the same verdict, but not the same run ({', '.join(names)})"
        )
