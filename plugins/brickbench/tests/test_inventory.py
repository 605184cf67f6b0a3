"""Stocks of parts: read, counted, overdrawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.inventory import (
    InventoryError,
    Overdraft,
    colour_codes,
    overdrafts,
    read_inventory,
    stock_as_json,
    stock_from_json,
    used,
)
from evalkit_brickbench.ldraw.colours import builtin_palette
from evalkit_brickbench.scene import Scene

MINE = Path(__file__).parent / "data" / "tasks" / "inventory.json"
CODES = {"red": 4, "light grey": 7, "light gray": 7}


def scene(*parts):
    """(stem, colour) each; where they are doesn't matter here."""
    n = len(parts)
    return Scene(
        stems=tuple(stem for stem, _ in parts),
        colours=np.array([colour for _, colour in parts], np.int32),
        matrices=np.tile(np.eye(3), (n, 1, 1)),
        positions=np.zeros((n, 3)),
        paths=("",) * n,
        steps=np.zeros(n, np.int32),
    )


def test_names_of_parts_and_colours_are_normalised():
    text = '{"3001.DAT": {" Red ": 2, "light_grey": 1}}'
    assert read_inventory(text, CODES) == {("3001", 4): 2, ("3001", 7): 1}


def test_two_names_of_one_thing_add_up():
    text = '{"3001": {"light grey": 2, "light gray": 3}, "3001.dat": {"light grey": 4}}'
    assert read_inventory(text, CODES) == {("3001", 7): 9}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "isn't JSON"),
        ("[" * 100_000, "isn't JSON"),
        ("[]", "has to be an object of part numbers"),
        ("{}", "has no pieces"),
        ('{"3001": {}}', "has no pieces"),
        ('{"3001": 3}', "part 3001: wanted an object of colours and counts"),
        ('{"3001": {"mauve": 3}}', "part 3001: there is no colour 'mauve'"),
        ('{"3001": {"red": 0}}', "part 3001, red: 0 is no count"),
        ('{"3001": {"red": true}}', "part 3001, red: True is no count"),
        ('{"3001": {"red": 2.0}}', "part 3001, red: 2.0 is no count"),
        ('{"3001": {"red": 100001}}', "part 3001, red: 100001 is no count"),
    ],
)
def test_what_is_no_stock_is_refused_with_a_reason(text, message):
    with pytest.raises(InventoryError, match=message):
        read_inventory(text, CODES)


def test_names_of_a_catalogue_win_over_a_palette():
    codes = colour_codes(builtin_palette(), {"Light_Bluish_Grey": 999})
    assert codes["light bluish grey"] == 999
    assert codes["red"] == 4


def test_uses_are_counted_by_part_and_colour():
    assert used(scene(("3001", 4), ("3001", 4), ("3001", 1))) == {("3001", 4): 2, ("3001", 1): 1}


def test_overdrafts_are_what_exceeds_the_stock():
    stock = {("3001", 4): 2, ("3003", 1): 1}
    built = scene(("3001", 4), ("3001", 4), ("3003", 1), ("3003", 1), ("3001", 1))
    assert overdrafts(built, stock) == [Overdraft("3001", 1, 1, 0), Overdraft("3003", 1, 2, 1)]
    assert overdrafts(scene(("3001", 4), ("3001", 4)), stock) == []
    assert overdrafts(scene(), stock) == []


def test_an_alias_draws_on_the_stock_of_its_part(wheel_catalogue):
    """3023 is an alias of 3023b, whichever of both the stock or the build names."""
    built = scene(("3023", 15), ("3023b", 15))
    for name in ("3023", "3023b"):
        assert overdrafts(built, {(name, 15): 2}, wheel_catalogue) == []
        assert overdrafts(built, {(name, 15): 1}, wheel_catalogue) == [Overdraft("3023b", 15, 2, 1)]
    assert overdrafts(built, {("3023b", 15): 2}) == [Overdraft("3023", 15, 1, 0)]


def test_parts_that_the_catalogue_lacks_are_counted_by_their_own_name(wheel_catalogue):
    assert overdrafts(scene(("no-such-part", 4)), {}, wheel_catalogue) == [Overdraft("no-such-part", 4, 1, 0)]


def test_a_stock_survives_json():
    stock = {("3023b", 47): 3, ("3001", 71): 2, ("3001", 4): 4}
    assert stock_as_json(stock) == {"3001": {"4": 4, "71": 2}, "3023b": {"47": 3}}
    assert stock_from_json(stock_as_json(stock)) == stock


def test_a_file_of_the_published_form_is_read(wheel_catalogue):
    codes = colour_codes(builtin_palette(), wheel_catalogue.colour_names)
    found = read_inventory(MINE.read_text(encoding="utf-8"), codes)
    assert found == {("3001", 4): 4, ("3001", 71): 2, ("3023b", 47): 3}


def test_the_published_stock_is_read(shared_data, wheel_catalogue):
    text = (shared_data / "brickbench" / "inventory.json").read_text(encoding="utf-8")
    found = read_inventory(text, colour_codes(builtin_palette(), wheel_catalogue.colour_names))
    assert len({stem for stem, _ in found}) == 104
    assert sum(found.values()) == 783
    assert all(wheel_catalogue.resolve(stem) is not None for stem, _ in found)
