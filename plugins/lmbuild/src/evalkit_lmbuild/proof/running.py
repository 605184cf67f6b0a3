"""Scoring references and their variants, in processes side by side, and judging what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from evalkit_lmbuild.objects import object_facts
from evalkit_lmbuild.proof.scores import SCORED, scores_of
from evalkit_lmbuild.proof.variants import FALL, STILL, VARIANTS, Variant
from evalkit_lmbuild.tasks import HERE, OBJECTS, embedded_document

REASONS = HERE / "reasons.json"
"""Written reasons: `references` by object and metric, `variants` by variant, object and metric."""
LEAST = 0.7
"""A reference that scores less in any metric needs a written reason."""
Scores = Mapping[str, float | None]
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """A metric of a variant of an object that doesn't do what it should; `reason` where one is written."""

    variant: str
    object: str
    metric: str
    change: float | None
    should: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Scores of an object: `reference` by metric, `variants` by name (None: it can't be broken so)."""

    object: str
    family: str
    reference: Scores
    variants: Mapping[str, Scores | None]


def object_names() -> list[str]:
    """The embedded objects, by whose names their files are called."""
    return sorted(path.stem for path in OBJECTS.glob("*.json"))


def prove(task: str, names: Sequence[str] | None = None) -> Proof:
    """Score an object's reference and its variants (`names`: only these). KeyError for an unknown object."""
    document = embedded_document(task)
    if document is None:
        raise KeyError(task)
    facts = object_facts(document)
    reference = facts.reference
    if reference is None:
        raise KeyError(f"{task} has no reference")
    found: dict[str, Scores | None] = {}
    for variant in VARIANTS:
        if names is None or variant.name in names:
            broken = variant.breaks(reference, facts)
            found[variant.name] = None if broken is None else scores_of(broken, facts)
    return Proof(task, facts.family, scores_of(reference, facts), found)


def prove_all(
    tasks: Sequence[str],
    names: Sequence[str] | None = None,
    jobs: int = 1,
    done: Callable[[Proof], None] = lambda proof: None,
) -> list[Proof]:
    """Proofs of several objects, in order; `done` hears of each as it comes."""
    proofs = []
    if jobs == 1:
        for task in tasks:
            proofs.append(prove(task, names))
            done(proofs[-1])
        return proofs
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for proof in pool.map(partial(prove, names=names), tasks):
            proofs.append(proof)
            done(proof)
    return proofs


def written_reasons(path: Path = REASONS) -> dict[str, dict[str, dict[str, str]]]:
    """The written reasons: `references` {object: {metric: reason}}, and {object: …} by variant."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return {"references": data["references"], **data["variants"]}


def findings(
    proofs: Sequence[Proof], reasons: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> list[Finding]:
    """Everything that isn't as it should be, with its written reason if there is one."""
    found = []
    for proof in proofs:
        for metric in SCORED:
            value = proof.reference[metric]
            if value is not None and value < LEAST:
                why = reasons["references"].get(proof.object, {}).get(metric, "")
                found.append(Finding("reference", proof.object, metric, value, f"at least {LEAST:g}", why))
        for variant in VARIANTS:
            scores = proof.variants.get(variant.name)
            if scores is not None:
                written = reasons.get(variant.name, {}).get(proof.object, {})
                found += _of_variant(proof, variant, scores, written)
    return found


def change_of(reference: Scores, broken: Scores, metric: str) -> float | None:
    """What a variant changes in a metric; None where it doesn't apply to the reference or to the variant."""
    before, after = reference[metric], broken[metric]
    return None if before is None or after is None else after - before


def _of_variant(proof: Proof, variant: Variant, broken: Scores, written: Mapping[str, str]) -> list[Finding]:
    found = []
    for metric in SCORED:
        if proof.reference[metric] is None:
            continue
        change = change_of(proof.reference, broken, metric)
        should = ""
        if metric in variant.must:
            if change is None or change > -FALL + _SLACK:
                should = f"fall by {FALL:g}"
        elif metric in variant.may:
            if change is not None and change > STILL + _SLACK:
                should = f"rise by at most {STILL:g}"
        elif change is None or abs(change) > STILL + _SLACK:
            should = f"stay within {STILL:g}"
        if should:
            why = written.get(metric, "")
            found.append(Finding(variant.name, proof.object, metric, change, should, why))
    return found
