"""Chains of booleans made one: a − b − c − … is a − (b ∪ c ∪ …), a ∪ b ∪ c ∪ … one union.

Programs often drill one hole per node. Evaluated link by link every triangle would pass every boolean.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from evalkit_lmbuild.csg.program import Node, Program


def flattened(program: Program) -> list[Node]:
    """The nodes that the output needs, with links that only the next link uses taken into it.

    The solids are those of the program; order and ids of the nodes that stay are too.
    """
    needed = program.needed()
    nodes = [node for node in program.nodes if node.id in needed]
    uses = Counter(name for node in nodes for name in node.inputs)
    kept: dict[str, Node] = {}
    for node in nodes:
        inputs: list[str] = []
        for place, name in enumerate(node.inputs):
            link = kept[name]
            joins = node.op in ("union", "intersection") or (node.op == "difference" and place == 0)
            if joins and link.op == node.op and uses[name] == 1:
                inputs += kept.pop(name).inputs
            else:
                inputs.append(name)
        kept[node.id] = replace(node, inputs=tuple(inputs))
    return list(kept.values())
