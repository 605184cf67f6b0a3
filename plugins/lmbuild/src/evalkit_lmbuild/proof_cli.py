"""`evalkit lmbuild proof`."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Prove that references score high and broken ones fall.")
@click.argument("objects", nargs=-1, metavar="[OBJECT]...")
@click.option("--variant", "variants", multiple=True, help="Only this broken variant. Repeatable.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to write.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def proof(objects: tuple[str, ...], variants: tuple[str, ...], jobs: int, form: str, as_json: bool) -> None:
    """Score the references of OBJECTs (default: all embedded ones), and each broken in many ways.

    A part is taken away, a joint's axis turned, a part left afloat, the sequence reversed … Each variant
    names the metrics that have to fall by 0.1; all others stay within 0.03 or are listed with the reason.
    Whatever is not as it should be is printed with its written reason; without one the command fails.

    \b
    Examples:
      evalkit lmbuild proof
      evalkit lmbuild proof keepsake_box --variant "motion blocked"
      evalkit lmbuild proof --format markdown > proof.md
    """
    from dataclasses import asdict

    from evalkit.report import to_csv, to_json, to_markdown, to_text
    from evalkit.report.formats import write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_lmbuild.proof.running import Proof, findings, prove_all, written_reasons
    from evalkit_lmbuild.proof.tables import all_tables, averages

    tasks = _known(objects, variants)

    def done(each: Proof) -> None:
        click.echo(f"{each.object}: {len(each.variants)} variants", err=True)

    proofs = prove_all(tasks, variants or None, min(jobs, len(tasks)), done)
    found = findings(proofs, written_reasons())
    if as_json or form == "json":
        document = {"averages": averages(proofs), "objects": list(map(asdict, proofs))}
        write_text(to_json(document | {"findings": list(map(asdict, found))}), sys.stdout, colour=False)
    elif form == "table":
        write_text(to_text(all_tables(proofs, found), terminal_width()), sys.stdout)
    else:
        write = to_csv if form == "csv" else to_markdown
        write_text(write(all_tables(proofs, found)), sys.stdout, colour=False)
    if any(not each.reason for each in found):
        sys.exit(1)


def _known(objects: tuple[str, ...], variants: tuple[str, ...]) -> list[str]:
    """Names of the objects to prove; UsageError for a name that doesn't exist."""
    from evalkit import UsageError
    from evalkit_lmbuild.proof.running import object_names
    from evalkit_lmbuild.proof.variants import VARIANTS

    known, kinds = object_names(), [variant.name for variant in VARIANTS]
    for name in objects:
        if name not in known:
            raise UsageError(f"there is no object {name!r}; there are {', '.join(known)}")
    for name in variants:
        if name not in kinds:
            raise UsageError(f"there is no variant {name!r}; there are {', '.join(kinds)}")
    return list(objects) or list(known)
