"""Same inputs, same bits: between engines, orders, threads and ways to run."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evalkit_polybridge.constants import MATERIALS, ROAD, STEEL, WOOD, physics_constants
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Platform
from evalkit_polybridge.physics import Run, kernel, model, simulate, simulate_batch
from evalkit_polybridge.physics.model import State, build_model, initial_state


def weak_web(part: str, i: int) -> int:
    """Material of a web that two vehicles break: steel braces, a wooden chord."""
    return STEEL.type if part in ("end", "diagonal") else WOOD.type


def cases(build: SimpleNamespace) -> dict[str, tuple[Level, Bridge]]:
    hill = build.level(8.0, (1.0, 1.0), 0.3, (Platform(3.0, 4.0, 0.5, -5.0, (3, 4)),))
    middle = (Node(5, 1.5, 0.25), Node(6, 6.0, 0.4))
    roads = tuple(Edge(10 + i, ROAD.type, *ends) for i, ends in enumerate([(1, 5), (5, 3), (4, 6), (6, 2)]))
    return {
        "crossing": (build.level(14.0, (3.0, 3.0)), build.truss(14.0, 10, 1.7)),
        "collapse": (build.level(14.0, (3.0, 3.0)), build.truss(14.0, 10, 1.4, weak_web)),
        "falling deck": (build.level(8.0), build.deck(8.0, 4)),
        "platform": (hill, Bridge((*hill.anchors, *middle), roads)),
    }


CASES = ["crossing", "collapse", "falling deck", "platform"]

#: SHA-256 of the final bits; IEEE-754 makes them those of every CPU. Any constant of the model changes them.
GOLDEN = {
    "crossing": "d39277e128067985bd7b4a0ea9e146bcbd9524e329edae7bd54e442e0d77da91",
    "collapse": "64c1adf12eb98d1f674aa48ca5007b72a5208f7835dd29614bbbb348befc41de",
    "falling deck": "e90ba6f72e0a5c0c647f1d1a07bbe1b05537bb20db7150f5b700029ad857f982",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bits(build: SimpleNamespace, name: str) -> None:
    assert simulate(*cases(build)[name]).digest == GOLDEN[name]


@pytest.mark.parametrize("name", CASES)
def test_order_and_direction_of_the_input_do_not_matter(build: SimpleNamespace, name: str) -> None:
    level, bridge = cases(build)[name]
    rng = random.Random(5)
    edges = [Edge(e.id, e.material, *rng.sample((e.a, e.b), 2)) for e in bridge.edges]
    nodes = list(bridge.nodes)
    rng.shuffle(edges)
    rng.shuffle(nodes)
    assert simulate(level, Bridge(tuple(nodes), tuple(edges))) == simulate(level, bridge)


@pytest.mark.parametrize(
    ("name", "offset_m", "window_s"),
    [("falling deck", 0.0, 0.8), ("collapse", 3.0, 1.5), ("platform", 3.5, 1.5)],
)
def test_numpy_gives_the_bits_of_the_compiled_kernel(
    build: SimpleNamespace, name: str, offset_m: float, window_s: float
) -> None:
    """The reference looks at every segment in every step, so this covers the contact search as well."""
    runs = [
        simulate(
            *cases(build)[name], start_offset_m=offset_m, window_s=window_s, early_stop=False, engine=engine
        )
        for engine in ("numba", "numpy")
    ]
    assert runs[0] == runs[1]
    assert runs[0].broken or name == "platform"


@pytest.mark.parametrize("name", CASES)
def test_the_contact_search_may_be_refreshed_at_any_time(build: SimpleNamespace, name: str) -> None:
    model = build_model(*cases(build)[name])
    states = []
    for refresh_steps in (1, 32):
        variant = model._replace(settings=model.settings._replace(refresh_steps=refresh_steps))
        states.append(initial_state(variant))
        kernel.advance(variant, states[-1], 0, 23040, False)
    _assert_equal_bits(*states)


def test_stepping_in_pieces_gives_the_same_bits(build: SimpleNamespace) -> None:
    model = build_model(*cases(build)["collapse"])
    whole, pieces = initial_state(model), initial_state(model)
    kernel.advance(model, whole, 0, 9000, False)
    for start, stop in ((0, 1), (1, 4711), (4711, 9000)):
        kernel.advance(model, pieces, start, stop, False)
    _assert_equal_bits(whole, pieces)


def _assert_equal_bits(one: State, other: State) -> None:
    for name, a, b in zip(State._fields, one, other, strict=True):
        assert a.tobytes() == b.tobytes(), name


@pytest.mark.parametrize("name", CASES)
def test_early_stop_has_the_bits_of_the_whole_run(build: SimpleNamespace, name: str) -> None:
    level, bridge = cases(build)[name]
    early = simulate(level, bridge)
    assert early.duration_s < 12.0
    assert simulate(level, bridge, early_stop=False, window_s=early.duration_s) == early
    whole = simulate(level, bridge, early_stop=False)
    assert whole.duration_s == 12.0
    assert (whole.outcome, whole.lost_s) == (early.outcome, early.lost_s)
    assert whole.broken[: len(early.broken)] == early.broken


def test_threads_change_nothing(build: SimpleNamespace) -> None:
    pairs = [*cases(build).values()] * 3
    assert simulate_batch(pairs, threads=2) == [simulate(*pair) for pair in pairs]
    scaled = simulate_batch(pairs[:1], threads=1, load_scale=3.0)
    assert scaled == [simulate(*pairs[0], load_scale=3.0)]
    assert not scaled[0].success


@pytest.mark.parametrize("name", ["crossing", "collapse"])
@pytest.mark.parametrize("rate_hz", [960, 3840, 7680, 15360])
def test_outcomes_do_not_depend_on_the_step(build: SimpleNamespace, name: str, rate_hz: int) -> None:
    pair = cases(build)[name]
    run, fine = simulate(*pair), simulate(*pair, dt_s=1.0 / rate_hz)
    assert fine.outcome == run.outcome
    assert fine.first_break_s == pytest.approx(run.first_break_s, abs=0.01)
    if run.success:
        assert fine.finish_s == pytest.approx(run.finish_s, abs=0.005)
        for edge_id, peak in run.peak_utilisation.items():
            assert fine.peak_utilisation[edge_id] == pytest.approx(peak, abs=0.005)


def test_perturbations_act_as_named(build: SimpleNamespace) -> None:
    pair = cases(build)["crossing"]
    peak = {name: max(run.peak_utilisation.values()) for name, run in _perturbed(pair).items()}
    assert peak["strength"] == pytest.approx(peak["plain"] / 1.25, rel=1e-12)
    assert peak["load"] > 1.1 * peak["plain"]
    later = _perturbed(pair)["start"].finish_s[0]
    assert later == pytest.approx(_perturbed(pair)["plain"].finish_s[0] + 0.5 / 2.5, abs=0.01)


def _perturbed(pair: tuple[Level, Bridge]) -> dict[str, Run]:
    return {
        "plain": simulate(*pair),
        "strength": simulate(*pair, strength_scale=1.25),
        "load": simulate(*pair, load_scale=1.25),
        "start": simulate(*pair, start_offset_m=-0.5),
    }


def test_frames_of_a_crossing_fill_the_window(build: SimpleNamespace) -> None:
    level, bridge = cases(build)["crossing"]
    run = simulate(level, bridge, frames=True)
    assert run.frames is not None
    assert [frame.t_s for frame in run.frames] == [i / 4 for i in range(49)]
    assert not any(frame.failure or frame.broken.any() for frame in run.frames)
    assert run.digest == simulate(level, bridge, early_stop=False).digest
    first = run.frames[0]
    place = {node.id: (node.x, node.y) for node in bridge.nodes}
    np.testing.assert_array_equal(first.nodes_m, [place[i] for i in run.node_ids])
    np.testing.assert_array_equal(first.wheels_m[:, :, 0], [[-2.0, -3.6], [-6.0, -7.6]])


def test_frames_of_a_collapse_end_with_the_marker(build: SimpleNamespace) -> None:
    run = simulate(*cases(build)["collapse"], frames=True)
    assert run.frames is not None
    assert run.lost_s is not None
    assert [frame.failure for frame in run.frames] == [False] * (len(run.frames) - 1) + [True]
    assert run.frames[-2].t_s < run.lost_s <= run.frames[-1].t_s == run.duration_s
    broken = {i for i, b in zip(run.edge_ids, run.frames[-1].broken, strict=True) if b}
    assert broken == {i for t, i in run.broken}


def test_a_frame_is_a_copy(build: SimpleNamespace) -> None:
    run = simulate(*cases(build)["crossing"], frames=True)
    assert run.frames is not None
    assert not np.array_equal(run.frames[0].wheels_m, run.frames[1].wheels_m)


def test_constants_are_numbers_with_names() -> None:
    numbers = physics_constants()
    assert all(isinstance(value, int | float) for value in numbers.values())
    assert numbers["Wood.strength_pn"] == 800.0


def test_unknown_engines_are_refused(build: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="unknown engine"):
        simulate(*cases(build)["falling deck"], engine="cuda")  # type: ignore[arg-type]


def test_an_empty_level_list_is_an_empty_batch() -> None:
    assert simulate_batch([]) == []


def test_a_repeated_run_repeats_its_bits(build: SimpleNamespace) -> None:
    level, bridge = cases(build)["collapse"]
    assert simulate(replace(level), replace(bridge)).digest == simulate(level, bridge).digest


def test_every_constant_that_the_model_reads_is_hashed() -> None:
    """Whatever `model.py` takes from `constants` decides outcomes: the executor states it."""
    read = set(re.findall(r"\bc\.([A-Z][A-Z0-9_]+)", Path(model.__file__).read_text(encoding="utf-8")))
    tables = {"MATERIALS", "ROAD"}  # hashed by material
    hashed = physics_constants()
    assert len(read) > 30
    assert read - tables <= set(hashed)
    assert {f"{m.name}.strength_pn" for m in MATERIALS.values()} <= set(hashed)
