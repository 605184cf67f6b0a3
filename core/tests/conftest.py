"""A folder in which tests install plugins, as pip would."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from evalkit import _plugin_discovery
from evalkit.plugins import Plugins, load_plugins

TOY_SOURCE = """
from pathlib import Path

from evalkit.hookspecs import (
    AgentSpec, BenchmarkSpec, CommandSpec, EnvironmentSpec, ExecutorSpec, MetricSpec, ValidatorSpec, hookimpl,
)

@hookimpl
def evalkit_benchmarks():
    return [BenchmarkSpec(id="toy", title="A toy", tasks="toy_parts:load", settings="toy_parts:Settings",
                          claim="Shows that towers stand, and nothing about bridges.")]

@hookimpl
def evalkit_suites():
    return Path(__file__).with_name("toy_suites.yaml")

@hookimpl
def evalkit_environment(benchmark, variant):
    if benchmark == "toy" and variant in ("default", "tall"):
        return EnvironmentSpec(target="toy_parts:Environment")

@hookimpl
def evalkit_validators(benchmark):
    if benchmark == "toy":
        return [ValidatorSpec(id="toy.rules", target="toy_parts:Rules", version="2", summary="blocks touch")]

@hookimpl
def evalkit_executors(benchmark):
    if benchmark == "toy":
        return [ExecutorSpec(id="toy.stand", target="toy_parts:Stand", version="3"),
                ExecutorSpec(id="toy.judge", target="toy_parts:Judge", version="1", needs_model=True)]

@hookimpl
def evalkit_metrics(benchmark):
    if benchmark == "toy":
        return [MetricSpec("toy.success", "toy_parts:Success", "Success", "the tower stood",
                           denominator="towers built", not_applicable="no tower was built"),
                MetricSpec("toy.height", "toy_parts:Height", "Height", "how high", kind="mean", unit="m")]

@hookimpl
def evalkit_agents():
    return [AgentSpec(name="stacker", target="toy_parts:Stacker", summary="stacks", benchmarks=("toy",))]

@hookimpl
def evalkit_commands():
    return [CommandSpec(name="toy", target="toy_parts:command", summary="What a toy does.")]
"""

TOY_PARTS = """
import click
import pydantic

class Settings(pydantic.BaseModel):
    blocks: int = pydantic.Field(4, ge=1, description="Number of blocks.")
    glue: bool = False
    wind: dict[str, float] = {}

def load(tasks, settings):
    from evalkit.types import Task
    numbers = range(tasks.get("number", 3))
    return [Task(f"tower-{n}", {}, {"tags": ["high"] if n > 1 else []}) for n in numbers]

class Environment: pass

@click.command()
@click.argument("outcome", type=click.Choice(["fine", "seven", "crash", "interrupt"]))
@click.option("--pace", default=1)
def command(outcome, pace):
    if outcome == "seven":
        return 7
    if outcome == "crash":
        raise TypeError("the tower\\nfell")
    if outcome == "interrupt":
        raise KeyboardInterrupt
    click.echo(f"pace {pace}")
"""

TOY_SUITES = """\
evalkit: 1
suites:
  toy.high:
    benchmark: toy
    title: High towers
    version: 2
    tags: [smoke, high]
    tasks: {number: 3}
    agent: stacker
    limits: {calls: 3, 'meter:checks': 5}
    settings:
      blocks: 6
    validators: [toy.rules]
    executors: [toy.stand]
    final_executors: [toy.judge]
    metrics: [toy.success]
  toy.flat:
    benchmark: toy
    tags: [smoke]
    metrics:
      - toy.success
      - toy.height
"""


class Site:
    """Installs plugins into a folder of sys.path and loads those, and no others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: set[str] = set()

    def install(
        self, name: str, source: str, *, distribution: str | None = None, points: str | None = None
    ) -> None:
        """Install a plugin whose module `<name>_plugin` has this source."""
        module = f"{name}_plugin"
        self.write(f"{module}.py", textwrap.dedent(source))
        metadata = self.folder / f"{(distribution or f'evalkit-{name}').replace('-', '_')}-1.5.dist-info"
        metadata.mkdir()
        text = f"Metadata-Version: 2.1\nName: {distribution or f'evalkit-{name}'}\nVersion: 1.5\n"
        (metadata / "METADATA").write_text(text)
        (metadata / "entry_points.txt").write_text(points or f"[evalkit]\n{name} = {module}\n")

    def install_toy(self) -> None:
        """Install a plugin that uses every hook rightly."""
        self.write("toy_parts.py", TOY_PARTS)
        self.write("toy_suites.yaml", TOY_SUITES)
        self.install("toy", TOY_SOURCE)

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".py":
            self.modules.add(path.stem)
            importlib.invalidate_caches()
        return path

    def load(self) -> Plugins:
        """Load what is installed here."""
        load_plugins.cache_clear()
        return load_plugins()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty folder for plugins; the current folder is an empty one, too."""
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for variable in ("EVALKIT_PLUGINS", "EVALKIT_REGISTRY", "EVALKIT_DEBUG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(
        _plugin_discovery, "distributions", lambda: importlib.metadata.distributions(path=[str(folder)])
    )
    site = Site(folder)
    yield site
    for module in site.modules:
        sys.modules.pop(module, None)
    load_plugins.cache_clear()


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module with the toy benchmark of towers, importable by the names that its plugin gives."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "report")
    yield importlib.import_module("toy_towers")
    sys.modules.pop("toy_towers", None)
