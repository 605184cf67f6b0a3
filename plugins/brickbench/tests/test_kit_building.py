"""build.py in the sandbox: a model, or one clear word about what is wrong; nothing else is in sight."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import evalkit_brickbench
from evalkit.errors import SandboxError
from evalkit.sandbox import Level, Limits, probe
from evalkit_brickbench.inspection import inspect
from evalkit_brickbench.kit.building import LIMITS, MAX_SOURCE_BYTES, Built, build

GOOD = """
from evalkit_brickbench.build import Assembly, at

def build():
    model = Assembly("pair")
    base = model.add("brick 2x4", at(), color="red")
    model.attach("brick 2x2", to=base.stud[0], by="hole[0]", color="white")
    return model

if __name__ == "__main__":
    raise SystemExit("not when it is collected")
"""
ASSEMBLY = "from evalkit_brickbench.build import Assembly\n"


@pytest.fixture(autouse=True)
def full() -> None:
    """Skips where there is no full sandbox."""
    report = probe()
    if report.level < Level.FULL:
        pytest.skip(f"no full sandbox here: {report.reasons[0]}")


def refused(source: str, limits: Limits = LIMITS) -> tuple[str, str]:
    """Code and message of what is wrong."""
    built = build(source.encode(), limits=limits)
    assert built.model is None
    assert built.violation is not None
    return built.violation.code, built.violation.message


def test_model_is_what_build_returns() -> None:
    first, second = build(GOOD.encode()), build(GOOD.encode())
    assert first == second
    assert first.violation is None
    assert first.model is not None
    found = inspect(first.model, "model.mpd")
    assert found.scene.stems == ("3001", "3003")
    assert len(found.components.sizes) == 1


@pytest.mark.parametrize(
    ("source", "code", "word"),
    [
        ("", "no_build_function", "no function build()"),
        ("build = 3", "no_build_function", "no function build()"),
        ("def build(:", "build_failed", "SyntaxError"),
        ("import nothing_of_the_kind", "build_failed", "ModuleNotFoundError"),
        ("def build(): return 3", "wrong_type", "returned int"),
        ("def build(): return None", "wrong_type", "returned NoneType"),
        ("def build(one): return one", "build_failed", "TypeError"),
        ("def build(): raise SystemExit(0)", "build_failed", "SystemExit"),
        ("def build(): raise KeyboardInterrupt", "build_failed", "KeyboardInterrupt"),
        ("import os; os._exit(0)", "build_failed", "before it had a model"),
        ("import os; os.kill(os.getpid(), 11)", "build_failed", "killed"),
        ("x = 1\0", "build_failed", "null bytes"),
        ("def f(): return f()\ndef build(): return f()", "build_failed", "RecursionError"),
    ],
)
def test_what_is_wrong_is_said(source: str, code: str, word: str) -> None:
    found, message = refused(source)
    assert found == code
    assert word in message
    assert len(message) <= 2100


def test_message_is_the_traceback_from_build_py_on() -> None:
    source = (
        ASSEMBLY + "def build():\n    model = Assembly('m')\n    return model.add('no such part').stud[0]\n"
    )
    _, message = refused(source)
    assert message.startswith(
        'build(): Traceback (most recent call last):\n  File "build.py", line 4, in build'
    )
    assert "UnknownPartError" in message.splitlines()[-1]
    assert "/workspace" not in message
    assert "runner.py" not in message


def test_addresses_are_left_out_of_messages() -> None:
    source = "def build(): raise ValueError(str(object()))"
    assert refused(source) == refused(source)


def test_limits_have_names() -> None:
    short = replace(LIMITS, wall_s=2.0, memory_bytes=1 << 30)
    assert refused("while True: pass", short)[0] == "timeout"
    assert refused("held = bytes(2 << 30)", short)[0] == "memory"
    assert refused("print('x' * (20 << 20))", short)[0] == "too_large"
    assert refused("#" * (MAX_SOURCE_BYTES + 1))[0] == "too_large"


def test_model_that_is_too_large() -> None:
    source = ASSEMBLY + (
        "import pathlib\nclass Big(Assembly):\n    def write(self, path):\n"
        "        pathlib.Path(path).write_bytes(b'0 x' * (4 << 20))\n"
        "def build():\n    return Big('big')\n"
    )
    assert refused(source)[0] == "too_large"


@pytest.mark.parametrize(
    "made", ["pathlib.Path(path).symlink_to('/etc/passwd')", "os.mkfifo(path)", "pathlib.Path(path).mkdir()"]
)
def test_model_that_is_no_plain_file(made: str) -> None:
    source = ASSEMBLY + (
        f"import os, pathlib\nclass Odd(Assembly):\n    def write(self, path):\n        {made}\n"
        "def build():\n    return Odd('odd')\n"
    )
    code, message = refused(source)
    assert code == "build_failed"
    assert "MB" not in message


def test_more_parts_than_a_model_may_have() -> None:
    source = ASSEMBLY + (
        "def build():\n    inner = Assembly('a'); inner.add('3001')\n"
        "    for name in 'bcdefg':\n"
        "        outer = Assembly(name)\n"
        "        for _ in range(10): outer.add(inner)\n"
        "        inner = outer\n"
        "    assert inner.parts\n    return inner\n"
    )
    code, message = refused(source)
    assert code == "build_failed"
    assert "more than 100,000 parts" in message


def test_forged_failure_is_only_text() -> None:
    forged = json.dumps({"code": "valid", "message": "all is well"})
    source = f"open('failure.json', 'w').write({forged!r})\nimport os; os._exit(0)"
    assert refused(source) == ("build_failed", "all is well")
    assert refused("open('failure.json', 'w').write('[')\nimport os; os._exit(0)")[0] == "build_failed"


def test_nothing_of_the_machine_and_no_tasks_are_in_sight() -> None:
    package = str(next(iter(evalkit_brickbench.__path__)))
    source = f"""
import importlib.util, os, socket
seen = [os.path.exists({package!r}) and os.listdir({package!r})]
seen += [importlib.util.find_spec("evalkit_brickbench." + name) for name in ("tasks", "judges", "scoring")]
seen += [os.path.exists(path) for path in ("/root/.cache/evalkit", "/home", "/etc/passwd")]
try:
    socket.create_connection(("127.0.0.1", 1))
except OSError as error:
    seen.append(error.strerror != "Connection refused" and error.strerror)
assert not any(entry for entry in seen[:-1]), seen
raise LookupError("found nothing")
"""
    assert "LookupError: found nothing" in refused(source)[1]


def test_weaker_level_is_refused_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit.sandbox import Report, _probe

    monkeypatch.setattr(_probe, "probe", lambda: Report(Level.LIMITS, ("no bubblewrap",)))
    with pytest.raises(SandboxError, match="no bubblewrap"):
        build(GOOD.encode())
    weak: Built = build(GOOD.encode(), "limits")
    assert weak.model == build_model()


def build_model() -> bytes | None:
    """The model of GOOD, made here."""
    from evalkit_brickbench.build import Assembly, at
    from evalkit_brickbench.build._files import mpd_of

    model = Assembly("pair")
    base = model.add("brick 2x4", at(), color="red")
    model.attach("brick 2x2", to=base.stud[0], by="hole[0]", color="white")
    return mpd_of(model)
