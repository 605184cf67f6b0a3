"""Pictures and files of an episode, made from its record: what the agent built, and how it fared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evalkit import Artifact, Episode, Task
from evalkit_polybridge import executor_embedded, savefile
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.editor import editor_image
from evalkit_polybridge.frames import contact_sheet, select
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.physics import Frame, Run, simulate
from evalkit_polybridge.trajectory import Call, read_trajectory


def pictures(episode: Episode, task: Task) -> list[Artifact]:
    """Files of every call, named `call-<number>-…`.

    Of a call that brought a design: `design.json` (a reply that can be tried again) and `editor.png`; of any
    other the text it sent, `reply.txt`. Of a design that was run also `save.txt` (the encoded payload).
    A run of the embedded executor is repeated, to the same bits, for `sheet.png` and `frames.json` (which
    frames these are, and whether the repetition matches the record). The sheet has four frames, however many
    the protocol shows an agent.
    """
    level = level_from_inputs(task.inputs)
    return [artifact for call in read_trajectory(episode).calls for artifact in _of_call(level, call)]


def _of_call(level: Level, call: Call) -> list[Artifact]:
    prefix = f"call-{call.number}"
    design = call.design
    if design is None:
        return [Artifact(f"{prefix}-reply.txt", call.reply.encode(errors="replace"), "text/plain")]
    files = [
        Artifact(f"{prefix}-design.json", format_reply(design, "").encode(), "application/json"),
        Artifact(f"{prefix}-editor.png", editor_image(level, design), "image/png"),
    ]
    if call.execution is not None:
        payload = savefile.encode(design, level.name)
        files.append(Artifact(f"{prefix}-save.txt", payload.encode("ascii"), "text/plain"))
        if call.execution["executor"] == executor_embedded.ID:
            files += _of_run(prefix, level, design, call.evidence["digest"])
    return files


def _of_run(prefix: str, level: Level, design: Bridge, recorded_digest: str) -> list[Artifact]:
    run = simulate(level, design, frames=True)
    frames = run.frames or ()
    # A run with frames goes on to the last of them, one without stops when all is decided: other final bits.
    digests = (run.digest, simulate(level, design).digest)
    metadata = _metadata(run, frames) | {"matches_record": recorded_digest in digests}
    sheet = contact_sheet(level, design, frames)
    return [
        Artifact(f"{prefix}-sheet.png", sheet, "image/png"),
        Artifact(f"{prefix}-frames.json", json.dumps(metadata, indent=2).encode(), "application/json"),
    ]


def _metadata(run: Run, frames: Sequence[Frame]) -> dict[str, Any]:
    return {
        "outcome": run.outcome,
        "frames": len(frames),
        "cut_at_failure_marker": run.lost_s is not None,
        "selected": [{"index": i, "t_s": frames[i].t_s} for i in select(len(frames))],
    }
