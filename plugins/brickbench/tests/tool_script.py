"""A build by calls of all tools: a glider with a wing and its mirror image; a brick is in the air first."""

from __future__ import annotations

from typing import Any

Call = tuple[str, dict[str, Any]]

CALLS: tuple[Call, ...] = (
    ("search", {"query": "wing 2x4", "limit": 3}),
    ("describe", {"thing": "41769"}),
    (
        "place",
        {
            "items": [
                {"item": "plate 2x4", "spin": 90, "color": "white"},
                {"item": "3020", "at": [0, 0, 1], "color": 1},
            ]
        },
    ),
    ("new_assembly", {"name": "wing"}),
    ("place", {"items": [{"item": "wing 2x4 right", "color": "white"}], "into": "wing"}),
    ("connectors", {"thing": "p3", "kind": "stud", "near": [0, 0, 0]}),
    ("compatible", {"to": "p3.stud[0]", "item": "plate 1x1"}),
    ("join", {"item": "plate 1x1", "to": "p3.stud[0]", "by": "hole[0]", "color": "red"}),
    ("mirror", {"assembly": "wing", "name": "left wing"}),
    ("place", {"items": [{"item": "wing", "at": [-2, 0, 0]}, {"item": "left wing", "at": [2, 0, 0]}]}),
    ("measure", {"thing": "p1", "other": "a7"}),
    ("join", {"item": "3005", "to": "a7/p3.stud[3]", "yaw": 0, "color": "#00FF00"}),
    ("change", {"ids": ["p9"], "color": "yellow"}),
    ("place", {"items": [{"item": "3005", "at": [0, 0, 30]}]}),
    ("check", {}),
    ("remove", {"ids": ["p10"]}),
    ("change", {"ids": ["p2"], "color": "green"}),
    ("place", {"items": [{"item": "3031", "at": [0, 0, -1], "color": "blue"}]}),
    ("contents", {}),
    ("view", {"side": 1}),
    ("check", {}),
    ("submit", {}),
)

QUICK = tuple(call for call in CALLS if call[0] != "check")
"""The same without the checks, which take most of the time."""
