"""`-T key=@FILE`: a value of the protocol that is what a file holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import EvalkitError, UsageError
from evalkit.registry import Registry


@pytest.fixture
def registry(site):
    site.install_toy()
    return Registry.load(site.load())


@pytest.mark.parametrize(
    ("name", "text"),
    [("wind.json", '{"speed": 3.5, "gusts": 2}'), ("wind.yaml", "speed: 3.5\ngusts: 2\n")],
)
def test_a_value_is_what_the_file_holds(registry, name, text):
    Path(name).write_text(text)
    suite = registry.suite("toy.high", [f"wind=@{name}"])
    assert suite.settings["wind"] == {"speed": 3.5, "gusts": 2}
    spelled = registry.suite("toy.high", ["wind={speed: 3.5, gusts: 2}"])
    assert suite.protocol_hash == spelled.protocol_hash
    assert name not in str(suite.protocol())


def test_a_later_option_changes_a_part_of_it(registry):
    Path("wind.json").write_text('{"speed": 3.5}')
    assert registry.suite("toy.high", ["wind=@wind.json", "wind.speed=4"]).settings["wind"] == {"speed": 4}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("{a: ]", "gone.json:1"),
        ("{a: 1, a: 2}", "gone.json:1"),
        ("\x00", "gone.json"),
    ],
)
def test_a_file_that_can_t_be_read_is_named(registry, content, message):
    if content is not None:
        Path("gone.json").write_text(content)
    with pytest.raises(UsageError) as raised:
        registry.suite("toy.high", ["wind=@gone.json"])
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_wrong_value_in_a_file_is_named_by_the_option(registry):
    Path("blocks.yaml").write_text("many\n")
    with pytest.raises(EvalkitError, match=r"-T blocks=@blocks\.yaml: settings\.blocks"):
        registry.suite("toy.high", ["blocks=@blocks.yaml"])
