"""From parts and joints to rigid bodies and the tree of joints that an engine simulates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.simulation.contacts import Contacts

FLOOR_BAND_M = 0.005
"""A body whose lowest point is at most this far above the floor stands on it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A joint of the tree between two bodies by index; `turned`: the declared child is the tree's parent."""

    joint: Joint
    parent: int
    child: int
    turned: bool


@dataclass(frozen=True)
class Tree:
    """Rigid bodies as tuples of part ids (in design order) and the joints between them.

    `links` in breadth-first order; `loops` close a loop or double a link; `inert` have both ends in one body;
    `heads` are the root and then one free body for each piece that no chain of joints ties to it.
    """

    bodies: tuple[tuple[str, ...], ...]
    root: int
    heads: tuple[int, ...]
    links: tuple[Link, ...]
    loops: tuple[Link, ...]
    inert: tuple[Joint, ...]

    def body_of(self, part: str) -> int:
        """Index of the body that holds a part."""
        return next(index for index, parts in enumerate(self.bodies) if part in parts)

    def downstream(self, body: int) -> frozenset[int]:
        """A body and everything that hangs from it."""
        found = {body}
        for link in self.links:  # breadth first: a parent comes before its children
            if link.parent in found:
                found.add(link.child)
        return frozenset(found)

    def path(self, body: int) -> tuple[Link, ...]:
        """Links from a body up to the head of its piece."""
        above = {link.child: link for link in self.links}
        found = []
        while body in above:
            found.append(above[body])
            body = above[body].parent
        return tuple(found)


def rigid_bodies(design: Design, contacts: Contacts) -> tuple[tuple[str, ...], ...]:
    """Parts that move as one: fixed joints, and contacts that no moving set cuts, hold parts together."""
    movers = [joint for joint in design.joints if joint.moves]
    moves_with = {
        part.id: tuple(part.id in contacts.moving.get(joint.id, ()) for joint in movers)
        for part in design.parts
    }
    leader = {part.id: part.id for part in design.parts}

    def find(part: str) -> str:
        while leader[part] != part:
            leader[part] = leader[leader[part]]
            part = leader[part]
        return part

    held = [(joint.parent, joint.child) for joint in design.joints if not joint.moves]
    held += [(a, b) for a, b in contacts.touching if moves_with[a] == moves_with[b]]
    for a, b in held:
        leader[find(b)] = find(a)
    members: dict[str, list[str]] = {}
    for part in design.parts:
        members.setdefault(find(part.id), []).append(part.id)
    return tuple(tuple(parts) for parts in members.values())


def joint_tree(design: Design, contacts: Contacts, floor_m: float) -> Tree:
    """Bodies, root and breadth-first tree of a design that has at least one part."""
    bodies = rigid_bodies(design, contacts)
    body_of = {part: index for index, parts in enumerate(bodies) for part in parts}
    ends = [(j, body_of[j.parent], body_of[j.child]) for j in design.joints if j.moves]
    between = [(joint, a, b) for joint, a, b in ends if a != b]
    weight = [sum(contacts.volume[part] for part in parts) for parts in bodies]
    root = _root(design, bodies, between, weight, floor_m)
    links: list[Link] = []
    heads = []
    reached: set[int] = set()
    for head in [root, *sorted(range(len(bodies)), key=lambda body: -weight[body])]:
        if head not in reached:
            heads.append(head)
            links += _hang(head, between, reached)
    used = {link.joint.id for link in links}
    return Tree(
        bodies,
        root,
        tuple(heads),
        tuple(links),
        tuple(Link(joint, a, b, False) for joint, a, b in between if joint.id not in used),
        tuple(joint for joint, a, b in ends if a == b),
    )


def _root(
    design: Design,
    bodies: Sequence[tuple[str, ...]],
    between: Sequence[tuple[Joint, int, int]],
    weight: Sequence[float],
    floor_m: float,
) -> int:
    """The heaviest body on the floor or one joint away from it; where none is, the heaviest of all."""
    lowest = [min(float(design.by_id[part].world.bounds[0][2]) for part in parts) for parts in bodies]
    standing = {index for index, z in enumerate(lowest) if z <= floor_m + FLOOR_BAND_M}
    near = set(standing)
    for _, a, b in between:
        if a in standing or b in standing:
            near |= {a, b}
    choice = sorted(near) or range(len(bodies))
    return choice[int(np.argmax([weight[body] for body in choice]))]


def _hang(head: int, between: Sequence[tuple[Joint, int, int]], reached: set[int]) -> list[Link]:
    """The breadth-first tree under a head; bodies found are added to `reached`."""
    reached.add(head)
    links = []
    queue = [head]
    for body in queue:
        for joint, a, b in between:
            other = b if body == a else a if body == b else None
            if other is not None and other not in reached:
                reached.add(other)
                queue.append(other)
                links.append(Link(joint, body, other, turned=body == b))
    return links
