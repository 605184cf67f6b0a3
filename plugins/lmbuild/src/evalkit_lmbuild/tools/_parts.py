"""Parts on offer: listing, looking, creating; and materials."""

from __future__ import annotations

import json
from typing import Any

from evalkit_lmbuild.csg import Compiled, ProgramError, compile_program
from evalkit_lmbuild.design import Mesh
from evalkit_lmbuild.kernel.samples import surface_area
from evalkit_lmbuild.kernel.tilt import is_closed
from evalkit_lmbuild.legality import id_fault
from evalkit_lmbuild.materials import MATERIALS
from evalkit_lmbuild.tools import _arguments as given
from evalkit_lmbuild.tools._placing import GROUND, require_part
from evalkit_lmbuild.tools._session import Outcome, Picture, Refusal, Session

SHEET_PARTS = 20
"""Parts on one picture of the catalogue."""


def list_parts(session: Session, call: given.ListParts) -> Outcome:
    """Parts that can be placed, those of the catalogue first."""
    scene = session.scene
    wanted = (call.query or "").casefold()
    listed = []
    for part in _listed_ids(session):
        name = part if part in scene.created else scene.catalogue.name(part)
        if wanted in part.casefold() or wanted in name.casefold():
            entry: dict[str, Any] = {"part_id": part, "name": name, "size_m": _size(scene.mesh(part))}
            listed.append(entry | ({"created": True} if part in scene.created else {}))
    return Outcome({"parts": listed})


def inspect_part(session: Session, call: given.InspectPart) -> Outcome:
    """One part: size, surface, a picture, and for created ones how the program compiled."""
    scene = session.scene
    require_part(scene, call.part_id)
    mesh = scene.mesh(call.part_id)
    created = call.part_id in scene.created
    data: dict[str, Any] = {
        "part_id": call.part_id,
        "name": call.part_id if created else scene.catalogue.name(call.part_id),
        "size_m": _size(mesh),
        "watertight": is_closed(mesh),
        "surface_area_m2": round(surface_area(mesh), 6),
    }
    if created:
        data["compile_report"] = _report(
            compile_program(scene.created[call.part_id], strict=session.rules.strict)
        )
    return Outcome(data, (Picture(f"{call.part_id}.png", lambda: _thumbnail(mesh)),))


def view_catalog_sheet(session: Session, call: None) -> Outcome:
    """Pictures of all parts of the catalogue, with their ids."""
    catalogue = session.scene.catalogue
    ids = list(catalogue)
    sheets = [ids[start : start + SHEET_PARTS] for start in range(0, len(ids), SHEET_PARTS)]

    def picture(number: int, chosen: list[str]) -> Picture:
        return Picture(f"catalog-{number}.png", lambda: _sheet([(part, catalogue[part]) for part in chosen]))

    pictures = tuple(picture(number, chosen) for number, chosen in enumerate(sheets, 1))
    return Outcome({"sheets": len(sheets), "parts": len(ids)}, pictures)


def list_materials(session: Session, call: None) -> Outcome:
    """What parts can be made of."""
    return Outcome(
        {
            "materials": [
                {"material": m.id, "class": m.material_class, "density_kg_m3": m.density}
                for m in MATERIALS.values()
            ]
        }
    )


def create_part(session: Session, call: given.CreatePart) -> Outcome:
    """Make a new part by a CSG program; a failed attempt spends the budget all the same."""
    scene = session.scene
    if fault := id_fault(call.name):
        raise Refusal(f"name {fault}")
    if call.name == GROUND:
        raise Refusal("'ground' is the ground; choose another name")
    if scene.has_part(call.name):
        raise Refusal(
            f"there is a part {call.name!r} already; place it as it is (place_part), or choose another name "
            f"for the new one, such as '{call.name[:40]}_2'"
        )
    try:
        made = compile_program(call.program, strict=session.rules.strict)
    except ProgramError as error:
        raise Refusal(str(error)) from error
    scene.created[call.name] = json.loads(call.program) if isinstance(call.program, str) else call.program
    return Outcome({"part_id": call.name} | _report(made))


def _listed_ids(session: Session) -> list[str]:
    return [*session.scene.catalogue, *session.scene.created]


def _size(mesh: Mesh) -> list[float]:
    return [round(float(extent), 5) for extent in mesh.size]


def _report(made: Compiled) -> dict[str, Any]:
    return {
        "size_m": [round(extent, 6) for extent in made.size],
        "volume_m3": float(f"{made.volume:.6g}"),
        "n_pieces": made.pieces,
        "piece_volumes": [float(f"{volume:.6g}") for volume in made.piece_volumes[:10]],
        "recentred_by_m": [round(shift, 6) + 0.0 for shift in made.recentred_by],
        "n_triangles": made.n_triangles,
        "warnings": list(made.warnings),
    }


def _thumbnail(mesh: Mesh) -> bytes:
    from evalkit_lmbuild.pictures import thumbnail

    return thumbnail(mesh)


def _sheet(parts: list[tuple[str, Mesh]]) -> bytes:
    from evalkit_lmbuild.pictures import catalogue_sheet

    return catalogue_sheet(parts)
