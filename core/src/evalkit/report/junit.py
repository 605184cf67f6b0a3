"""Runs as JUnit XML, which CI systems show as tests: a suite per run, a case per episode.

An episode fails if the first metric of its suite that looks at single episodes says so: a value below 1 in
a proportion, 0 in any other metric (the other way round where lower is better, and there only in a
proportion). It is an error if it ended in one or can't be scored, and skipped if it wasn't played or the
metric has no value for it.
"""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evalkit.errors import END_POLICIES, EndReason, RecordError
from evalkit.hookspecs import MetricSpec
from evalkit.plugins import Plugins
from evalkit.report.episode import LETTERS, outcome, was_refused
from evalkit.report.table import printable
from evalkit.run.scoring import RunScores, benchmark_of, metric_specs, score_run
from evalkit.store.reader import IndexLine, RunReader
from evalkit.types import Episode, EpisodeKey, Score

#: Longer texts are cut: error messages may quote whatever an agent wrote.
MOST_CHARACTERS = 4000

Kind = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class _Case:
    """An episode as a test; `kind` is None if it passed."""

    key: EpisodeKey
    seconds: float
    kind: Kind | None = None
    message: str = ""
    text: str = ""


def junit_xml(readers: Sequence[RunReader], plugins: Plugins) -> bytes:
    """The runs as one XML document. PluginError if a run's plugin can't be used."""
    root = ET.Element("testsuites", name="evalkit")
    suites = [_suite(reader, _cases(reader, plugins)) for reader in readers]
    root.extend(suites)
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _cases(reader: RunReader, plugins: Plugins) -> list[_Case]:
    names = list(reader.manifest["protocol"]["metrics"])
    specs = metric_specs(plugins, benchmark_of(reader), names).values()
    spec = next((spec for spec in specs if spec.scope == "episode"), None)
    scores = score_run(reader, plugins, [spec.id] if spec is not None else [])
    index = reader.index()
    return [_case(reader, key, index.get(key), spec, scores) for key in reader.planned()]


def _case(
    reader: RunReader, key: EpisodeKey, line: IndexLine | None, spec: MetricSpec | None, scores: RunScores
) -> _Case:
    if line is None:
        return _Case(key, 0.0, "skipped", "not played")
    try:
        episode = reader.episode(key)
    except RecordError as error:
        return _Case(key, 0.0, "error", f"can't be read: {error}")
    seconds = float(episode.end.get("seconds", 0.0))
    if END_POLICIES[EndReason(line["end"]["reason"])].error:
        return _Case(key, seconds, "error", _why(line["end"]), _told(reader, episode))
    if key in scores.unscored:
        return _Case(key, seconds, "error", f"unscored: {scores.unscored[key]}")
    if spec is None:
        return _Case(key, seconds)
    kind, message = _judged(spec, scores.episode_scores[spec.id][key])
    return _Case(key, seconds, kind, message, _told(reader, episode) if kind else "")


def _judged(spec: MetricSpec, score: Score) -> tuple[Kind | None, str]:
    if score.value is None:
        why = score.evidence.get("why") or score.evidence.get("error") or ""
        message = f"{spec.label}: {score.status.replace('_', ' ')}" + (f" ({why})" if why else "")
        return "error" if score.status == "unscored" else "skipped", message
    if spec.kind == "proportion":
        failed = score.value < 1 if spec.higher_is_better else score.value > 0
    else:
        failed = score.value == 0 and spec.higher_is_better
    return ("failure", f"{spec.label} is {score.value:g}") if failed else (None, "")


def _why(end: Mapping[str, Any]) -> str:
    return f"{end['reason']}: {end.get('detail', '')}".removesuffix(": ")


def _told(reader: RunReader, episode: Episode) -> str:
    """How the episode went, in a few lines, and where to read more."""
    lines = [f"ended: {_why(episode.end)}"]
    if letters := outcome(episode):
        lines.append(f"outcome: {letters}   ({LETTERS})")
    for turn in episode.turns():
        if was_refused(turn):
            data = (turn.result or {}).get("data", {})
            why = episode.load(data.get("message") or data.get("error", ""))
            lines.append(f"call {turn.number}: refused: {why}".removesuffix(": "))
        found = (turn.violations or {}).get("violations", ())
        lines += [f"call {turn.number}: {v['code']}: {v['message']}" for v in found if not v.get("advisory")]
    lines.append(f"evalkit show {reader.name} {episode.key.text()}")
    return "\n".join(lines)


def _suite(reader: RunReader, cases: Sequence[_Case]) -> ET.Element:
    manifest = reader.manifest
    kinds = [case.kind for case in cases]
    created = datetime.datetime.fromisoformat(manifest["created"])
    suite = ET.Element(
        "testsuite",
        name=_text(manifest["suite"]["name"]),
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
        time=f"{sum(case.seconds for case in cases):.3f}",
        timestamp=created.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (("run", reader.name), ("protocol_hash", manifest["protocol_hash"])):
        ET.SubElement(properties, "property", name=name, value=_text(value))
    for case in cases:
        suite.append(_element(manifest["suite"]["name"], case))
    return suite


def _element(suite: str, case: _Case) -> ET.Element:
    element = ET.Element(
        "testcase", classname=_text(suite), name=_text(case.key.text()), time=f"{case.seconds:.3f}"
    )
    if case.kind is not None:
        child = ET.SubElement(element, case.kind, message=_text(" ".join(case.message.split())))
        if case.text:
            child.text = _text(case.text)
    return element


def _text(text: str) -> str:
    """The text without characters that XML can't hold, cut to a bearable length."""
    safe = printable(text)
    return safe if len(safe) <= MOST_CHARACTERS else safe[:MOST_CHARACTERS] + " …"
