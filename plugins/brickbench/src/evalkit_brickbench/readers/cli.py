"""`evalkit brickbench import`: designs of other systems as LDraw files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalkit import UsageError
from evalkit_brickbench.writing import write_whole

MODEL = "model.mpd"
"""The file of a design in a folder of submissions."""


@click.command(name="import", short_help="Designs of BrickNet and BrickGPT as LDraw files.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="PATH", help="Where to write."
)
@click.option(
    "--colour",
    type=click.IntRange(0, 511),
    default=71,
    show_default=True,
    metavar="CODE",
    help="LDraw colour of lists of bricks, which name none.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")  # fmt: skip
def import_designs(file: Path, output: Path, colour: int, as_json: bool) -> None:
    """Turn BrickNet's path text or BrickGPT's list of bricks into LDraw files.

    FILE is one design, which becomes the file PATH; or rows of JSON (.jsonl), {"id": "model-001", "text": …},
    which become PATH/ID/model.mpd, a folder per task. Of several rows for one id the first counts. Rows that
    can't be read are named and left out: their builds are missing.

    \b
    Examples:
      evalkit brickbench import sample.txt -o sample.ldr
      evalkit brickbench import bricknet.jsonl -o bricknet
      evalkit run brickbench.official --agent submission:bricknet
      evalkit try brickbench.model sample.txt
    """
    from evalkit_brickbench.readers.errors import ReaderError

    try:
        if file.suffix == ".jsonl":
            written, problems = _import_rows(file, output, colour)
        else:
            written, problems = [_import_one(file, output, colour)], []
    except OSError as error:
        raise UsageError(f"can't use {error.filename}: {error.strerror}") from error
    except ReaderError as error:
        raise UsageError(f"{file}: {error}") from error
    if not written:
        raise UsageError(f"{file}: no row could be read; {problems[0] if problems else 'it is empty'}")
    for problem in problems:
        click.echo(f"left out: {problem}", err=True)
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in written], "left_out": problems}, indent=2))
    else:
        click.echo(f"{len(written)} designs in {output}, {len(problems)} left out")


def _import_one(file: Path, output: Path, colour: int) -> Path:
    from evalkit_brickbench.readers.samples import LARGEST_TEXT, as_ldraw

    with open(file, "rb") as opened:
        data = opened.read(LARGEST_TEXT + 1)
    found = as_ldraw(data, file.name, colour)
    if found is data:
        raise UsageError(f"{file} is neither BrickNet's path text nor BrickGPT's list of bricks")
    write_whole(output, found)
    return output


def _import_rows(file: Path, folder: Path, colour: int) -> tuple[list[Path], list[str]]:
    """The files written, and why the other rows weren't."""
    from evalkit_brickbench.ldraw.writer import write_ldr
    from evalkit_brickbench.readers.errors import ReaderError
    from evalkit_brickbench.readers.samples import read_samples, read_scene

    written: dict[str, Path] = {}
    problems: list[str] = []
    seen: set[str] = set()
    for sample in read_samples(file):
        if isinstance(sample, ReaderError):
            problems.append(str(sample))
        elif sample.id in seen:
            problems.append(f"row {sample.row}: {sample.id} came before")
        else:
            seen.add(sample.id)
            try:
                scene = read_scene(sample.text, colour)
            except ReaderError as error:
                problems.append(f"row {sample.row}, {sample.id}: {error}")
                continue
            path = folder / sample.id / MODEL
            write_whole(path, write_ldr(scene, title=sample.id))
            written[sample.id] = path
    return list(written.values()), problems
