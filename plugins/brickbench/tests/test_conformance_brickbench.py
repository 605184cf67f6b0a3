"""The core's conformance kit on the smoke suite."""

from __future__ import annotations

from evalkit.testing import conformance_tests

TestSmoke = conformance_tests("brickbench.smoke")
