"""The published files: pulled from a local server as a miniature, checked, and made tasks of."""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path

import pytest

from evalkit import UsageError
from evalkit.data import Pull, data_folder, pulled
from evalkit.plugins import load_plugins
from evalkit.registry import Registry
from evalkit.run.plan import load_tasks as load_suite_tasks
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.tasks import load_tasks, official

DATA = Path(__file__).parent / "data" / "tasks"
STOCK = {("3001", 4): 4, ("3001", 71): 2, ("3023b", 47): 3}


@pytest.fixture
def miniature(monkeypatch):
    """The published layout with two prompts a setting, and the counts that go with it."""
    text = (DATA / "two.json").read_text(encoding="utf-8")
    files = {
        f"/benchmark/{setting}/tasks.json": text.replace("model-", f"{setting[:3]}-").encode()
        for setting in official.QUESTIONS
    }
    monkeypatch.setattr(official, "PROMPTS", 2)
    monkeypatch.setattr(official, "QUESTIONS", dict.fromkeys(official.QUESTIONS, 9))
    monkeypatch.setattr(official, "TYPES", 2)
    monkeypatch.setattr(official, "PIECES", 9)
    return {**files, "/benchmark/alt-build/inventory.json": (DATA / "inventory.json").read_bytes()}


@pytest.fixture
def url(miniature, tmp_path, monkeypatch):
    """A web server with the miniature, and a data folder of the test's own."""
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path / "data"))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = miniature.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/benchmark"
    server.shutdown()
    server.server_close()


def pull(source, **options):
    job = Pull(official.SOURCE, source, **options)
    official.pull(job)
    job.finish()
    return job


def test_the_source_is_pinned_to_a_commit():
    assert official.URL.endswith("/kulits/BrickAgent/b3df55e36c669b22ef089b13db1ee841907d09b3/benchmark")
    assert official.QUESTIONS == {"model": 1719, "set": 2369, "alt-build": 1182}


def test_a_pull_fetches_prompts_and_stock_and_records_their_hashes(url):
    said = []
    pull(url, say=said.append)
    assert said == [
        "model: 2 prompts, 9 questions",
        "set: 2 prompts, 9 questions",
        "alt-build: 2 prompts, 9 questions",
        "stock: 9 pieces of 2 types",
    ]
    assert list(pulled("brickbench")["files"]) == [
        "alt-build/inventory.json",
        "alt-build/tasks.json",
        "model/tasks.json",
        "set/tasks.json",
    ]


def test_pulled_prompts_become_tasks(url):
    pull(url)
    model = load_tasks({"set": "official", "setting": "model"}, {})
    assert [task.id for task in model] == ["mod-001", "mod-002"]
    assert model[1].inputs["prompt"] == "A green kite flies over a brown dog."
    assert model[1].hidden["category"] is None
    assert len(model[1].hidden["questions"]) == 3
    build = load_tasks({"set": "official", "setting": "alt-build", "limit": 1}, {})
    assert PartRules.of(build[0].inputs) == PartRules(1, 9, STOCK)
    assert len(load_tasks({"set": "official"}, {})) == 6


def test_ids_are_none_of_our_own(url):
    pull(url)
    ours = {task.id for block in ({}, {"set": "smoke"}) for task in load_tasks(block, {})}
    assert all(name.startswith("ek-") for name in ours)
    assert not ours & {task.id for task in load_tasks({"set": "official"}, {})}


def test_a_folder_serves_as_well_as_a_server(miniature, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path / "data"))
    for name, body in miniature.items():
        (tmp_path / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name[1:]).write_bytes(body)
    pull(str(tmp_path / "benchmark") + "/")
    assert len(load_tasks({"set": "official"}, {})) == 6


def test_categories_come_from_a_file_of_the_user(url, tmp_path):
    pull(url)
    mapping = tmp_path / "categories.json"
    mapping.write_text(json.dumps({"mod-001": "vehicle", "elsewhere": "train"}), encoding="utf-8")
    block = {"set": "official", "setting": "model", "categories_file": str(mapping)}
    assert [task.hidden["category"] for task in load_tasks(block, {})] == ["vehicle", None]
    assert [task.id for task in load_tasks({**block, "categories": ["vehicle"]}, {})] == ["mod-001"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "can't read .*categories.json: No such file"),
        ("{", "isn't JSON"),
        ("[]", "has to be an object of prompt ids and categories"),
        ('{"mod-001": "ships"}', "mod-001 has category 'ships'; there are castle"),
        ('{"mod-001": ["castle"]}', "mod-001 has category"),
    ],
)
def test_a_wrong_file_of_categories_is_refused(url, tmp_path, text, message):
    pull(url)
    mapping = tmp_path / "categories.json"
    if text is not None:
        mapping.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_tasks({"set": "official", "categories_file": str(mapping)}, {})


def test_without_a_pull_the_way_to_get_them_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="aren't here: run `evalkit data pull brickbench`"):
        load_tasks({"set": "official", "setting": "model"}, {})


def test_changed_files_are_refused_until_they_are_accepted(url, miniature):
    pull(url)
    name = "/benchmark/set/tasks.json"
    miniature[name] = miniature[name].replace(b"kite", b"swan")
    with pytest.raises(UsageError, match="the data has changed"):
        pull(url)
    assert "kite" in load_tasks({"set": "official", "setting": "set"}, {})[1].inputs["prompt"]
    pull(url, accept_changed=True)
    assert "swan" in load_tasks({"set": "official", "setting": "set"}, {})[1].inputs["prompt"]


def test_a_file_changed_after_the_pull_is_not_used(url):
    pull(url)
    path = data_folder("brickbench") / "model" / "tasks.json"
    path.write_bytes(path.read_bytes().replace(b"kite", b"swan"))
    with pytest.raises(UsageError, match="isn't what was pulled"):
        load_tasks({"set": "official", "setting": "model"}, {})


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("set/tasks.json", b'["kite", "dog"]', b'["kite", "cat"]', "over: depends on cat, which isn't there"),
        ("set/tasks.json", b"\n    ]\n  }\n]", b"\n    ]\n  }\n", "isn't JSON"),
        ("alt-build/inventory.json", b'"red": 4', b'"red": 5', "10 pieces of 2 types, the published"),
        ("alt-build/inventory.json", b"red", b"rod", "part 3001: there is no colour 'rod'"),
        ("alt-build/inventory.json", b"red", b"\xff", "isn't UTF-8"),
    ],
)  # fmt: skip
def test_a_file_with_another_content_is_refused_and_not_kept(url, miniature, name, old, new, message):
    before = miniature[f"/benchmark/{name}"]
    miniature[f"/benchmark/{name}"] = before.replace(old, new)
    assert miniature[f"/benchmark/{name}"] != before
    with pytest.raises(UsageError, match=message):
        pull(url)
    assert pulled("brickbench") is None
    assert not (data_folder("brickbench") / name).exists()


def test_a_prompt_or_question_too_few_is_refused(url, monkeypatch):
    monkeypatch.setattr(official, "QUESTIONS", {**official.QUESTIONS, "set": 10})
    with pytest.raises(UsageError, match="2 prompts with 9 questions, the published file 2 with 10"):
        pull(url)


def test_a_missing_file_is_named(url, miniature):
    del miniature["/benchmark/alt-build/inventory.json"]
    with pytest.raises(UsageError, match=r"can't fetch .*alt-build/inventory\.json"):
        pull(url)


# As a suite


def official_suite(*overrides: str):
    plugins = load_plugins()
    return plugins, Registry.load(plugins, None).one("brickbench.official", overrides)


def test_the_suite_plays_what_was_pulled(url, tmp_path):
    pull(url)
    mapping = tmp_path / "categories.json"
    mapping.write_text(json.dumps({"mod-001": "castle"}))
    plugins, suite = official_suite("tasks.setting=model", f"tasks.categories_file={mapping}")
    tasks = load_suite_tasks(plugins, suite)
    assert [task.id for task in tasks] == ["mod-001", "mod-002"]
    assert [task.hidden["category"] for task in tasks] == ["castle", None]
    plugins, suite = official_suite()
    assert len(load_suite_tasks(plugins, suite)) == 6


def test_the_suite_says_how_to_get_the_files(url):
    plugins, suite = official_suite()
    with pytest.raises(UsageError, match="run `evalkit data pull brickbench`"):
        load_suite_tasks(plugins, suite)
