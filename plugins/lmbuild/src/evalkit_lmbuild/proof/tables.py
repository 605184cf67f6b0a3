"""What the proof comes to, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.report import Cell, Column, Table
from evalkit_lmbuild.proof.running import Finding, Proof, change_of
from evalkit_lmbuild.proof.scores import SCORED
from evalkit_lmbuild.proof.variants import FALL, STILL, VARIANTS, Variant

LEVELS = {"S": ("S.1", "S.2", "S.3"), "A": ("A.1", "A.2", "A.3"), "R.1": ("R.1",), "R.3": ("R.3",)}
"""What has to average at least 0.9 over all references."""


def all_tables(proofs: Sequence[Proof], found: Sequence[Finding]) -> list[Table]:
    """References, variants, reasons, and what isn't as it should be."""
    return [references_table(proofs), variants_table(proofs), reasons_table(), findings_table(found)]


def averages(proofs: Sequence[Proof]) -> dict[str, float]:
    """S, A, R.1 and R.3 over the references: a mean over objects per metric, then over metrics."""
    found = {}
    for name, metrics in LEVELS.items():
        cells = [mean for metric in metrics if (mean := _mean(proofs, metric)) is not None]
        found[name] = sum(cells) / len(cells) if cells else 0.0
    return found


def references_table(proofs: Sequence[Proof]) -> Table:
    """A row per object, the mean at the end."""
    rows: list[tuple[Cell, ...]] = [
        (proof.object, *(_figure(proof.reference[metric]) for metric in SCORED)) for proof in proofs
    ]
    rows.append(("mean", *(_figure(_mean(proofs, metric)) for metric in SCORED)))
    levels = ", ".join(f"{name} {value:.3f}" for name, value in averages(proofs).items())
    return Table(
        "lmbuild.proof.references",
        "References",
        (Column("object"), *_right(SCORED)),
        tuple(rows),
        f"{len(proofs)} objects; averages: {levels}. D.1 and D.3: computed halves. –: doesn't apply.",
    )


def variants_table(proofs: Sequence[Proof]) -> Table:
    """A row per variant: the falls of metrics that have to fall, the mean change of the others."""
    rows: list[tuple[Cell, ...]] = []
    for variant in VARIANTS:
        broken = [proof for proof in proofs if proof.variants.get(variant.name) is not None]
        cells = [_cell(variant, metric, broken) for metric in SCORED]
        rows.append((variant.name, len(broken), *cells))
    note = (
        "Changes over the objects that can be broken so. Two numbers, the largest and the smallest fall: has "
        f"to fall by {FALL:g} on each. One number, the mean: in brackets where it may change, for the reason "
        f"below, by no more than {STILL:g} upwards; plain where it has to stay within {STILL:g} on "
        "each."
    )
    columns = (Column("variant"), *_right(("objects", *SCORED)))
    return Table("lmbuild.proof.variants", "Broken variants", columns, tuple(rows), note)


def reasons_table() -> Table:
    """What each variant does, and why further metrics may change."""
    rows: list[tuple[Cell, ...]] = []
    for variant in VARIANTS:
        why = "; ".join(f"{metric}: {reason}" for metric, reason in variant.may.items())
        rows.append((variant.name, variant.what, ", ".join(variant.must), why))
    columns = tuple(Column(name) for name in ("variant", "what is done", "has to fall", "may change"))
    return Table("lmbuild.proof.reasons", "What variants do", columns, tuple(rows))


def findings_table(found: Sequence[Finding]) -> Table:
    """What isn't as it should be, with the written reason."""
    rows = tuple(
        (
            each.variant,
            each.object,
            each.metric,
            _figure(each.change),
            each.should,
            each.reason or "NO REASON",
        )
        for each in found
    )
    columns = tuple(Column(name) for name in ("variant", "object", "metric", "is", "should", "reason"))
    without = sum(not each.reason for each in found)
    return Table(
        "lmbuild.proof.findings",
        "What isn't as it should be",
        columns,
        rows,
        f"{len(found)} cases, {without} without a written reason",
    )


def _cell(variant: Variant, metric: str, broken: Sequence[Proof]) -> str:
    changes = []
    for proof in broken:
        scores = proof.variants[variant.name]
        change = None if scores is None else change_of(proof.reference, scores, metric)
        if change is not None:
            changes.append(change)
    if not changes:
        return "–"
    mean = _signed(sum(changes) / len(changes))
    if metric in variant.must:
        return f"{_signed(min(changes))} … {_signed(max(changes))}"
    if metric in variant.may:
        return f"({mean})"
    return mean


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}".replace("-", "−").replace("+0.00", "0")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _mean(proofs: Sequence[Proof], metric: str) -> float | None:
    known = [value for proof in proofs if (value := proof.reference[metric]) is not None]
    return sum(known) / len(known) if known else None


def _right(names: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(name, "right") for name in names)
