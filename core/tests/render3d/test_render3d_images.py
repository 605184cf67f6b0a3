"""PNG files and contact sheets."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from evalkit.render3d import grid, png


def solid(value: int, height: int = 6, width: int = 8) -> np.ndarray:
    return np.full((height, width, 3), value, np.uint8)


def test_a_png_holds_the_pixels() -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    data = png(image)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(data))), image)
    assert png(image) == data


def test_a_grid_puts_images_in_rows() -> None:
    sheet = grid([solid(1), solid(2), solid(3)], 2, gap_px=4)
    assert sheet.shape == (16, 20, 3)
    assert (sheet[:6, :8] == 1).all()
    assert (sheet[:6, 12:] == 2).all()
    assert (sheet[10:, :8] == 3).all()
    assert (sheet[10:, 8:] == 255).all()


def test_labels_stand_above_their_images() -> None:
    images = [solid(100, 30, 60), solid(200, 30, 60)]
    for background, ink_darker in (((255, 255, 255), True), ((0, 0, 0), False)):
        sheet = grid(images, 2, ["front", "side"], background=background)
        caption = sheet[: sheet.shape[0] - 30]
        assert (caption[:, :60].min() < 100) if ink_darker else (caption[:, :60].max() > 150)
        assert (sheet[-30:, :60] == 100).all()
        assert (sheet[-30:, -60:] == 200).all()


def test_bad_input_is_explained() -> None:
    with pytest.raises(ValueError, match="at least one"):
        grid([], 2)
    with pytest.raises(ValueError, match="one size"):
        grid([solid(1), solid(2, 3)], 2)
    with pytest.raises(ValueError, match="2 images but 1 labels"):
        grid([solid(1), solid(2)], 2, ["a"])
    with pytest.raises(ValueError, match="uint8"):
        png(np.zeros((4, 4, 3)))
