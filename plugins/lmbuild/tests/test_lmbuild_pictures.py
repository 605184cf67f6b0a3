"""Pictures: what they show, and the same bits each time."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from evalkit_lmbuild import pictures
from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Design, Joint, Part


def _box(*size: float) -> Part:
    program = {"nodes": [{"id": "a", "op": "box", "size": list(size)}], "output": "a"}
    return Part("base", compile_program(program).mesh, (0.0, 0.0, size[2] / 2))


@pytest.fixture(scope="module")
def design() -> Design:
    base = _box(0.4, 0.2, 0.1)
    lid = Part("lid", _box(0.4, 0.2, 0.02).mesh, (0.0, 0.0, 0.11))
    hinge = Joint("hinge", "revolute", "base", "lid", (-1.0, 0.0, 0.0), (0.0, 0.1, 0.1), (0.0, 1.5))
    return Design((base, lid), (hinge,))


def _pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)))


def test_views_have_the_proportions_of_what_they_show(design: Design) -> None:
    for name, wide, high in (("front", 0.4, 0.12), ("side", 0.2, 0.12), ("top", 0.4, 0.2)):
        inked = (_pixels(pictures.view(design, name)) < 250).any(axis=2)
        rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
        drawn = (columns[-1] - columns[0]) / (rows[-1] - rows[0])
        assert drawn == pytest.approx(wide / high, rel=0.02), name


def test_the_front_of_a_view_is_minus_y() -> None:
    base = _box(0.4, 0.2, 0.1)
    mark = Part("mark", _box(0.02, 0.02, 0.02).mesh, (0.15, -0.11, 0.05))
    both = Design((base, mark))
    colour = np.array(pictures.part_colours(both)["mark"])
    front = _pixels(pictures.view(both, "front")).astype(int)
    like = np.abs(front - colour).sum(axis=2) < 60
    assert like.any()
    assert np.flatnonzero(like.any(axis=0)).mean() > front.shape[1] / 2
    behind = Design((base, Part("mark", mark.mesh, (0.15, 0.11, 0.05))))
    assert not (np.abs(_pixels(pictures.view(behind, "front")).astype(int) - colour).sum(axis=2) < 60).any()


def test_equal_designs_give_equal_bits(design: Design) -> None:
    views = ("cond", "iso", "front", "side")
    assert pictures.agent_grid(design, views) == pictures.agent_grid(design, views)
    size = _pixels(pictures.agent_grid(design, views)).shape
    assert size[1] >= 2 * pictures.VIEW_PX


def test_parts_have_colours_of_their_own() -> None:
    many = Design(tuple(Part(f"p{n}", _box(0.1, 0.1, 0.1).mesh) for n in range(80)))
    assert len(set(pictures.part_colours(many).values())) == 80


def test_exploded_parts_move_away_from_the_middle(design: Design) -> None:
    apart = pictures.exploded(design)
    lowest, highest = design.bounds
    middle = (lowest + highest) / 2
    for part in design.parts:
        shift = np.subtract(apart.by_id[part.id].position, part.position)
        assert shift == pytest.approx(np.multiply((0.6, 0.6, 0.9), np.subtract(part.position, middle)))


def test_a_joint_in_five_poses(design: Design) -> None:
    strip = _pixels(pictures.joint_strip(design, design.joints[0], {"lid"}, size_px=128))
    assert strip.shape[1] >= 5 * 128
    first, last = strip[:, :128], strip[:, -128:]
    assert (first != last).any()
    with pytest.raises(ValueError, match="no axis"):
        pictures.joint_strip(design, Joint("b", "ball", "base", "lid", None, (0.0, 0.0, 0.1)), {"lid"})


def test_sheets(design: Design) -> None:
    for sheet in (
        pictures.all_views(design, clay=True),
        pictures.judge_sheet(design),
        pictures.catalogue_sheet([(part.id, part.mesh) for part in design.parts]),
        pictures.thumbnail(design.parts[0].mesh),
        pictures.agent_grid(Design(), ("iso",)),
    ):
        assert sheet.startswith(b"\x89PNG")
