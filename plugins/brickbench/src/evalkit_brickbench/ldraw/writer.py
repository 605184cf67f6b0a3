"""Writing LDraw files: flat models from scenes, MPDs that keep their sub-models. UTF-8, CRLF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_brickbench.ldraw.colours import FIRST_DIRECT
from evalkit_brickbench.ldraw.lines import References
from evalkit_brickbench.ldraw.reader import Document
from evalkit_brickbench.scene import Floats, Ints, Scene

_LINE_END = "\r\n"
_COMMANDS = frozenset({"FILE", "NOFILE", "STEP", "ROTSTEP", "GHOST", "BUFEXCHG", "SYNTH", "MLCAD", "BFC"})


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A sub-model to be written: its file name, its title, what it places."""

    name: str
    title: str
    references: References


def references(
    names: Sequence[str], colours: Ints, matrices: Floats, positions: Floats, steps: Ints | None = None
) -> References:
    """References of n parts or sub-models by file name: `colours` [n], `matrices` [n, 3, 3], `positions`
    [n, 3] in LDU, `steps` [n] from 0, not falling (all 0 if left out)."""
    count = len(names)
    return References(
        names=tuple(names),
        colours=np.asarray(colours, dtype=np.int32),
        matrices=np.asarray(matrices, dtype=np.float64).reshape(count, 3, 3),
        positions=np.asarray(positions, dtype=np.float64).reshape(count, 3),
        lines=np.zeros(count, dtype=np.int32),
        steps=np.zeros(count, dtype=np.int32) if steps is None else np.asarray(steps, dtype=np.int32),
        ghosts=np.zeros(count, dtype=np.bool_),
    )


def models_of(document: Document) -> tuple[Model, ...]:
    """The sub-models of a document, embedded parts excluded."""
    return tuple(
        Model(block.name, block.header.title, block.references)
        for index, block in enumerate(document.blocks)
        if index == 0 or not (block.is_part or block.is_geometry)
    )


def write_ldr(scene: Scene, name: str = "model.ldr", title: str = "") -> bytes:
    """A scene as one flat model. Embedded parts follow as further files, so it's an MPD where there are any.

    Reading it back gives the same stems, colours, steps and, bit by bit, matrices and positions. Raises
    ValueError for steps that fall, numbers that aren't finite and names of several lines.
    """
    names = [file_name(stem) for stem in scene.stems]
    placed = references(names, scene.colours, scene.matrices, scene.positions, scene.steps)
    model = Model(name, title or name, placed)
    if scene.embedded:
        return write_mpd([model], scene.embedded)
    return _encode(_model_lines(model))


def write_mpd(models: Sequence[Model], embedded: Mapping[str, str] | None = None) -> bytes:
    """Models as one MPD, the first is the main one; `embedded` are texts of parts by stem. Raises ValueError
    as `write_ldr` does."""
    lines: list[str] = []
    for model in models:
        lines += [f"0 FILE {_checked(model.name)}", *_model_lines(model), "0 NOFILE"]
    for stem, text in (embedded or {}).items():
        lines += [f"0 FILE {_checked(file_name(stem))}", *text.split("\n"), "0 NOFILE"]
    return _encode(lines)


def file_name(stem: str) -> str:
    """The file name of a stem, with backslashes as LDraw has them."""
    name = stem if stem.endswith((".ldr", ".mpd")) else f"{stem}.dat"
    return name.replace("/", "\\")


def number(value: float) -> str:
    """The shortest decimal number, without exponent, that reads back as the same float."""
    shown = repr(value)
    if "e" in shown:
        return np.format_float_positional(value, unique=True, trim="-")
    return shown.removesuffix(".0")


def _model_lines(model: Model) -> list[str]:
    placed = model.references
    numbers = np.concatenate([placed.positions, placed.matrices.reshape(-1, 9)], axis=1)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{model.name}: a coordinate isn't finite; give finite LDU")
    if (np.diff(placed.steps) < 0).any():
        raise ValueError(f"{model.name}: steps fall; order the parts by step")
    lines = [
        _title_line(model.title or model.name),
        f"0 Name: {_checked(model.name)}",
        "0 !LDRAW_ORG Unofficial_Model",
    ]
    step = 0
    rows = zip(
        placed.names,
        placed.colours.tolist(),
        numbers.tolist(),
        placed.steps.tolist(),
        placed.ghosts.tolist(),
        strict=True,
    )
    for name, colour, values, at, ghost in rows:
        lines += ["0 STEP"] * (at - step)
        step = at
        start = "0 GHOST 1" if ghost else "1"
        shown = f"0x{colour:07X}" if colour >= FIRST_DIRECT else str(colour)
        lines.append(f"{start} {shown} {' '.join(map(number, values))} {_checked(name)}")
    return lines


def _title_line(title: str) -> str:
    """A title that no reader takes for a command."""
    shown = _checked(title)
    word = shown.split()[0]
    return f"0 // {shown}" if word.upper() in _COMMANDS or word.startswith("!") else f"0 {shown}"


def _checked(name: str) -> str:
    if len(name.splitlines()) != 1 or "\0" in name or not name.strip():
        raise ValueError(f"{name[:40]!r} can't be written as a name; give one line that isn't blank")
    return name.strip()


def _encode(lines: list[str]) -> bytes:
    return (_LINE_END.join(lines) + _LINE_END).encode("utf-8")
