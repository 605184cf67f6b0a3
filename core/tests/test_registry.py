"""Suites, groups and overrides: what names stand for, and errors that say file and line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from evalkit.canonical import canonical_json
from evalkit.errors import PluginError, RegistryError, UnknownNameError, UsageError
from evalkit.registry import Registry, json_schema


@pytest.fixture
def plugins(site):
    site.install_toy()
    return site.load()


def load(plugins, text: str | bytes, name: str = "registry.yaml") -> Registry:
    path = Path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Registry.load(plugins, path)


# What a suite holds


def test_a_suite_has_everything_filled_in(plugins):
    suite = Registry.load(plugins).suite("toy.high")
    assert suite.origin == "evalkit-toy 1.5"
    assert (suite.version, suite.agent, suite.condition, suite.variant) == (
        2,
        "stacker",
        "default",
        "default",
    )
    assert suite.settings == {"blocks": 6, "glue": False, "wind": {}}
    assert suite.limits == {"calls": 3, "meter:checks": 5}
    assert type(suite.limits["calls"]) is int
    assert suite.final_executors == ("toy.judge",)
    assert suite.notices == ()
    assert pickle.loads(pickle.dumps(suite)) == suite


def test_protocol_holds_what_decides_results_and_nothing_else(plugins):
    protocol = Registry.load(plugins).suite("toy.high").protocol()
    assert protocol == {
        "benchmark": {"toy": "1"},
        "tasks": {"number": 3},
        "condition": "default",
        "variant": "default",
        "limits": {"calls": 3, "meter:checks": 5},
        "settings": {"blocks": 6, "glue": False, "wind": {}},
        "validators": {"toy.rules": "2"},
        "executors": {"toy.stand": "3"},
        "final_executors": {"toy.judge": "1"},
        "metrics": {"toy.success": "1"},
        "order": [["toy.rules"], ["toy.stand"], ["toy.judge"]],
    }
    canonical_json(protocol)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ("title: Other", True),
        ("tags: [x]", True),
        ("agent: replay", True),
        ("thresholds: [toy.success>=0.5]", True),
        ("settings: {glue: false}", True),
        ("limits: {calls: 3.0}", True),
        ("settings: {glue: true}", False),
        ("limits: {calls: 4}", False),
        ("tasks: {number: 4}", False),
        ("condition: windy", False),
        ("variant: tall", False),
        ("executors: [toy.stand, toy.judge]", False),
        ("metrics: []", False),
    ],
)
def test_the_hash_changes_with_the_protocol_only(plugins, change, same):
    before = Registry.load(plugins).suite("toy.high").protocol_hash
    after = load(plugins, f"evalkit: 1\noverrides:\n  toy.high: {{{change}}}\n").suite("toy.high")
    assert (after.protocol_hash == before) is same


def test_the_order_of_executors_is_part_of_the_protocol(plugins):
    registry = Registry.load(plugins)
    hashes = {
        registry.suite("toy.high", [f"executors={order}"]).protocol_hash
        for order in ("toy.stand,toy.judge", "toy.judge,toy.stand")
    }
    assert len(hashes) == 2


# Looking up


def test_expand_takes_suites_versions_groups_and_patterns(plugins):
    registry = load(
        plugins,
        "evalkit: 1\ngroups:\n  ci.smoke: {tags: [smoke]}\n  both: {tags: [smoke, high]}\n"
        "  nested: [both, 'toy.f*', toy.high]\n",
    )
    assert registry.groups() == ["both", "ci.smoke", "nested"]
    assert registry.expand(["ci.smoke"]) == ["toy.flat", "toy.high"]
    assert registry.expand(["both"]) == ["toy.high"]
    assert registry.expand(["nested"]) == ["toy.high", "toy.flat"]
    assert registry.expand(["toy.high@2", "toy.*"]) == ["toy.high", "toy.flat"]
    assert registry.suite("toy.high@2").name == "toy.high"


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("toy.hihg", UnknownNameError, "did you mean toy.high"),
        ("high", UnknownNameError, "did you mean toy.high"),
        ("zzz*", UnknownNameError, "no suite matches"),
        ("toy.high@3", UsageError, "toy.high is at version 2"),
        ("empty", UsageError, "registry.yaml:3: no suite of the group 'empty'"),
        ("round", RegistryError, "registry.yaml:4: the group 'round' holds itself"),
    ],
)
def test_targets_that_stand_for_nothing(plugins, target, error, message):
    text = "evalkit: 1\ngroups:\n  empty: {tags: [nothing]}\n  round: [square]\n  square: [round]\n"
    with pytest.raises(error, match=message):
        load(plugins, text).expand([target])


def test_lookup_order(plugins, tmp_path, monkeypatch):
    def file(folder: str, title: str) -> Path:
        path = tmp_path / "work" / folder / "registry.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"evalkit: 1\noverrides: {{toy.high: {{title: {title}}}}}\n")
        return path

    def title(path: Path | None = None) -> str:
        return Registry.load(plugins, path).suite("toy.high").title

    deep = tmp_path / "work" / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert title() == "High towers"
    file(".", "far")
    assert title() == "far"
    file("a", "near")
    assert title() == "near"
    (deep / "registry.yaml").write_text("# another tool's file\nservices: {}\n")
    assert title() == "near"
    monkeypatch.setenv("EVALKIT_REGISTRY", str(file("variable", "variable")))
    assert title() == "variable"
    assert title(file("option", "option")) == "option"


# Files over plugins


def test_an_override_merges_mappings_replaces_lists_and_is_noted(plugins):
    registry = load(
        plugins,
        "evalkit: 1\noverrides:\n  toy.high:\n    limits: {tokens: 900}\n    metrics: [toy.height]\n",
    )
    suite = registry.suite("toy.high")
    assert suite.limits == {"calls": 3, "meter:checks": 5, "tokens": 900}
    assert suite.metrics == ("toy.height",)
    assert registry.notices == list(suite.notices)
    assert "registry.yaml:3 overrides the suite toy.high: limits, metrics" in suite.notices[0]
    assert registry.suite("toy.flat").notices == ()


def test_a_file_replaces_a_plugins_suite_with_a_notice(plugins):
    registry = load(plugins, "evalkit: 1\nsuites:\n  toy.high: {benchmark: toy}\n")
    suite = registry.suite("toy.high")
    assert suite.version == 1
    assert suite.origin.endswith("registry.yaml")
    assert "replaces the suite toy.high of plugin 'toy'" in suite.notices[0]


def test_two_plugins_with_one_suite_name_concern_only_its_users(site):
    site.install_toy()
    path = site.write("rival.yaml", "evalkit: 1\nsuites:\n  toy.flat: {benchmark: toy}\n")
    site.install(
        "rival",
        "from pathlib import Path\nfrom evalkit.hookspecs import hookimpl\n"
        f"@hookimpl\ndef evalkit_suites(): return Path({str(path)!r})\n",
    )
    plugins = site.load()
    registry = Registry.load(plugins)
    registry.suite("toy.high")
    with pytest.raises(PluginError, match=r"suite 'toy\.flat' is defined by .*'rival'.*'toy'"):
        registry.suite("toy.flat")
    own = load(plugins, "evalkit: 1\nsuites:\n  toy.flat: {benchmark: toy}\n")
    assert own.suite("toy.flat").benchmark == "toy"


def test_an_override_of_a_suite_that_is_not_loaded_is_noted_but_a_typo_is_an_error(site, monkeypatch):
    text = "evalkit: 1\noverrides:\n  toy.high: {title: x}\n  bridge.strict: {title: x}\n"
    site.install_toy()
    with pytest.raises(RegistryError, match=r"registry\.yaml:4: unknown suite 'bridge\.strict'"):
        load(site.load(), text)
    monkeypatch.setenv("EVALKIT_PLUGINS", "toy")
    registry = load(site.load(), text)
    assert "bridge.strict, which isn't loaded" in registry.notices[1]


def test_includes_are_relative_and_count_once(plugins):
    Path("parts").mkdir()
    Path("parts/one.yaml").write_text("evalkit: 1\ninclude: [../two.yaml]\nsuites: {one: {benchmark: toy}}\n")
    Path("two.yaml").write_text("evalkit: 1\nsuites: {two: {benchmark: toy}}\n")
    registry = load(plugins, "evalkit: 1\ninclude: [parts/one.yaml, two.yaml]\n")
    assert registry.names() == ["one", "toy.flat", "toy.high", "two"]


def test_merge_keys_and_anchors(plugins):
    registry = load(
        plugins,
        "evalkit: 1\nsuites:\n  a: &a {benchmark: toy, limits: {calls: 1}, condition: no}\n"
        "  b: {<<: *a, title: B}\n",
    )
    suite = registry.suite("b")
    assert (suite.limits, suite.title, suite.condition) == ({"calls": 1}, "B", "no")


# Files that are wrong

SUITE = "evalkit: 1\nsuites:\n  mine:\n    benchmark: toy\n"

MALFORMED = {
    "empty": ("", 1, "begins with `evalkit: 1`"),
    "a list": ("- evalkit\n", 1, "begins with `evalkit: 1`"),
    "no header": ("suites: {}\n", 1, "begins with `evalkit: 1`"),
    "newer": ("\nevalkit: 2\n", 2, "the format is 2, this evalkit reads 1"),
    "text as header": ("evalkit: '1'\n", 1, "the format is '1'"),
    "unknown section": ("evalkit: 1\nsuits: {}\n", 2, "unknown key 'suits'; did you mean suites?"),
    "unknown key": (
        SUITE + "    metricks: []\n",
        5,
        "unknown key 'suites.mine.metricks'; did you mean metrics",
    ),
    "unknown key of an override": (
        "evalkit: 1\noverrides:\n  toy.high:\n    limit: {}\n",
        4,
        "did you mean limits?",
    ),
    "unknown key of a group": ("evalkit: 1\ngroups:\n  g: {tag: [x]}\n", 3, "did you mean tags?"),
    "duplicate key": (SUITE + "    title: a\n    title: b\n", 6, "the key 'title' appears twice"),
    "number as key": ("evalkit: 1\nsuites:\n  7: {benchmark: toy}\n", 3, "a key has to be text"),
    "no benchmark": ("evalkit: 1\nsuites:\n  mine:\n    title: x\n", 3, "'suites.mine.benchmark' is missing"),
    "text for a list": (
        SUITE + "    metrics: toy.success\n",
        5,
        "suites.mine.metrics should be a valid list",
    ),
    "number for text": (SUITE + "    title: 3\n", 5, "suites.mine.title should be a valid string; it is 3"),
    "listed twice": (SUITE + "    metrics: [a, a]\n", 5, "'a' is listed twice"),
    "limit of zero": (SUITE + "    limits:\n      calls: 0\n", 6, "should be greater than 0; it is 0"),
    "limit is a truth": (SUITE + "    limits:\n      calls: true\n", 6, "should be a valid number"),
    "half a call": (SUITE + "    limits: {calls: 2.5}\n", 5, "wanted a whole number"),
    "unknown limit": (SUITE + "    limits:\n      call: 2\n", 6, "unknown limit 'call'; did you mean calls"),
    "no threshold": (SUITE + "    thresholds: [good]\n", 5, "'good' is no threshold"),
    "not a number": (SUITE + "    settings:\n      x: .nan\n", 6, "'.nan' is not a number"),
    "name with a blank": ("evalkit: 1\nsuites:\n  my suite: {benchmark: toy}\n", 3, "'my suite' is no name"),
    "tab": ("evalkit: 1\nsuites:\n\tmine: {}\n", 3, "a tab can't indent YAML"),
    "torn": (SUITE + "    metrics: [a,\n", 6, "flow"),
    "tag": ("evalkit: 1\nsuites: !!python/object:os.system {}\n", 2, "the tag"),
    "unknown alias": ("evalkit: 1\nsuites: *nothing\n", 2, "undefined alias"),
    "control character": ("evalkit: 1\n# \x07\n", 2, "a character that YAML doesn't allow"),
    "not UTF-8": (b"evalkit: 1\n# caf\xe9\n", 2, "it is not UTF-8"),
    "itself inside": ("evalkit: 1\nsuites: &a\n  x: *a\n", 2, "it is nested too deeply"),
    "two documents": ("evalkit: 1\n---\nevalkit: 1\n", 2, "expected a single document"),
    "missing include": ("evalkit: 1\ninclude:\n  - gone.yaml\n", 3, "there is no file gone.yaml"),
    "includes itself": ("evalkit: 1\ninclude: [./registry.yaml]\n", 2, "includes this file again"),
    "empty group": ("evalkit: 1\ngroups:\n  g: []\n", 3, "a group is a list of suites"),
    "group named like a suite": (
        "evalkit: 1\ngroups:\n  toy.high: [toy.flat]\n",
        3,
        "bears the name of a suite",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_name_file_and_line(plugins, case):
    text, line, message = MALFORMED[case]
    with pytest.raises(RegistryError) as caught:
        load(plugins, text)
    assert f"registry.yaml:{line}: " in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cycle_of_includes_is_found(plugins):
    Path("a.yaml").write_text("evalkit: 1\ninclude: [b.yaml]\n")
    Path("b.yaml").write_text("evalkit: 1\ninclude: [a.yaml]\n")
    with pytest.raises(RegistryError, match=r"b\.yaml:2: a\.yaml includes this file again"):
        Registry.load(plugins, Path("a.yaml"))


def test_one_suite_in_two_files_is_an_error(plugins):
    Path("a.yaml").write_text("evalkit: 1\nsuites: {mine: {benchmark: toy}}\n")
    with pytest.raises(
        RegistryError, match=r"registry\.yaml:4: the suite 'mine' is also defined in .*a\.yaml:2"
    ):
        load(plugins, "evalkit: 1\ninclude: [a.yaml]\nsuites:\n  mine: {benchmark: toy}\n")


def test_alias_bombs_and_huge_files_are_refused_quickly(plugins):
    lines = ["evalkit: 1", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(RegistryError, match="do aliases multiply"):
        load(plugins, "\n".join(lines))
    with pytest.raises(RegistryError, match="larger than 1000000 bytes"):
        load(plugins, "evalkit: 1\n" + "#" * 1_000_001)


@pytest.mark.parametrize("name", ["gone.yaml", "."])
def test_a_named_file_has_to_be_readable(plugins, name):
    with pytest.raises(RegistryError, match=r"No such file|Is a directory|denied"):
        Registry.load(plugins, Path(name))


# Names inside suites


@pytest.mark.parametrize(
    ("lines", "line", "error", "message"),
    [
        ("metrics:\n      - toy.success\n      - toy.heigth", 7, UnknownNameError, "did you mean toy.height"),
        (
            "validators: [toy.rule]",
            5,
            UnknownNameError,
            "unknown validator 'toy.rule'; did you mean toy.rules",
        ),
        ("executors: [toy.stnd]", 5, UnknownNameError, "unknown executor 'toy.stnd'"),
        ("final_executors: [nobody]", 5, UnknownNameError, "unknown executor 'nobody'"),
        ("variant: odd", 5, RegistryError, "unknown variant of toy 'odd'"),
        ("settings:\n      block: 3", 6, UnknownNameError, "setting of toy 'block'; did you mean blocks"),
        (
            "settings:\n      blocks: 0",
            6,
            RegistryError,
            "settings.blocks should be greater than or equal to 1",
        ),
        ("settings:\n      wind:\n        north: x", 7, RegistryError, "settings.wind.north should be"),
    ],
)
def test_wrong_names_inside_a_suite_name_file_and_line(plugins, lines, line, error, message):
    registry = load(plugins, f"{SUITE}    {lines}\n")
    with pytest.raises(error) as caught:
        registry.suite("mine")
    assert f"registry.yaml:{line}" in str(caught.value)
    assert message in str(caught.value)


def test_an_unknown_benchmark_names_suite_and_place(plugins):
    registry = load(plugins, "evalkit: 1\nsuites:\n  mine:\n    benchmark: tyo\n")
    with pytest.raises(UnknownNameError, match=r"did you mean toy\? \(suite mine, .*registry\.yaml:4"):
        registry.suite("mine")


# -T


@pytest.mark.parametrize(
    ("option", "field", "value"),
    [
        ("blocks=9", "settings", {"blocks": 9, "glue": False, "wind": {}}),
        ("settings.glue=true", "settings", {"blocks": 6, "glue": True, "wind": {}}),
        ("wind.north=1e1", "settings", {"blocks": 6, "glue": False, "wind": {"north": 10.0}}),
        ("limits.calls=5", "limits", {"calls": 5, "meter:checks": 5}),
        ("limits.calls=null", "limits", {"meter:checks": 5}),
        ("limits.meter:checks=1", "limits", {"calls": 3, "meter:checks": 1}),
        ("limits={cost: 0.5}", "limits", {"cost": 0.5}),
        ("tasks.number=1", "tasks", {"number": 1}),
        ("tasks.ids=[a, b]", "tasks", {"number": 3, "ids": ["a", "b"]}),
        ("condition=windy", "condition", "windy"),
        ("condition=007", "condition", "007"),
        ("variant=tall", "variant", "tall"),
        ("metrics+=toy.height", "metrics", ("toy.success", "toy.height")),
        ("metrics+=toy.success", "metrics", ("toy.success",)),
        ("metrics=[toy.height]", "metrics", ("toy.height",)),
        ("metrics=toy.height, toy.success", "metrics", ("toy.height", "toy.success")),
        ("metrics-=toy.success", "metrics", ()),
        ("validators-=toy.rules", "validators", ()),
    ],
)
def test_options_change_one_thing(plugins, option, field, value):
    registry = Registry.load(plugins)
    before, after = registry.suite("toy.high"), registry.suite("toy.high", [option])
    assert getattr(after, field) == value
    changed = {k for k, v in after.protocol().items() if v != before.protocol()[k]}
    assert changed <= {field, "order"}
    assert registry.suite("toy.high") == before


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("blocks", "write it as key=value"),
        ("=3", "write it as key=value"),
        ("block=3", "did you mean blocks"),
        ("calls=3", "the limit is limits.calls"),
        ("blocks=many", "settings.blocks should be a valid integer"),
        ("blocks=[", "expected the node content"),
        ("blocks+=1", "works for validators, executors"),
        ("limits.call=3", "did you mean calls"),
        ("limits.call=null", "did you mean calls"),
        ("limits.calls=-1", "should be greater than 0"),
        ("limits=3", "limits is a mapping"),
        ("metrics+=toy.heigth", "did you mean toy.height"),
        ("metrics-=toy.sucess", "did you mean toy.success"),
        ("agent=replay", "--agent"),
        ("title=x", "can't be changed here"),
        ("variant=odd", "unknown variant"),
    ],
)
def test_wrong_options_are_usage_errors_that_quote_them(plugins, option, message):
    with pytest.raises(UsageError) as caught:
        Registry.load(plugins).suite("toy.high", [option])
    assert message in str(caught.value)
    assert f"-T {option}" in str(caught.value)


def test_options_apply_in_order(plugins):
    registry = Registry.load(plugins)
    suite = registry.suite("toy.high", ["wind.north=1", "wind.south=2", "wind.north=3", "metrics=[]"])
    assert suite.settings["wind"] == {"north": 3.0, "south": 2.0}
    assert suite.metrics == ()


def test_the_json_schema_refuses_unknown_keys():
    schema = json_schema()
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["evalkit"]
    suite = schema["$defs"]["SuiteBlock"]
    assert suite["additionalProperties"] is False
    assert suite["properties"]["benchmark"]["description"] == "Id of the benchmark."
