"""Finding parts by words and ids."""

from __future__ import annotations

import pytest

from evalkit_brickbench.build import (
    AmbiguousPartError,
    BuildError,
    UnknownPartError,
    color,
    find,
    name,
    resolve,
)
from evalkit_brickbench.build._search import words_of
from evalkit_brickbench.parts.wheels import WheelCatalogue

pytestmark = pytest.mark.usefixtures("wheel_catalogue")


@pytest.mark.parametrize(
    ("query", "stem"),
    [
        ("brick 2x4", "3001"),
        ("2 x 4 Bricks", "3001"),
        ("plate 1x1", "3024"),
        ("technic pin", "3673"),
        ("technic beam 5", "32316"),
        ("wheel rim 6.4x8", "4624"),
        ("3001", "3001"),
        ("wing 2x4 left", "41770"),
    ],
)
def test_best_hit_is_the_plain_part(query: str, stem: str) -> None:
    assert find(query)[0].stem == stem
    assert resolve(query) == stem


def test_decorated_parts_show_up_only_if_asked_for() -> None:
    def decorated(stems: list[str]) -> list[str]:
        return [stem for stem in stems if stem.startswith(("3001p", "3001d"))]

    assert not decorated([hit.stem for hit in find("brick 2x4", 1000)])
    assert decorated([hit.stem for hit in find("brick 2x4 pattern", 1000)])
    assert decorated([hit.stem for hit in find("brick 2x4 sticker", 1000)])
    assert decorated([hit.stem for hit in find("brick 2x4", 1000, decorated=True)])
    assert find("3001p01")[0].stem == "3001p01"


def test_hits_are_ranked_by_the_share_of_the_words_that_they_have() -> None:
    hits = find("slope brick 45 2x4", 50)
    assert hits[0].stem == "3037"
    assert hits[0].score == 1.0
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(find("brick", 7)) == 7
    assert find("") == []
    assert find("zzzzz") == []


def test_keywords_count_less_than_titles(wheel_catalogue: WheelCatalogue) -> None:
    stem = "10048"  # its keywords name its film, its title doesn't
    assert "hobbit" in wheel_catalogue.keywords[stem]
    hit = next(hit for hit in find("hobbit", 100) if hit.stem == stem)
    assert hit.score == 0.5


def test_ids_of_all_kinds_resolve(wheel_catalogue: WheelCatalogue) -> None:
    assert resolve(" 3001.DAT ") == "3001"
    assert resolve("3023") == "3023b"  # an alias
    assert wheel_catalogue.foreign_ids["22385pr0038"] == "22385p108"
    assert resolve("22385pr0038") == "22385p108"


def test_ambiguity_lists_at_most_eight() -> None:
    with pytest.raises(AmbiguousPartError, match="'door' may be any of") as caught:
        resolve("door")
    assert len(caught.value.candidates) == 8
    assert all("door" in candidate for candidate in caught.value.candidates)
    with pytest.raises(AmbiguousPartError) as few:
        resolve("towball plate")
    assert 2 <= len(few.value.candidates) <= 8


def test_unknown_parts_get_suggestions() -> None:
    with pytest.raises(UnknownPartError, match="brick"):
        resolve("brik")
    with pytest.raises(UnknownPartError, match=r"no part is called 'qqqq': search by words"):
        resolve("qqqq")
    with pytest.raises(UnknownPartError):
        resolve("")


def test_names_and_colours() -> None:
    assert name("3001") == "brick 2x4"
    assert color("red") == 4
    assert color("Light_Bluish_Gray") == color("light bluish grey") == 71
    assert color(14) == 14
    assert color("#FF8000") == 0x2FF8000
    with pytest.raises(BuildError, match=r"did you mean .*orange"):
        color("orangge")
    with pytest.raises(BuildError, match="no colour 9999999"):
        color(9999999)


def test_words() -> None:
    assert words_of("Slope Brick 45° 2 x 2 x 0.667 with Holes") == [
        "slope",
        "brick",
        "45",
        "2x2x0.667",
        "hole",
    ]
