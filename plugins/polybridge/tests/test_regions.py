"""The exact predicates of forbidden regions, against clipping in rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from evalkit_polybridge.regions import (
    STEPS_PER_M,
    GridPoint,
    GridTriangle,
    cross,
    depth_inside_m,
    grid_point,
    grown_triangle,
    length_inside_m,
    touches,
)

# A coarse grid, so that touching corners, shared lines and degenerate segments are frequent.
POINTS = st.tuples(st.integers(-5, 5), st.integers(-5, 5))
TRIANGLES = st.tuples(POINTS, POINTS, POINTS)


def share_inside(a: GridPoint, b: GridPoint, triangle: GridTriangle) -> Fraction | None:
    """The share of a–b inside a triangle with area, clipped by its three half-planes; None if disjoint."""
    start, end = Fraction(0), Fraction(1)
    p, q, r = triangle
    turn = 1 if cross(p, q, r) > 0 else -1
    for u, v in ((p, q), (q, r), (r, p)):
        at_a, at_b = Fraction(turn * cross(u, v, a)), Fraction(turn * cross(u, v, b))
        if at_a == at_b:
            if at_a < 0:
                return None
        elif at_a < at_b:
            start = max(start, -at_a / (at_b - at_a))
        else:
            end = min(end, at_a / (at_a - at_b))
    return end - start if start <= end else None


@given(a=POINTS, b=POINTS, triangle=TRIANGLES)
@example(a=(0, 0), b=(4, 0), triangle=((2, 0), (1, -3), (3, -3)))
@example(a=(2, 0), b=(2, 0), triangle=((2, 0), (1, -3), (3, -3)))
def test_touching_agrees_with_rational_clipping(a: GridPoint, b: GridPoint, triangle: GridTriangle) -> None:
    assume(cross(*triangle) != 0)
    share = share_inside(a, b, triangle)
    assert touches(a, b, triangle) == (share is not None)
    length = float(share or 0) * math.dist(a, b) / STEPS_PER_M
    assert length_inside_m(a, b, triangle) == pytest.approx(length, abs=1e-12)


@given(a=POINTS, b=POINTS, triangle=TRIANGLES)
def test_touching_depends_on_no_order(a: GridPoint, b: GridPoint, triangle: GridTriangle) -> None:
    p, q, r = triangle
    answers = {touches(u, v, t) for u, v in ((a, b), (b, a)) for t in ((p, q, r), (q, r, p), (r, q, p))}
    assert len(answers) == 1


@given(a=POINTS, b=POINTS, c=POINTS, d=POINTS)
def test_a_triangle_without_area_is_a_segment(a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint) -> None:
    assert touches(a, b, (c, d, d)) == touches(c, d, (a, b, b)) == touches(a, b, (d, c, c))


def test_shapes_without_area_on_one_line_can_be_apart() -> None:
    assert not touches((0, 0), (1, 0), ((3, 0), (4, 0), (4, 0)))
    assert not touches((0, 0), (0, 0), ((3, 3), (4, 4), (4, 4)))
    assert touches((0, 0), (3, 3), ((3, 3), (4, 4), (4, 4)))


def test_one_tenth_of_a_millimetre_decides_far_from_the_origin() -> None:
    triangle = (grid_point((999.0, -1.0)), grid_point((997.0, -3.0)), grid_point((1000.0, -3.0)))
    for y, touched in ((-1.0, True), (-0.9999, False)):
        assert touches(grid_point((-1000.0, y)), grid_point((1000.0, y)), triangle) == touched


def test_depth_is_the_distance_to_the_nearest_side() -> None:
    triangle = (grid_point((0.0, 0.0)), grid_point((4.0, 0.0)), grid_point((0.0, 3.0)))
    assert depth_inside_m(grid_point((1.0, 1.0)), triangle) == pytest.approx(1.0)  # the incircle's radius
    assert depth_inside_m(grid_point((2.0, 0.0)), triangle) == 0.0


@pytest.mark.parametrize("corners", [(0, 1, 2), (2, 1, 0)])
def test_growing_moves_each_side_by_the_offset(corners: tuple[int, int, int]) -> None:
    points = ((0.0, 0.0), (4.0, 0.0), (0.0, 3.0))  # inradius 1, incentre (1, 1)
    triangle = (points[corners[0]], points[corners[1]], points[corners[2]])
    expected = {1.0: {(-1.0, -1.0), (7.0, -1.0), (-1.0, 5.0)}, -0.5: {(0.5, 0.5), (2.5, 0.5), (0.5, 2.0)}}
    for offset, grown in expected.items():
        assert set(grown_triangle(triangle, offset) or ()) == grown
    assert grown_triangle(triangle, -1.0) is None


def test_a_region_without_area_has_no_sides_to_move() -> None:
    with pytest.raises(ValueError, match="no area"):
        grown_triangle(((0.0, 0.0), (1.0, 1.0), (2.0, 2.0)), 0.1)
