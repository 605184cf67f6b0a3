"""Labels as arrays: canonical order, frames, extras."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_brickbench.parts._labels import connectors_of, frames_of
from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES

LABELS = {
    "stud": {"stud": [[0, 0, 0, 0.0, 0.0]], "open": [[20, 0, 0, 0.0, 90.0]]},
    "hinge": {
        "2": {"on": [[5, 0, 0, 0.0, 90.0, 33]]},
        "10": {"on": [[1, 0, 0, 0, 0, 0]], "in": [[2, 0, 0, 0, 0, 0]]},
    },
    "ball": {"0": {"in": [[7, 8, 9]]}},
    "axle": {"pin": [[1, 2, 3, -90.0, 0.0, 9]]},
    "fixed": {"1": {"on": [[0, 0, 0, 90, 0, 270]]}},
}


def test_order_is_kind_then_subtype_as_text_then_polarity_then_row() -> None:
    connectors = connectors_of(LABELS)
    rows = [
        (KINDS[kind], subtype, POLARITIES[polarity])
        for kind, subtype, polarity in zip(
            connectors.kinds, connectors.subtypes, connectors.polarities, strict=True
        )
    ]
    assert rows == [
        ("axle", "pin", ""),
        ("ball", "0", "in"),
        ("fixed", "1", "on"),
        ("hinge", "10", "in"),
        ("hinge", "10", "on"),
        ("hinge", "2", "on"),
        ("stud", "open", ""),
        ("stud", "stud", ""),
    ]
    assert connectors.extras.tolist() == [9, 0, 270, 0, 0, 33, 0, 0]
    assert connectors.origins[1].tolist() == [7, 8, 9]


def test_the_sixth_number_turns_fixed_connectors_only() -> None:
    connectors = connectors_of(LABELS)
    # R_y(270°)·R_x(90°): x goes to z, y to −x and z to −y.
    np.testing.assert_array_equal(connectors.frames[2], [[0, -1, 0], [0, 0, -1], [1, 0, 0]])
    # The hinge's roll of 90° alone sends x to y.
    np.testing.assert_array_equal(connectors.frames[5], [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("angles", "axis"),
    [((0, 0, 0), (0, -1, 0)), ((180, 0, 0), (0, 1, 0)), ((-90, 0, 0), (0, 0, 1)), ((0, 90, 0), (1, 0, 0))],
)
def test_mating_axes_on_the_grid_are_exact(angles: tuple[float, ...], axis: tuple[float, ...]) -> None:
    frame = frames_of(np.array([angles], np.float64))[0]
    assert (-frame[:, 1]).tolist() == list(axis)


def test_frames_are_the_product_of_three_rotations() -> None:
    pitch, roll, yaw = np.radians([20.0, 35.0, 50.0])
    about_x = [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    about_z = [[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]]
    about_y = [[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]]
    expected = np.array(about_y) @ np.array(about_x) @ np.array(about_z)
    np.testing.assert_allclose(frames_of(np.array([[20.0, 35.0, 50.0]]))[0], expected, atol=1e-14)


def test_a_part_without_labels_has_no_connectors() -> None:
    connectors = connectors_of({})
    assert len(connectors) == 0
    assert connectors.frames.shape == (0, 3, 3)
