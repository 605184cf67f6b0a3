"""Poses of the building library."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_brickbench.build import BuildError, Pose, at, move, spin


def test_at_counts_studs_and_plates_and_move_counts_ldu() -> None:
    assert at(2, -1, up=3).position.tolist() == [40, -24, -20]
    assert move(1, 2, 3).position.tolist() == [1, 2, 3]
    assert (at(1) @ move(x=2)).position.tolist() == [22, 0, 0]


def test_quarter_turns_are_exact_and_clockwise_from_above() -> None:
    quarter = spin(90)
    # From above (−y towards the viewer, x to the right) z points up the page: right goes to down.
    assert quarter.apply(np.array([1.0, 0.0, 0.0])).tolist() == [0, 0, -1]
    assert np.array_equal((quarter @ quarter @ quarter @ quarter).matrix, np.eye(4))
    assert spin(90, "x").apply(np.array([0.0, 1.0, 0.0])).tolist() == [0, 0, 1]
    assert spin(90, "z").apply(np.array([1.0, 0.0, 0.0])).tolist() == [0, 1, 0]


def test_right_factor_is_in_the_frame_of_the_left_one() -> None:
    assert np.allclose((at(2) @ spin(90) @ move(x=10)).position, [40, 0, -10])
    assert np.allclose((spin(90) @ at(2)).position, [0, 0, -40])


def test_inverse_undoes() -> None:
    pose = at(3, 1, 2) @ spin(33, "x") @ spin(71) @ move(5, 6, 7)
    assert np.allclose((pose @ pose.inverse()).matrix, np.eye(4), atol=1e-12)


def test_nonsense_is_refused() -> None:
    with pytest.raises(BuildError, match="finite"):
        move(float("nan"))
    with pytest.raises(BuildError, match="finite"):
        spin(float("inf"))
    with pytest.raises(BuildError, match="no axis 'w'"):
        spin(90, "w")  # type: ignore[arg-type]
    assert repr(Pose()) == "Pose((0, 0, 0) LDU)"
