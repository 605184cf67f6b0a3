"""`release check` against people who tamper consistently: what every document says alike is still no fact.

Here changes are made wherever they have to be made, and the manifest lists the changed files.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from evalkit_polybridge.release.check import check_release

LEVEL = "T1B_Basic_08m"
FALLEN = f"sessions/scripted*/strict/epoch-1/{LEVEL}"
CROSSED = f"sessions/truss/strict/epoch-1/{LEVEL}"

Tamper = Callable[[Any], None]
"""What is done to a `Tampered` release."""


def in_rounds(number: int, **fields: Any) -> Tamper:
    """Other fields in a round of the episode that fell."""
    return lambda release: release.edit(
        f"{FALLEN}/trajectory.json", lambda document: document["rounds"][number - 1].update(fields)
    )


def in_manifest(change: Callable[[Any], Any]) -> Tamper:
    return lambda release: release.manifest(change)


def in_feedback(number: int, **fields: Any) -> Tamper:
    return lambda release: release.edit(
        f"{FALLEN}/trajectory.json",
        lambda document: document["rounds"][number - 1]["feedback"].update(fields),
    )


def in_evidence(**fields: Any) -> Tamper:
    return lambda release: release.edit(
        f"{FALLEN}/trajectory.json",
        lambda document: document["rounds"][2]["executions"][0]["data"].update(fields),
    )


def ended(reason: str, detail: str = "", *, rounds: int = 3, where: str = FALLEN) -> Tamper:
    """An episode cut to its first rounds, with the end that it says it had."""

    def tamper(release: Any) -> None:
        release.edit(f"{where}/trajectory.json", lambda d: d.update(rounds=d["rounds"][:rounds]))
        release.edit(f"{where}/result.json", lambda d: d.update(ended={"reason": reason, "detail": detail}))

    return tamper


def declared(change: Callable[[Any], Any]) -> Tamper:
    return lambda release: release.declare(change)


def other_level(change: Callable[[Any], Any]) -> Tamper:
    """A level that is another one for every agent alike."""
    return lambda release: release.edit_all(
        f"sessions/*/strict/epoch-1/{LEVEL}/trajectory.json",
        lambda document: change(document["level_inputs"]["context"]["task_context"]),
    )


def other_budget(release: Any) -> None:
    other_level(lambda context: context.update(budget_limit=9000.0))(release)
    release.edit_all(f"sessions/*/strict/epoch-1/{LEVEL}/result.json", lambda d: d.update(budget=9000.0))
    release.manifest(lambda m: m["conditions"]["strict"]["budgets"].update({LEVEL: 9000.0}))


def other_strict_budget(release: Any) -> None:
    for name in ("trajectory", "result"):
        release.edit_all(
            f"sessions/*/strict/epoch-1/{LEVEL}/{name}.json", lambda d: d.update(strict_budget=20_000.0)
        )
    release.manifest(lambda m: m["levels"][LEVEL].update(strict_budget=20_000.0))


def strict_as_loose(release: Any) -> None:
    for session in sorted(release.folder.glob("sessions/*")):
        (session / "strict").rename(session / "loose")
    for name in ("*/*/*/summary", "*/*/*/*/result", "*/*/*/*/trajectory"):
        release.edit_all(f"sessions/{name}.json", lambda d: d.update(condition="loose"))

    def relabel(manifest: Any) -> None:
        manifest["conditions"] = {"loose": manifest["conditions"]["strict"]}
        for entry in (*manifest["sessions"], *manifest["runs"]):
            entry["condition"] = "loose"

    release.manifest(relabel)


def without_level(release: Any) -> None:
    """A level that nobody played, as far as the release tells."""
    for folder in release.folder.glob(f"sessions/*/strict/epoch-1/{LEVEL}"):
        shutil.rmtree(folder)

    def forget(manifest: Any) -> None:
        manifest["conditions"]["strict"]["budgets"].pop(LEVEL)
        manifest["conditions"]["strict"]["expected_levels"] = 1
        manifest["levels"].pop(LEVEL)
        manifest["counts"].update(episodes=2, rounds=4)

    release.manifest(forget)


def without_agent(release: Any) -> None:
    """A session that nobody played, as far as the release tells."""
    shutil.rmtree(release.folder / "sessions" / "truss")

    def forget(manifest: Any) -> None:
        manifest["sessions"] = [s for s in manifest["sessions"] if s["agent"] != "truss"]
        manifest["agents"] = [a for a in manifest["agents"] if a["id"] != "truss"]
        manifest["counts"].update(sessions=1, episodes=2, rounds=6)

    release.manifest(forget)


def without_anything(release: Any) -> None:
    shutil.rmtree(release.folder / "sessions")

    def forget(manifest: Any) -> None:
        manifest.update(sessions=[], agents=[], runs=[], conditions={}, levels={})
        manifest["counts"] = dict.fromkeys(manifest["counts"], 0)

    release.manifest(forget)


def swapped_levels(release: Any) -> None:
    """The rounds of one level told as those of another."""
    here, there = (release.find(f"sessions/truss/strict/epoch-1/{name}*") for name in ("T1B", "T2D"))
    documents = [json.loads((folder / "trajectory.json").read_text()) for folder in (here, there)]
    for folder, document, other in zip((here, there), documents, reversed(documents), strict=True):
        swapped = {**document, "rounds": other["rounds"]}
        (folder / "trajectory.json").write_text(json.dumps(swapped))


def another_agent(release: Any) -> None:
    """The session of `truss` once more, under a name of its own."""
    copy = release.folder / "sessions" / "better"
    shutil.copytree(release.folder / "sessions" / "truss", copy)
    release.edit_all(
        "sessions/better/**/*.json", lambda d: d.update(agent="better") if "agent" in d else None
    )
    release.edit("sessions/better/*/*/summary.json", lambda d: d["agent_entry"].update(id="better"))

    def add(manifest: Any) -> None:
        manifest["sessions"].append({"agent": "better", "condition": "strict", "epoch": 1})
        manifest["agents"].append({**manifest["agents"][-1], "id": "better"})
        manifest["counts"].update(sessions=3, episodes=6, rounds=10)

    release.manifest(add)


def as_the_game(release: Any) -> None:
    release.manifest(
        lambda m: m["executors"].update({"polybridge.native": m["executors"].pop("polybridge.embedded")})
    )


def listed_note(release: Any) -> None:
    (release.folder / "notes.txt").write_text("hello")


def leftover_round(release: Any) -> None:
    shutil.copytree(release.find(f"{CROSSED}/round-1"), release.find(CROSSED) / "round-2")


def frames_of_another_run(release: Any) -> None:
    shutil.copy(release.find(f"{CROSSED}/round-1/frames.json"), release.find(f"{FALLEN}/round-3/frames.json"))


LEGAL_AS_MISTAKE = in_rounds(
    3, mistake="arguments", design=None, executions=[], outcome="V", feedback=None, violations=[]
)
ADVICE = [{"code": "PARSE_ERROR", "message": "there is no JSON object", "advisory": True}]

ATTACKS: dict[str, tuple[str, str, Tamper]] = {
    "a fall told as a mistake": ("verdict", "the reply is a legal design", LEGAL_AS_MISTAKE),
    "a mistake with a design": ("verdict", "and has design", in_rounds(2, mistake="arguments")),
    "a mistake with a run": ("verdict", "and has executions", in_rounds(3, mistake="unknown_tool")),
    "a mistake with violations": ("verdict", "and has violations", in_rounds(1, mistake="arguments")),
    "a mistake of its own": ("verdict", "no mistake 'bad luck'", in_rounds(1, mistake="bad luck")),
    "a mistake with feedback": ("protocol", "never reached", in_rounds(1, mistake="arguments")),
    "a violation as advice": ("verdict", "(advice)", in_rounds(1, violations=ADVICE, outcome="?")),
    "a violation in other words": (
        "verdict",
        "told otherwise",
        lambda release: release.edit(
            f"{CROSSED}/trajectory.json",
            lambda d: d["rounds"].insert(0, illegal_round(d["rounds"][0])),
        ),
    ),
    "a legal design not run": ("verdict", "a legal design was not run", in_rounds(3, executions=[])),
    "a limit of four calls": (
        "protocol",
        "deviations aren't those",
        declared(lambda c: c["limits"].update(calls=4, tool_calls=4)),
    ),
    "no limit of runs": (
        "protocol",
        "deviations aren't those",
        declared(lambda c: c["limits"].pop("executions")),
    ),
    "no rules": ("protocol", "deviations aren't those", declared(lambda c: c["validators"].clear())),
    "advice nobody knows of": (
        "protocol",
        "deviations aren't those",
        declared(lambda c: c["settings"].update(hints=True)),
    ),
    "a lighter vehicle for all": (
        "level",
        "than the installed one",
        other_level(lambda context: context["vehicle_weights_pg"].__setitem__(0, 1.0)),
    ),
    "a cheaper price for all": (
        "level",
        "than the installed one",
        other_level(lambda context: context.update(material_profile="cheap")),
    ),
    "a budget for all": ("budget", "its budget is $6500.0", other_budget),
    "costs compared to another budget": ("level", "the installed catalogue", other_strict_budget),
    "a strict run as a loose one": ("budget", "names another budget", strict_as_loose),
    "a level in another group": (
        "level",
        "the installed catalogue",
        in_manifest(lambda m: m["levels"][LEVEL].update(group="G")),
    ),
    "a level left out everywhere": ("missing level", f"suite has {LEVEL}", without_level),
    "an agent left out everywhere": ("missing session", "a run of the manifest has it", without_agent),
    "an epoch left out everywhere": (
        "missing session",
        "a run of the manifest has it",
        in_manifest(lambda m: m["runs"][0].update(epochs=2)),
    ),
    "an empty release": ("count", "holds no episode", without_anything),
    "a constant": (
        "protocol",
        "don't have their hash",
        in_manifest(lambda m: m["executors"]["polybridge.embedded"]["constants"].update(PG_PN=45.0)),
    ),
    "a hash of constants": (
        "protocol",
        "two versions or hashes",
        in_manifest(lambda m: m["executors"]["polybridge.embedded"].update(constants_sha256="0" * 64)),
    ),
    "an executor unnamed": (
        "protocol",
        "other executors than its predicate",
        in_manifest(lambda m: m["executors"].clear()),
    ),
    "a game that wasn't played": ("protocol", "the game", in_manifest(lambda m: m.update(game="1.0"))),
    "feedback left out": ("protocol", "no feedback", in_rounds(2, feedback=None)),
    "a hint": ("protocol", "feedback hint", in_feedback(3, hint="member 6 broke first")),
    "another duration": ("protocol", "feedback duration_s", in_feedback(3, duration_s=12.0)),
    "a picture after a refusal": ("protocol", "pictures", in_feedback(2, pictures=["contact_sheet.png"])),
    "a refused draft shown": ("protocol", "save_members", in_feedback(2, save_members=4)),
    "no round at all": ("limit", "at 0", ended("limit", "calls: limit 3, observed 3", rounds=0)),
    "a round cut off": ("limit", "at 2", ended("limit", "calls: limit 3, observed 3", rounds=2)),
    "done without a success": ("limit", "ended as 'done' after VV", ended("done", rounds=2)),
    "stopped after a success": ("limit", "after S", ended("agent_stopped", where=CROSSED)),
    "a limit of something else": ("limit", "none is declared", ended("limit", "tokens: limit 5", rounds=1)),
    "an error as a result": ("limit", "has no result", ended("model_error", rounds=1)),
    "a fall as a timeout": ("verdict", "lost_s", in_evidence(outcome="timeout")),
    "rounds of another level": ("design", "save.txt", swapped_levels),
    "an agent twice": ("misplaced", "didn't play", another_agent),
    "an agent described twice": (
        "duplicate",
        "the agents it describes",
        in_manifest(lambda m: m["agents"].append({**m["agents"][0], "version": "9"})),
    ),
    "an agent described otherwise": (
        "protocol",
        "describes its agent otherwise",
        in_manifest(lambda m: m["agents"][-1].update(version="9")),
    ),
    "a run twice": ("duplicate", "lists a run twice", in_manifest(lambda m: m["runs"].append(m["runs"][0]))),
    "another run": (
        "misplaced",
        "which the manifest lacks",
        in_manifest(lambda m: m["runs"][0].update(name="another")),
    ),
    "another seed": ("protocol", "seed", in_manifest(lambda m: m["runs"][0].update(seed=7))),
    "a field of a result": (
        "form",
        "has a field that no release has: 'bonus'",
        lambda release: release.edit(f"{FALLEN}/result.json", lambda d: d.update(bonus=1)),
    ),
    "a field of a round": ("form", "no release has: 'verified'", in_rounds(1, verified=True)),
    "a field too few": ("form", "lacks a field: 'packages'", in_manifest(lambda m: m.pop("packages"))),
    "another benchmark": ("protocol", "not of polybridge", in_manifest(lambda m: m.update(benchmark={}))),
    "a run told as the game's": ("protocol", "are not the calibration", as_the_game),
    "a wealth of epochs": (
        "missing session",
        "a run of the manifest has it",
        in_manifest(lambda m: m["runs"][0].update(epochs=10**15)),
    ),
    "a file that the manifest lists": ("extra file", "no episode has such a file", listed_note),
    "the files of a round that wasn't": ("extra file", "no episode has such a file", leftover_round),
    "frames of another run": ("protocol", "other frames", frames_of_another_run),
    "a picture left out everywhere": (
        "missing file",
        "lists no such picture",
        lambda release: release.find(f"{FALLEN}/round-3/contact_sheet.png").unlink(),
    ),
}
"""What was done → the kind of finding that has to name it, and a part of its text."""


def illegal_round(legal: Any) -> Any:
    """A round before the given one: its design with a member twice, refused in the words of somebody else."""
    reply = json.loads(legal["reply"])
    reply["edges"].append({**reply["edges"][-1], "id": reply["edges"][-1]["id"] + 1})
    design = json.loads(json.dumps(legal["design"]))
    design["edges"].append({**design["edges"][-1], "id": design["edges"][-1]["id"] + 1})
    violation = {"code": "DUPLICATE_EDGE", "message": "the model is at fault", "ids": [1]}
    told = {"reply": json.dumps(reply), "design": design, "violations": [violation], "executions": []}
    feedback = {"kind": "rejected", "pictures": ["editor.png"], "save_members": 0}
    return {**legal, **told, "outcome": "V", "feedback": feedback}


@pytest.mark.parametrize("what", ATTACKS)
def test_a_consistent_change_is_found(tampered: Any, what: str) -> None:
    kind, words, tamper = ATTACKS[what]
    tamper(tampered)
    tampered.seal()
    found = [finding.text() for finding in check_release(tampered.folder).findings]
    assert any(text.startswith(f"{kind}: ") and words in text for text in found), found
