"""The film of a run of the game: pictures with their true times, and the sheet made of some of them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit import Artifact, Execution
from evalkit_polybridge.feedback import FrameChoice

if TYPE_CHECKING:
    from PIL import Image

    from evalkit_polybridge.native.desktop import Picture

#: Pictures are kept with about this many pixels across; verdicts are read from the full ones.
KEPT_WIDTH_PX = 640


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its place in the schedule, when it was taken (seconds since the start), reduced."""

    index: int
    t_s: float
    image: Image.Image


@dataclass(frozen=True, slots=True)
class Film:
    """What was seen of one run.

    `failed` says that the last shot shows the failure marker, `succeeded` that it shows success at the end
    of the window. `missed` counts moments of the schedule that came too late to be pictured. `values` are
    the channels that the last shot showed at the calibrated pixels.
    """

    shots: tuple[Shot, ...]
    failed: bool
    succeeded: bool
    missed: int
    values: Mapping[str, int]

    @property
    def outcome(self) -> str:
        """`crossed`, `lost` or `timeout`, as the embedded executor names them."""
        return "lost" if self.failed else "crossed" if self.succeeded else "timeout"

    @property
    def times_s(self) -> list[float]:
        """When the pictures were taken, to the millisecond."""
        return [round(shot.t_s, 3) for shot in self.shots]

    def artifacts(self, places: Sequence[int]) -> list[Artifact]:
        """The pictures at these places of the film as PNG files, `frame-<place>.png`."""
        return [Artifact(frame_name(i), _png(self.shots[i].image), "image/png") for i in places]


def still(name: str, picture: Picture) -> Artifact:
    """A picture of the game outside a film, reduced like those in one, as a PNG file of that name."""
    return Artifact(name, _png(reduced(picture.image())), "image/png")


def reduced(image: Image.Image) -> Image.Image:
    """The picture, an integer number of times smaller, about `KEPT_WIDTH_PX` across."""
    return image.reduce(max(1, image.width // KEPT_WIDTH_PX))


def contact_sheet(execution: Execution, count: int, choice: FrameChoice = "uniform") -> bytes:
    """PNG of at most `count` frames of a run of the game, from what its execution kept of them.

    The game can't be played again for a picture, so a frame that wasn't kept is left out. ValueError if none
    was kept.
    """
    from PIL import Image

    from evalkit_polybridge.frames import caption, select, sheet

    times: list[float] = execution.data["frame_times_s"]
    kept = {artifact.name: artifact.data for artifact in execution.artifacts}
    cells = [
        (caption(i, len(times), times[i]), Image.open(io.BytesIO(kept[frame_name(i)])).convert("RGB"))
        for i in select(len(times), count, choice)
        if frame_name(i) in kept
    ]
    return sheet(cells)


def frame_name(place: int) -> str:
    """The file of the frame at a place of the film."""
    return f"frame-{place:02d}.png"


def _png(image: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
