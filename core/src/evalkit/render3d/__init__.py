"""Pictures of 3-D scenes without a display or a graphics library: a z-buffer in numba.

    from evalkit.render3d import Mesh, MeshInstance, bounds, orbit, png, render

    brick = Mesh(vertices, triangles)
    scene = [MeshInstance(brick, id=i, matrix=pose, colour=(201, 26, 9)) for i, pose in enumerate(poses)]
    camera = orbit(bounds(scene), yaw_deg=35, pitch_deg=-25, up=(0, 0, 1))
    picture = png(render(scene, camera, (1024, 1024)))

The same scene gives the same bits, whatever the order of its instances, the thread or the process.
`docs/render3d.md` says how it works. Every name is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers take this name for true; importing it from `typing` would be most of the cost of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from evalkit.render3d._camera import Camera, look_at, orbit
    from evalkit.render3d._glb import glb
    from evalkit.render3d._images import grid, png
    from evalkit.render3d._render import STUDIO, Buffers, Light, buffers, render, warm
    from evalkit.render3d._scene import Mesh, MeshInstance, bounds, highlighted

_MODULE_OF = {
    "STUDIO": "_render",
    "Buffers": "_render",
    "Camera": "_camera",
    "Light": "_render",
    "Mesh": "_scene",
    "MeshInstance": "_scene",
    "bounds": "_scene",
    "buffers": "_render",
    "glb": "_glb",
    "grid": "_images",
    "highlighted": "_scene",
    "look_at": "_camera",
    "orbit": "_camera",
    "png": "_images",
    "render": "_render",
    "warm": "_render",
}

__all__ = [
    "STUDIO",
    "Buffers",
    "Camera",
    "Light",
    "Mesh",
    "MeshInstance",
    "bounds",
    "buffers",
    "glb",
    "grid",
    "highlighted",
    "look_at",
    "orbit",
    "png",
    "render",
    "warm",
]


if not TYPE_CHECKING:  # else a type checker would take every misspelt name for one of ours

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
