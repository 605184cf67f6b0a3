"""The core's conformance kit on the smoke suites: in a folder, and with tools."""

from __future__ import annotations

from tool_script import QUICK

from evalkit import ToolCall
from evalkit.testing import conformance_tests

SCRIPT = [ToolCall(tool, arguments) for tool, arguments in QUICK]

TestSmoke = conformance_tests("brickbench.smoke")
TestSmokeTools = conformance_tests("brickbench.smoke-tools", scripts={"ek-smoke-model": SCRIPT})
