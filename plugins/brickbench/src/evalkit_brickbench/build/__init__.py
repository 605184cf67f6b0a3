"""Building with code: parts placed by pose or joined by connectors, looked at, checked and written as LDraw.

from evalkit_brickbench.build import Assembly, at, check

tower = Assembly("tower")
base = tower.add("brick 2x4", at(), color="red")
tower.attach("brick 2x2", to=base.stud[0], by="hole[0]", color="white")
print(check(tower))
tower.write("tower.mpd")

`evalkit_brickbench.guide` has worked examples.
"""

from evalkit_brickbench.build._assembly import Assembly, Member, Part, PlacedPart, compatible, parts
from evalkit_brickbench.build._checks import Check, Clash, Joint, check, clashes, connections, view
from evalkit_brickbench.build._connectors import Connector, ConnectorList
from evalkit_brickbench.build._describe import Box, Distance, connectors, describe, measure, name
from evalkit_brickbench.build._errors import AmbiguousPartError, BuildError, UnknownPartError
from evalkit_brickbench.build._knowledge import color
from evalkit_brickbench.build._pose import Pose, at, move, spin
from evalkit_brickbench.build._rules import broken_rules
from evalkit_brickbench.build._search import Hit, find, resolve

__all__ = [
    "AmbiguousPartError",
    "Assembly",
    "Box",
    "BuildError",
    "Check",
    "Clash",
    "Connector",
    "ConnectorList",
    "Distance",
    "Hit",
    "Joint",
    "Member",
    "Part",
    "PlacedPart",
    "Pose",
    "UnknownPartError",
    "at",
    "broken_rules",
    "check",
    "clashes",
    "color",
    "compatible",
    "connections",
    "connectors",
    "describe",
    "find",
    "measure",
    "move",
    "name",
    "parts",
    "resolve",
    "spin",
    "view",
]
