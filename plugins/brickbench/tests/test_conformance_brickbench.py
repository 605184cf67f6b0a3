"""The core's conformance kit on the smoke suites: in a folder, and with all tools."""

from __future__ import annotations

from tool_script import CALLS

from evalkit import ToolCall
from evalkit.testing import conformance_tests

SCRIPT = [ToolCall(tool, arguments) for tool, arguments in CALLS]

TestSmoke = conformance_tests("brickbench.smoke")
TestSmokeTools = conformance_tests("brickbench.smoke-tools", scripts={"ek-smoke-model": SCRIPT})
