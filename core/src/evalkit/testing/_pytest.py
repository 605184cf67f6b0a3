"""The conformance kit as pytest tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from evalkit.registry import Suite
from evalkit.testing._checks import CHECKS, check_subject
from evalkit.testing._subject import Script, Subject, subject_of


def conformance_tests(
    suite: str | Suite,
    *,
    tasks: Sequence[str] | None = None,
    scripts: Mapping[str, Script] | None = None,
    visible: Sequence[str] = (),
    agents: Sequence[str] | None = None,
) -> type[Any]:
    """A test class with one test per check; the arguments are those of `subject_of`.

    Assign it to a name that pytest collects: `TestMine = conformance_tests("mine.smoke")`. The suite is set
    up when the first test runs.
    """
    import pytest

    @cache
    def subject() -> Subject:
        return subject_of(suite, tasks=tasks, scripts=scripts, visible=visible, agents=agents)

    class Conformance:
        """One test per check of the kit."""

        @pytest.mark.parametrize("check", list(CHECKS))
        def test_conforms(self, check: str) -> None:
            """A check that doesn't apply is skipped."""
            (finding,) = check_subject(subject(), [check])
            if finding.status == "skipped":
                pytest.skip(finding.message)
            assert finding.status == "ok", finding.message

    return Conformance
