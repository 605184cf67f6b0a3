"""The core's conformance kit on suites, played by the agent that knows the references, and by hand."""

from __future__ import annotations

from evalkit import ToolCall
from evalkit.testing import conformance_tests

KNOB = {
    "nodes": [
        {"id": "ball", "op": "sphere", "radius": 0.02},
        {"id": "neck", "op": "cylinder", "radius": 0.008, "height": 0.05},
        {"id": "knob", "op": "union", "inputs": ["ball", "neck"]},
    ],
    "output": "knob",
}
BY_HAND = [
    ToolCall("list_parts", {"query": "o"}),
    ToolCall("view_catalog_sheet"),
    ToolCall("create_part", {"name": "knob", "program": KNOB}),
    ToolCall("create_part", {"name": "bad", "program": "{"}),
    ToolCall("inspect_part", {"part_id": "knob"}),
    ToolCall("place_part", {"part_id": "P001", "instance_id": "base", "position": [0.0, 0.0, 0.2]}),
    ToolCall("place_part", {"part_id": "knob", "instance_id": "grip", "position": [0.0, 0.1, 0.4]}),
    ToolCall("attach", {"instance_id": "base", "anchor": "bottom", "target": "ground"}),
    ToolCall("attach", {"instance_id": "grip", "anchor": "bottom", "target": "base"}),
    ToolCall("set_part_info", {"instance_id": "grip", "role": "grip", "material": "steel"}),
    ToolCall(
        "add_joint",
        {"joint_id": "turn", "type": "continuous", "parent": "base", "child": "grip"}
        | {"axis": [0, 0, 2.0], "origin": [0, 0, 0.03]},
    ),
    ToolCall("inspect_joint", {"joint_id": "turn"}),
    ToolCall("measure", {"a": "grip", "b": "ground"}),
    ToolCall("set_assembly_sequence", {"steps": ["base", {"part": "grip", "direction": [0, 0, -1]}]}),
    ToolCall("move_part", {"instance_id": "grip", "translate_by": [0.01, 0, 0], "rotation": [0, 0, 33.3]}),
    ToolCall("check"),
    ToolCall("render", {"views": ["iso", "top"]}),
    ToolCall("get_scene"),
    ToolCall("remove_joint", {"joint_id": "turn"}),
    ToolCall("remove_part", {"instance_id": "grip"}),
    ToolCall("submit"),
]

TestReference = conformance_tests("lmbuild.smoke", agents=["reference"])
TestByHand = conformance_tests("lmbuild.smoke", scripts={"*": BY_HAND}, agents=[])
TestCreating = conformance_tests("lmbuild.create", tasks=["milking_stool"], agents=["reference"])
