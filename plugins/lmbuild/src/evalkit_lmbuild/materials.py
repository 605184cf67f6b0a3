"""Materials a part can be made of: class, density, family."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Material:
    """A material by the id the release uses; `density` in kg/m³."""

    id: str
    material_class: str
    density: float


MATERIALS: dict[str, Material] = {
    name: Material(name, material_class, density)
    for name, material_class, density in (
        ("aluminum", "light_metal", 2708.1),
        ("stainless_steel", "heavy_metal", 7954.1),
        ("steel", "heavy_metal", 7939.9),
        ("polyvinyl_chloride_PVC", "plastic", 1501.3),
        ("polyethylene_PE", "plastic", 948.0),
        ("acrylic_PMMA", "plastic", 1187.2),
        ("ABS", "plastic", 1054.7),
        ("polypropylene_PP", "plastic", 904.6),
        ("particle_board_MDF", "wood", 700.9),
        ("plywood", "wood", 549.8),
        ("solid_wood_hardwood", "wood", 650.1),
        ("solid_wood_softwood", "wood", 399.6),
        ("borosilicate_glass", "glass", 2242.1),
        ("tempered_glass", "glass", 2519.7),
        ("soda_lime_glass", "glass", 2495.1),
        ("porcelain", "ceramic", 2397.5),
        ("silicone_rubber", "rubber", 1083.6),
        ("synthetic_rubber", "rubber", 1127.6),
        ("natural_rubber", "rubber", 909.7),
        ("memory_foam", "foam", 59.8),
        ("polyurethane_foam", "foam", 40.3),
        ("cotton_fabric", "textile", 246.6),
        ("polyester_mesh", "textile", 312.1),
    )
}

FAMILIES: dict[str, str] = {
    "heavy_metal": "metal",
    "light_metal": "metal",
    "plastic": "polymer",
    "rubber": "soft",
    "foam": "soft",
    "textile": "soft",
    "wood": "wood",
    "glass": "glass",
    "ceramic": "ceramic",
}
"""Family of each class: half the credit for a material of the right family but the wrong class."""
