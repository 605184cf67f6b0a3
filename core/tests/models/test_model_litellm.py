"""Runs `litellm_cases.py` in a process of its own: litellm takes seconds to load, and leaves traces."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("litellm_cases.py")


@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm isn't installed")
def test_calls_through_litellm():
    command = [sys.executable, "-m", "pytest", str(CASES), "-q", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
