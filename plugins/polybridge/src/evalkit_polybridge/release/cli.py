"""`evalkit polybridge release` and `export-paper`."""

from __future__ import annotations

import json
from pathlib import Path

import click

_OUTPUT = click.Path(path_type=Path, file_okay=False)


@click.group(short_help="Write and check audited releases of runs.")
def release() -> None:
    """Releases: runs as files that others can check.

    \b
    Examples:
      evalkit polybridge release write latest -o release
      evalkit polybridge release check release --simulate
    """


@release.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", type=_OUTPUT, required=True, help="The folder to make.")
@click.option(
    "--images",
    default="",
    metavar="FILE.zip|none",
    help="Pack the pictures into a file of their own, or leave them out. Default: beside the designs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def write(runs: tuple[str, ...], output: Path, images: str, as_json: bool) -> None:
    """Write the episodes of RUNs into a new folder: a manifest, and every session in the paper's layout.

    The runs have to share one protocol, but for the budgets, and to be complete. API keys, authentication
    headers and local paths are taken out of every text. Equal records give equal bytes.

    \b
    Examples:
      evalkit polybridge release write 20260131-strict 20260131-loose -o release
      evalkit polybridge release write latest -o release --images release-images.zip
    """
    from evalkit_polybridge.release.gather import gather
    from evalkit_polybridge.release.write import NO_IMAGES, write_release

    document = write_release(gather(runs), output, images)
    _name_leftovers(output, *([] if images in ("", NO_IMAGES) else [Path(images)]))
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    counts, pictures = document["counts"], document["images"]
    click.echo(
        f"{counts['episodes']} episodes of {counts['sessions']} sessions, {len(document['files'])} files, "
        f"{len(pictures['files'])} pictures ({pictures['where']}) in {output}"
    )


@release.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--images",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.zip",
    help="The file of packed pictures. Default: the one that the manifest names, beside FOLDER.",
)
@click.option("--simulate", is_flag=True, help="Also run every design again; what can't be is a fault.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(folder: Path, images: Path | None, simulate: bool, as_json: bool) -> int:
    """Check a release from its files alone; exit code 1 if anything is wrong, 2 if it is no release.

    Files have to be those of the manifest and free of secrets; every reply is read and validated again, and
    counters, scores, budgets, limits and feedback have to follow from the trajectories.

    \b
    Examples:
      evalkit polybridge release check release
      evalkit polybridge release check release --simulate --json
    """
    from evalkit.report import printable
    from evalkit_polybridge.release.check import check_release
    from evalkit_polybridge.words import counted

    found = check_release(folder, images=images, simulate=simulate)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        for finding in found.findings:
            click.echo(printable(finding.text()))
        for note in found.notes:
            click.echo(printable(f"note: {note}"))
        again = f", {counted(found.simulated, 'design')} simulated again" if simulate else ""
        verdict = counted(len(found.findings), "fault") if found.findings else "no fault"
        size = f"{counted(found.files, 'file')}, {counted(found.episodes, 'episode')}"
        click.echo(f"{folder}: {size}{again}: {verdict}")
    return 0 if found.clean else 1


@click.command(name="export-paper", short_help="Write a run in the paper's layout.")
@click.argument("run")
@click.option("-o", "--output", type=_OUTPUT, required=True, help="The folder to make.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export_paper(run: str, output: Path, as_json: bool) -> None:
    """Write the sessions of RUN into a new folder as the paper lays them out.

    `summary.json` per session; per level `result.json`, `trajectory.json` and a folder for every round. It is
    what a release holds, without the manifest.

    \b
    Examples:
      evalkit polybridge export-paper latest -o paper
    """
    from evalkit_polybridge.release import write as writing
    from evalkit_polybridge.release.gather import gather

    gathered = gather([run])
    files = writing.export_paper(gathered, output)
    _name_leftovers(output)
    if as_json:
        click.echo(json.dumps({"folder": str(output), "sessions": len(gathered.sessions), "files": files}))
    else:
        click.echo(f"{len(gathered.sessions)} sessions, {files} files in {output}")


def _name_leftovers(*outputs: Path) -> None:
    """Say what is left beside the outputs by a writer that was killed."""
    from evalkit_polybridge.release.write import leftovers

    for path in leftovers(*outputs):
        click.echo(
            f"{path} is left from a writing that broke off: delete it if nothing writes there", err=True
        )
