"""Official tasks: a miniature of the release is pulled, verified, and gives the objects it came from."""

from __future__ import annotations

import base64
import http.server
import io
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lmbuild_official import LDU, MILLIMETRES, NAMES, own_facts, write_release
from PIL import Image

from evalkit import StepContext, Task, ToolCall, UsageError
from evalkit.data import Pull, data_folder, pulled
from evalkit.plugins import load_plugins
from evalkit.registry import Registry
from evalkit.run.plan import load_tasks as load_suite_tasks
from evalkit_lmbuild.design import Mesh
from evalkit_lmbuild.environment import BuildEnvironment
from evalkit_lmbuild.formats import DesignError, write_glb
from evalkit_lmbuild.formats.assets import pool_mesh, reference_design, role_of
from evalkit_lmbuild.scoring.computed import computed
from evalkit_lmbuild.settings import BuildSettings
from evalkit_lmbuild.tasks import facts_of, load_tasks, photo_of, pulling
from evalkit_lmbuild.tasks.pulled import clean_path
from evalkit_lmbuild.tasks.pulling import pull
from evalkit_lmbuild.tasks.stated_materials import stated_materials

NOTHING = StepContext({}, {})


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_release(folder)
    return folder


@pytest.fixture
def release(miniature: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the miniature, and a data folder of the test's own."""
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path / "data"))
    return Path(shutil.copytree(miniature, tmp_path / "release"))


def fetched(source: Any, **options: Any) -> list[str]:
    said: list[str] = []
    job = Pull("lmbuild", str(source), say=said.append, **options)
    pull(job)
    job.finish()
    return said


def official(brief: str = "name_only", **block: Any) -> list[Task]:
    return list(load_tasks({"set": "core_v2", **block}, {"brief": brief}))


def settings(**changes: Any) -> dict[str, Any]:
    return BuildSettings(**changes).model_dump(mode="json")


def changed(release: Path, edit: Any) -> None:
    """Change the first task of the list."""
    path = release / "benchmark" / "core_v2.json"
    entries = json.loads(path.read_text())
    edit(entries[0])
    path.write_text(json.dumps(entries))


# Pulling


def test_a_folder_is_pulled_and_every_file_is_in_the_manifest(release: Path) -> None:
    n_parts = [len(own_facts(name).pool) for name in NAMES]
    assert fetched(release) == [
        f"core_v2: 2 tasks, {sum(n_parts) + 4} files",
        f"full_v2: 1 tasks, {n_parts[0] + 2} files",
    ]
    record = pulled("lmbuild")
    assert record is not None
    assert len(record["files"]) == sum(n_parts) + 4 + 2
    assert "tasks/keepsake_box/pool/P001.glb" in record["files"]
    assert not list(data_folder("lmbuild").glob(".*"))


@pytest.mark.parametrize("over_http", [True, False])
def test_an_archive_with_the_repository_below_a_folder(
    release: Path, tmp_path: Path, over_http: bool
) -> None:
    (tmp_path / "whole").mkdir()
    release.rename(tmp_path / "whole" / "LMBuild-fa29db30")
    archive = Path(shutil.make_archive(str(tmp_path / "lmbuild"), "zip", tmp_path / "whole"))
    if not over_http:
        fetched(archive)
    else:
        with served(archive.read_bytes()) as url:
            fetched(url)
    assert [task.id for task in official()] == list(NAMES)
    assert not (data_folder("lmbuild") / pulling.ARCHIVE).exists()
    record = pulled("lmbuild")
    assert record is not None
    assert pulling.ARCHIVE not in record["files"]


class served:  # noqa: N801 - reads like a function
    """A web server that has one file."""

    def __init__(self, body: bytes) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/lmbuild.zip"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_what_changed_at_the_source_is_refused_until_it_is_accepted(release: Path) -> None:
    fetched(release)
    changed(release, lambda entry: entry["object"].update(name="throne"))
    with pytest.raises(UsageError, match="the data has changed"):
        fetched(release)
    assert official()[0].inputs["name"] == "milking stool"
    fetched(release, accept_changed=True)
    assert official()[0].inputs["name"] == "throne"


def test_files_changed_after_the_pull_are_not_used(release: Path) -> None:
    fetched(release)
    (task,) = official(names=["milking_stool"])
    reference = data_folder("lmbuild") / "tasks" / "milking_stool" / "reference.glb"
    reference.write_bytes(reference.read_bytes()[:-1] + b"x")
    with pytest.raises(UsageError, match=r"reference\.glb isn't what was pulled"):
        facts_of(task)
    photo = data_folder("lmbuild") / "tasks" / "milking_stool" / "photo.jpg"
    photo.unlink()
    with pytest.raises(UsageError, match=r"photo\.jpg isn't among the pulled data"):
        official("name_only+image")
    index = data_folder("lmbuild") / "core_v2.json"
    index.write_text(index.read_text().replace("stool", "stoop"))
    with pytest.raises(UsageError, match=r"core_v2\.json isn't what was pulled"):
        official()


def test_without_a_pull_the_way_to_get_them_is_named(release: Path) -> None:
    with pytest.raises(UsageError, match="aren't here: run `evalkit data pull lmbuild`"):
        official()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda e: e.pop("conditions"), "milking_stool can't be read: there is no field 'conditions'"),
        (lambda e: e["conditions"].pop(), r"'functional\+image' isn't there"),
        (lambda e: e["subpart_pool"]["parts"][0].update(mesh="../../etc/passwd"), "leads out of the data"),
        (lambda e: e["subpart_pool"]["parts"][0].update(mesh="tasks/no.glb"), r"1 files .* tasks/no\.glb"),
        (lambda e: e["subpart_pool"]["parts"][0].update(size_m=[1, 2]), "milking_stool can't be read"),
        (lambda e: e["required_parts"][0].pop("part"), "no field 'part'"),
        (lambda e: e.update(task_id="../x"), r"official task \.\./x can't be read: task_id"),
        (lambda e: e.update(object=3), "milking_stool can't be read"),
    ],
)
def test_a_list_that_is_wrong_is_refused_and_not_recorded(release: Path, edit: Any, message: str) -> None:
    changed(release, edit)
    with pytest.raises(UsageError, match=message):
        fetched(release)
    assert pulled("lmbuild") is None


@pytest.mark.parametrize("body", [b"", b"PK", b"<html>", b"{}"])
def test_what_is_no_archive(release: Path, tmp_path: Path, body: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(body)
    with pytest.raises(UsageError, match="no zip archive"):
        fetched(tmp_path / "x.zip")
    with pytest.raises(UsageError, match=r"holds no core_v2\.json"):
        fetched(tmp_path / "release" / "benchmark" / "tasks")


def test_an_archive_that_writes_elsewhere(release: Path, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("../outside.json", "[]")
    with pytest.raises(UsageError, match="leads out of the data"):
        fetched(tmp_path / "x.zip")
    assert not list(tmp_path.rglob("outside.json"))


@pytest.mark.parametrize("path", ["", "/a", "a/../../b", "C:\\a", "..\\a", "a\0"])
def test_paths_that_lead_elsewhere(path: str) -> None:
    with pytest.raises(UsageError, match="leads out"):
        clean_path(path)


# Objects


@pytest.fixture
def tasks(release: Path) -> dict[str, Task]:
    fetched(release)
    return {task.id: task for task in official()}


@pytest.mark.parametrize("name", NAMES)
def test_claims_and_names_are_those_of_the_list(tasks: dict[str, Task], name: str) -> None:
    found, own = facts_of(tasks[name]), own_facts(name)
    for field in ("id", "name", "aliases", "required_parts", "subsystems", "motions"):
        assert getattr(found, field) == getattr(own, field), field
    assert found.attributes[:-1] == own.attributes
    assert found.free_standing
    assert "reference" not in json.dumps(tasks[name].inputs)


def test_meshes_of_the_pool_have_their_axes_and_units(tasks: dict[str, Task]) -> None:
    for name in NAMES:
        found, own = facts_of(tasks[name]).pool, own_facts(name).pool
        assert [(part.id, part.name) for part in found] == [(part.id, part.name) for part in own]
        for one, other in zip(found, own, strict=True):
            centre = np.mean(other.mesh.bounds, axis=0)
            assert np.abs(one.mesh.vertices - (other.mesh.vertices - centre)).max() < 1e-6, (name, one.id)
    entries = tasks["keepsake_box"].inputs["subpart_pool"]["parts"]
    units = {entry["pool_part_id"]: entry["mesh"]["unit_m"] for entry in entries}
    assert (units.pop(LDU), set(units.values())) == (0.0004, {1.0})
    assert MILLIMETRES in units


@pytest.mark.parametrize("name", NAMES)
def test_references_stand_on_the_ground_with_their_joints(tasks: dict[str, Task], name: str) -> None:
    found, own = facts_of(tasks[name]).reference, own_facts(name).reference
    assert found is not None
    assert own is not None
    ids = dict(zip((p.id for p in own.parts), (p.id for p in found.parts), strict=True))
    for one, other in zip(found.parts, own.parts, strict=True):
        assert np.allclose(one.world.bounds, other.world.bounds, atol=1e-6)
        assert one.role == other.role
    for one, other in zip(found.joints, own.joints, strict=True):
        assert (one.type, one.parent, one.child) == (other.type, ids[other.parent], ids[other.child])
        for field in ("axis", "origin", "limits"):
            mine, theirs = getattr(one, field), getattr(other, field)
            assert (mine is None) == (theirs is None)
            assert mine is None or mine == pytest.approx(theirs, abs=1e-6), (one.id, field)


def test_this_projects_reference_is_as_good_by_the_official_object(tasks: dict[str, Task]) -> None:
    own = own_facts("keepsake_box").reference
    assert own is not None
    found, wanted = computed(own, facts_of(tasks["keepsake_box"])), computed(own, own_facts("keepsake_box"))
    for metric in ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "D.1", "D.3", "R.1"):
        assert found[metric].score == pytest.approx(wanted[metric].score, abs=0.01), metric


def test_a_reference_that_leans_does_not_stand_by_itself(release: Path) -> None:
    meshes = {"pole": Mesh(*pole(0.0)), "arm": Mesh(*pole(1.0))}
    write_glb(meshes, release / "benchmark" / "tasks" / "milking_stool" / "reference.glb")
    changed(release, lambda entry: entry["reference"].update(articulation={"joints": []}))
    fetched(release)
    facts = facts_of(official()[0])
    assert not facts.free_standing
    assert facts.reference is not None
    assert computed(facts.reference, facts)["S.3"].score is None


def pole(x: float) -> tuple[Any, Any]:
    """A pole of 0.1 × 1 × 0.1 with +Y up; at x > 0 a beam that hangs over to that side."""
    import trimesh

    size, centre = ((0.1, 1, 0.1), (0, 0.5, 0)) if x == 0 else ((2 * x, 0.1, 0.1), (x, 1.05, 0))
    shape = trimesh.creation.box(extents=size)
    shape.apply_translation(centre)
    return np.asarray(shape.vertices, dtype=np.float64), np.asarray(shape.faces, dtype=np.int32)


def test_photos_go_to_the_brief_and_to_judges(release: Path) -> None:
    fetched(release)
    plain, pictured = official("name_only"), official("name_only+image")
    assert [task.inputs["image"] for task in plain] == [None, None]
    for number, task in enumerate(pictured):
        data = base64.b64decode(task.inputs["image"])
        shown = Image.open(io.BytesIO(data))
        assert (shown.format, shown.size) == ("PNG", (1024, 512))
        assert abs(shown.getpixel((5, 5))[0] - (60 + 40 * number)) < 4
        assert photo_of(task) == photo_of(plain[number]) == data


def test_an_episode_with_official_parts(tasks: dict[str, Task]) -> None:
    environment = BuildEnvironment(settings(brief="name_only"))
    environment.reset(tasks["keepsake_box"], 0)
    listed = environment.step(ToolCall("list_parts", {}), NOTHING).observation.data["parts"]
    own = {part.id: part.size for part in own_facts("keepsake_box").pool}
    for part in listed:
        assert part["size_m"] == pytest.approx(own[part["part_id"]], abs=1e-5)
    place = {"part_id": LDU, "instance_id": "a", "position": [0, 0, 0.095]}
    assert environment.step(ToolCall("place_part", place), NOTHING).ok
    submitted = environment.step(ToolCall("submit", {}), NOTHING).candidate
    assert submitted is not None
    from evalkit_lmbuild.candidates import candidate_design
    from evalkit_lmbuild.validator import DesignValidator

    assert DesignValidator(settings()).validate(tasks["keepsake_box"], submitted) == []
    (part,) = candidate_design(tasks["keepsake_box"], submitted).parts
    assert part.mesh.size == pytest.approx(own[LDU], abs=1e-6)


def test_the_suite_plays_what_was_pulled(release: Path) -> None:
    plugins = load_plugins()
    suite = Registry.load(plugins, None).one("lmbuild.official", ())
    with pytest.raises(UsageError, match="run `evalkit data pull lmbuild`"):
        load_suite_tasks(plugins, suite)
    fetched(release)
    assert [task.id for task in load_suite_tasks(plugins, suite)] == list(NAMES)
    assert len(load_tasks({"set": "full_v2"}, {"brief": "attributes"})) == 1


def test_materials_come_from_statements(tasks: dict[str, Task]) -> None:
    stool, box = ({claim.part: claim.classes for claim in facts_of(tasks[n]).materials} for n in NAMES)
    assert stool == {"seat": ("wood",), "legs": ("wood",)}
    assert box["lid"] == box["side panels"] == ("heavy_metal", "light_metal", "wood")
    assert "knob" not in box
    own = own_facts("milking_stool").reference
    assert own is not None
    score = computed(own, facts_of(tasks["milking_stool"]))["R.2"].score
    assert score is not None
    assert score > 0.5


def test_statements_about_materials() -> None:
    statements = ["The back wheels have rubber tyres.", "Handle: steel, never plastic", "It is made of oak."]
    assert stated_materials(statements, ["rear wheel", "back wheel", "tyres", "handles", "frame"]) == {
        "back wheel": ("rubber",),
        "tyres": ("rubber",),
        "handles": ("heavy_metal",),
    }


# Meshes by themselves


def test_a_mesh_is_rescaled_only_beyond_five_times(tmp_path: Path) -> None:
    vertices, faces = pole(0.0)
    path = tmp_path / "a.glb"
    write_glb({"a": Mesh(vertices, faces)}, path)
    assert pool_mesh(path).size == pytest.approx([0.1, 0.1, 1.0])
    assert pool_mesh(path, unit_m=0.0004).size == pytest.approx([0.00004, 0.00004, 0.0004])
    assert pool_mesh(path, size_m=(0.03, 0.03, 0.3)).size == pytest.approx([0.1, 0.1, 1.0])
    assert pool_mesh(path, size_m=(0.01, 0.01, 0.1)).size == pytest.approx([0.01, 0.01, 0.1])
    assert pool_mesh(path, size_m=(1.0, 1.0, 10.0)).size == pytest.approx([1.0, 1.0, 10.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "hinge"}, "type 'hinge'; there are fixed"),
        ({"parent": "nobody"}, "the parent of joint 'j' is 'nobody'"),
        ({"axis": [0, 0, 0]}, "has no direction"),
        ({"axis": [0, 1]}, "has to be three numbers"),
        ({"origin": [0, float("nan"), 0]}, "three finite numbers"),
        ({"origin": None}, "moves, but has no origin"),
        ({"axis": None}, "moves, but has no axis"),
    ],
)
def test_joints_that_cannot_be(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_glb({"pole": Mesh(*pole(0.0)), "arm": Mesh(*pole(1.0))}, tmp_path / "a.glb")
    joint = {"id": "j", "type": "revolute", "parent": "pole", "child": "arm", "axis": [0, 2, 0]}
    joint |= {"origin": [0, 1, 0], "limits": [0, 1]}
    (read,) = reference_design(tmp_path / "a.glb", [joint]).joints
    assert (read.axis, read.origin) == ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    with pytest.raises(DesignError, match=message):
        reference_design(tmp_path / "a.glb", [joint | change])


def test_roles_from_names_of_nodes() -> None:
    assert [role_of(name) for name in ("Rear_Wheel.001", "seat", "42")] == ["rear wheel", "seat", ""]
