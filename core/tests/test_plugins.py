"""Plugin discovery: broken plugins are named and take nobody down; contested ids concern their users only."""

from __future__ import annotations

import logging

import pytest

from evalkit import _plugin_discovery
from evalkit.errors import PluginError, UnknownNameError
from evalkit.plugins import resolve
from evalkit.registry import Registry

HEAD = "from evalkit.hookspecs import *\nfrom evalkit.hookspecs import hookimpl\n"

BROKEN = {
    "exception on import": ("1 / 0", "ZeroDivisionError"),
    "missing module": ("import no_such_module_here", "No module named 'no_such_module_here'"),
    "syntax error": ("def (:", "SyntaxError"),
    "exit on import": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "misspelled hook": (
        HEAD + "@hookimpl\ndef evalkit_metric(benchmark): return []",
        "there is no hook 'evalkit_metric'; did you mean evalkit_metrics",
    ),
    "unknown parameter": (
        HEAD + "@hookimpl\ndef evalkit_metrics(benchmark, colour): return []",
        "colour",
    ),
    "no decorator": (HEAD + "def evalkit_agents(): return []", "evalkit_agents isn't marked with @hookimpl"),
    "no hook": ("x = 1", "it implements no hook"),
    "wrapper": (
        HEAD + "@hookimpl(wrapper=True)\ndef evalkit_agents(): return (yield)",
        "evalkit_agents wraps other plugins' hooks",
    ),
    "hook raises": (
        HEAD + "@hookimpl\ndef evalkit_agents(): raise KeyError('two\\nlines')",
        "evalkit_agents: KeyError",
    ),
    "hook exits": (HEAD + "@hookimpl\ndef evalkit_models(): raise SystemExit", "evalkit_models: SystemExit"),
    "not a list": (HEAD + "@hookimpl\ndef evalkit_agents(): return 'truss'", "returned str, wanted a list"),
    "wrong spec": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [ModelSpec('m', 'a:b', '')]",
        "returned ModelSpec, wanted AgentSpec",
    ),
    "duplicate id": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [AgentSpec('a', 'm:c', '')] * 2",
        "'a' is defined twice",
    ),
    "target without attribute": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [AgentSpec('a', 'some.module', '')]",
        "AgentSpec.target is 'some.module'",
    ),
    "field of a wrong type": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [AgentSpec('a', 'm:c', '', version=2)]",
        "AgentSpec.version is 2, wanted str",
    ),
    "list for a tuple": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [AgentSpec('a', 'm:c', '', benchmarks='toy')]",
        "AgentSpec.benchmarks is 'toy'",
    ),
    "unknown kind": (
        HEAD
        + "@hookimpl\ndef evalkit_metrics(benchmark): return [MetricSpec('m', 'a:b', 'M', '', kind='sum')]",
        "MetricSpec.kind is 'sum', wanted 'proportion' or 'mean' or 'total'",
    ),
    "id with a blank": (
        HEAD + "@hookimpl\ndef evalkit_agents(): return [AgentSpec('a b', 'm:c', '')]",
        "AgentSpec.name is 'a b'",
    ),
    "environment of a wrong type": (
        HEAD + "@hookimpl\ndef evalkit_environment(benchmark, variant): return 'toy:Environment'",
        "returned str, wanted EnvironmentSpec",
    ),
    "suites is text": (
        HEAD + "@hookimpl\ndef evalkit_suites(): return 'suites.yaml'",
        "wanted a pathlib.Path",
    ),
    "no suites file": (
        HEAD + "from pathlib import Path\n@hookimpl\ndef evalkit_suites(): return Path('/no/such.yaml')",
        "there is no file",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_and_takes_nobody_down(site, case):
    source, reason = BROKEN[case]
    site.install_toy()
    site.install("bad", source)
    plugins = site.load()
    plugins.check()
    assert list(plugins.broken) == ["bad"]
    assert reason in plugins.broken["bad"]
    assert "\n" not in plugins.broken["bad"]
    assert plugins.require("toy").title == "A toy"
    assert Registry.load(plugins).suite("toy.high").metrics == ("toy.success",)


def test_a_damaged_entry_points_file_hides_no_other_plugin(site):
    site.install_toy()
    site.install("bad", "x = 1", points="[evalkit]\nthis line has no equals sign\n")
    plugins = site.load()
    assert "entry_points.txt can't be read" in plugins.broken["evalkit-bad"]
    assert "toy" in plugins.benchmarks()


def test_a_malformed_suites_file_breaks_its_plugin_with_file_and_line(site):
    site.install_toy()
    path = site.write("bad.yaml", "evalkit: 1\nsuites:\n  bad.one:\n    benchmark: toy\n    metricks: []\n")
    source = f"from pathlib import Path\n@hookimpl\ndef evalkit_suites(): return Path({str(path)!r})\n"
    site.install("bad", HEAD + source)
    plugins = site.load()
    registry = Registry.load(plugins)
    assert f"{path}:5: unknown key 'suites.bad.one.metricks'; did you mean metrics?" in plugins.broken["bad"]
    assert registry.names() == ["toy.flat", "toy.high"]


@pytest.mark.parametrize("key", ["include: [x.yaml]", "groups: {g: [toy.high]}", "overrides: {toy.high: {}}"])
def test_a_plugins_suites_file_changes_nobody_elses(site, key):
    site.install_toy()
    path = site.write("bad.yaml", f"evalkit: 1\n{key}\n")
    source = f"from pathlib import Path\n@hookimpl\ndef evalkit_suites(): return Path({str(path)!r})\n"
    site.install("bad", HEAD + source)
    plugins = site.load()
    assert Registry.load(plugins).groups() == []
    assert f"{path}:2: " in plugins.broken["bad"]


def test_a_benchmark_of_a_plugin_with_any_fault_is_refused(site):
    site.install_toy()
    source = HEAD + (
        "@hookimpl\ndef evalkit_benchmarks(): return [BenchmarkSpec('bad', 'Bad', 'a:b')]\n"
        "@hookimpl\ndef evalkit_metrics(benchmark): return [1]\n"
    )
    site.install("bad", source)
    plugins = site.load()
    with pytest.raises(PluginError, match=r"plugin 'bad': evalkit_metrics: TypeError"):
        plugins.require("bad")
    plugins.require("toy")


def test_an_unknown_name_is_a_broken_plugins_fault_if_it_bears_its_name(site):
    site.install_toy()
    site.install("bridge", "import no_such_module_here")
    registry = Registry.load(site.load())
    with pytest.raises(PluginError, match=r"plugin 'bridge'.*no_such_module_here.*suite 'bridge\.strict'"):
        registry.expand(["bridge.strict"])
    with pytest.raises(UnknownNameError, match=r"did you mean toy\.high\?.*plugin 'bridge' is broken"):
        registry.expand(["toy.hihg"])


def test_variable_limits_loading(site, monkeypatch):
    site.install_toy()
    site.install("bad", "1 / 0")
    monkeypatch.setenv("EVALKIT_PLUGINS", "toy")
    plugins = site.load()
    assert plugins.names() == ["evalkit", "toy"]
    assert not plugins.broken
    monkeypatch.setenv("EVALKIT_PLUGINS", "tox")
    plugins = site.load()
    assert plugins.names() == ["evalkit", "tox"]
    assert "did you mean toy?" in plugins.broken["tox"]


METRIC = "@hookimpl\ndef evalkit_metrics(benchmark): return [MetricSpec({id!r}, 'a:b', 'X', '')]\n"


def test_a_contested_id_concerns_only_those_who_use_it(site):
    site.install_toy()
    site.install("rival", HEAD + METRIC.format(id="toy.height"))
    plugins = site.load()
    registry = Registry.load(plugins)
    assert registry.suite("toy.high").metrics == ("toy.success",)
    message = r"metric 'toy\.height' is defined by 'rival' \(evalkit-rival 1\.5\) and also by 'toy'"
    with pytest.raises(PluginError, match=message):
        registry.suite("toy.flat")
    with pytest.raises(PluginError, match="rival"):
        plugins.metrics("toy")["toy.height"]
    assert "toy.height" not in plugins.metrics("toy")
    assert not plugins.broken


def test_three_claimants_are_all_named(site):
    for name in ("one", "two", "three"):
        site.install(name, HEAD + METRIC.format(id="m"))
    assert sorted(site.load().metrics("any").contested["m"]) == ["one", "three", "two"]


def test_a_foreign_environment_never_replaces_the_owners(site):
    site.install_toy()
    site.install(
        "rival",
        HEAD + "@hookimpl\ndef evalkit_environment(benchmark, variant): return EnvironmentSpec('rival:E')\n",
    )
    plugins = site.load()
    assert plugins.environment("toy").target == "toy_parts:Environment"
    assert plugins.environment("toy", "odd").target == "rival:E"
    assert plugins.origin(plugins.environment("toy", "odd")).plugin == "rival"


def test_an_unknown_variant_is_an_unknown_name(site):
    site.install_toy()
    with pytest.raises(UnknownNameError, match="variant of toy 'odd'"):
        site.load().environment("toy", "odd")


def test_installing_a_plugin_leaves_other_suites_protocols_alone(site):
    site.install_toy()
    before = Registry.load(site.load()).suite("toy.high").protocol_hash
    extra = METRIC.format(id="extra") + (
        "@hookimpl\ndef evalkit_validators(benchmark): return [ValidatorSpec('extra', 'a:b', '1')]\n"
    )
    site.install("extra", HEAD + extra)
    registry = Registry.load(site.load())
    assert registry.suite("toy.high").protocol_hash == before
    assert registry.suite("toy.high", ["validators+=extra"]).protocol_hash != before


def test_two_distributions_with_one_plugin_name_are_told_apart(site):
    site.install_toy()
    site.install("other", HEAD + METRIC.format(id="o"), points="[evalkit]\ntoy = other_plugin\n")
    plugins = site.load()
    assert plugins.names() == ["evalkit", "toy (evalkit-other)", "toy (evalkit-toy)"]
    assert plugins.require("toy").id == "toy"


def test_a_distribution_found_in_two_folders_counts_once(site, monkeypatch):
    site.install_toy()
    twice = list(_plugin_discovery.distributions()) * 2
    monkeypatch.setattr(_plugin_discovery, "distributions", lambda: twice)
    assert site.load().names() == ["evalkit", "toy"]


def test_origin_names_distribution_and_version(site):
    site.install_toy()
    plugins = site.load()
    origin = plugins.origin(plugins.metrics("toy")["toy.success"])
    assert (origin.plugin, origin.distribution, origin.version) == ("toy", "evalkit-toy", "1.5")
    assert str(origin) == "evalkit-toy 1.5"
    assert plugins.origin(plugins.agents("toy")["replay"]).distribution == "evalkit-core"


def test_what_a_plugin_prints_on_import_stays_off_stdout(site, capsys):
    site.install("loud", HEAD + "print('hello')\n@hookimpl\ndef evalkit_agents(): return []\n")
    site.load()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "hello\n")


def test_unknown_ids_suggest_the_nearest(site):
    site.install_toy()
    with pytest.raises(UnknownNameError, match=r"unknown metric 'toy\.sucess'; did you mean toy\.success\?"):
        site.load().metrics("toy")["toy.sucess"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("no_such_module_here:X", "No module named"),
        ("toy_parts:Missing", "no attribute 'Missing'"),
        ("exiting:X", "SystemExit: 2"),
    ],
)
def test_resolve_names_the_plugin_and_keeps_the_cause(site, target, reason):
    site.install_toy()
    site.write("exiting.py", "raise SystemExit(2)")
    with pytest.raises(PluginError, match=reason) as caught:
        resolve(target, "toy")
    assert caught.value.plugin == "toy"
    assert caught.value.__cause__ is not None
    assert resolve("toy_parts:Settings.model_fields", "toy")["blocks"].default == 4


def test_observers_get_copies_and_their_exceptions_are_logged(site, caplog):
    site.install_toy()
    assert not site.load().observed
    site.install("spoiler", HEAD + "@hookimpl\ndef evalkit_event(event): event['a'].append(2); 1 / 0\n")
    site.install(
        "listener",
        HEAD + "heard = []\n@hookimpl\ndef evalkit_event(event): heard.append(event)\n",
    )
    plugins = site.load()
    assert plugins.observed
    event = {"kind": "action", "a": [1]}
    with caplog.at_level(logging.ERROR):
        plugins.notify(event)
    assert event == {"kind": "action", "a": [1]}
    assert resolve("listener_plugin:heard", "listener") == [event]
    assert "plugin 'spoiler': evalkit_event failed" in caplog.text
