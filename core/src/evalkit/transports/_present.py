"""What a client gets to see: an observation as text, pictures as files, calls from `key=value` words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.jsonfiles import parse_json
from evalkit.report.files import write_artifacts
from evalkit.transports._driven import DrivenEpisode, ended
from evalkit.types import Artifact, Observation, StepContext, Tool

#: A value of up to this many characters stands on the line of its name.
ONE_LINE = 80


class Pictures:
    """Writes the pictures of observations to a folder, which is made when the first one comes.

    Files are numbered by observation: `003-editor.png` belongs to the third one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._observations = 0

    def write(self, observation: Observation) -> list[Path]:
        """The files of an observation's pictures, in order; StorageError if they can't be written."""
        self._observations += 1
        if not observation.images:
            return []
        return write_artifacts(
            [
                Artifact(f"{self._observations:03}-{image.name}", image.data(), image.media_type)
                for image in observation.images
            ],
            self._folder,
        )

    def write_text(self, text: str) -> Path:
        """A file with the whole text of the last observation."""
        artifact = Artifact(f"{self._observations:03}-result.txt", text.encode("utf-8", "backslashreplace"))
        return write_artifacts([artifact], self._folder)[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client is told: `pictures` are the files of `observation.images`, `end` is empty until the end.

    `ok` is False for a mistake that the call was.
    """

    ok: bool
    observation: Observation
    pictures: Sequence[Path]
    context: StepContext
    end: str

    @classmethod
    def of(cls, episode: DrivenEpisode, observation: Observation, pictures: Pictures) -> Answer:
        """The answer to the call that showed `observation`; its pictures are written."""
        end = "" if episode.end is None else ended(episode.end)
        return cls(episode.ok, observation, pictures.write(observation), episode.context, end)

    def text(self, indent: int | None = None) -> str:
        """All of it in words; JSON in it is indented by that many blanks, or else compact."""
        return _paragraphs(observation_text(self.observation, indent), self.footer())

    def footer(self) -> str:
        """What stands below the observation: its pictures' files, and the budget or the end."""
        pictures = "\n".join(f"picture: {path}" for path in self.pictures)
        return _paragraphs(pictures, self.end or budget_text(self.context))


def observation_text(observation: Observation, indent: int | None = None) -> str:
    """An observation without its pictures in words: its text, then each field of its data by name."""
    paragraphs: list[list[str]] = []
    for name, value in observation.data.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=indent, ensure_ascii=False)
        short = len(text) <= ONE_LINE and text.isprintable()
        if short and paragraphs and len(paragraphs[-1][-1].splitlines()) == 1:
            paragraphs[-1].append(f"{name}: {text}")
        else:
            paragraphs.append([f"{name}: {text}" if short else f"{name}:\n{text}"])
    return _paragraphs(observation.text, *("\n".join(lines) for lines in paragraphs))


def budget_text(context: StepContext) -> str:
    """What is left of each limited counter, in a line; empty if nothing is limited."""
    left = (f"{_plain(name)} {left:.0f}" for name, left in context.budget_left.items())
    return f"left: {', '.join(left)}" if context.budget_left else ""


def tools_text(tools: Sequence[Tool]) -> str:
    """Each tool with what it does and its arguments."""
    return "\n".join(line for tool in tools for line in _tool_lines(tool))


def typed(tools: Sequence[Tool], name: str, pairs: Mapping[str, str]) -> dict[str, Any]:
    """`key=value` words as the arguments of a tool: text where its schema says so, otherwise JSON.

    Words that are no JSON stay text: the tool's own schema refuses them with a better message.
    """
    schema: Mapping[str, Any] = next((tool.parameters() for tool in tools if tool.name == name), {})
    properties: Mapping[str, Any] = schema.get("properties", {})
    return {key: _typed_value(value, properties.get(key, {})) for key, value in pairs.items()}


def parsed_json(text: str | bytes) -> Any:
    """The JSON value that a client sent; UsageError for anything else."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise UsageError(f"not JSON: {error}") from error


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _plain(counter: str) -> str:
    return counter.removeprefix("meter:").replace("_", " ")


def _tool_lines(tool: Tool) -> list[str]:
    schema = tool.parameters()
    required = schema.get("required", ())
    lines = [f"{tool.name}: {tool.description}"]
    for name, about in schema.get("properties", {}).items():
        kind = about.get("type", "JSON")
        words = [kind if isinstance(kind, str) else " or ".join(kind)]
        words += [] if name in required else ["optional"]
        description = f"  {about['description']}" if "description" in about else ""
        lines.append(f"  {name} ({', '.join(words)}){description}")
    return lines


def _typed_value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return parsed_json(text)
    except UsageError:
        return text
