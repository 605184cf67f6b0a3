"""A session of building with tools: calls in, answers out, a state that can be saved and replayed.

session = ToolSession(inputs)
session.call("place", {"items": [{"item": "brick 2x4", "color": "red"}]}).data["ids"]  # ["p1"]
session.call("join", {"item": "brick 2x2", "to": "p1.stud[0]", "by": "hole[0]"})
session.call("check", {}).text
ToolSession.of_state(inputs, session.state()).state() == session.state()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit_brickbench.build import Assembly, BuildError, Member, at, color, move, spin
from evalkit_brickbench.build._checks import ProfileName, picture
from evalkit_brickbench.build._files import mpd_of
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.providers import providers
from evalkit_brickbench.toolbox import answers
from evalkit_brickbench.toolbox import arguments as given
from evalkit_brickbench.toolbox.arguments import MODEL, TOOLS
from evalkit_brickbench.toolbox.holdings import Holdings


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives: words, JSON, a picture that is drawn when it is asked for.

    `mistake`: the call was wrong and changed nothing. `model`: the finished model as an MPD file.
    """

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    picture: Callable[[], bytes] | None = None
    mistake: bool = False
    model: bytes | None = None


class ToolSession:
    """What one agent has built so far. `inputs`: the task, for its part rules."""

    def __init__(self, inputs: Mapping[str, Any], profile: ProfileName = "brickbench") -> None:
        self._rules = PartRules.of(inputs)
        self._profile: ProfileName = profile
        self._held = Holdings()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Carry out a call of one of `TOOLS`; pydantic's ValidationError for arguments that don't fit it."""
        parsed = TOOLS[tool].arguments.model_validate(dict(arguments))
        work: Callable[[Any], Answer] = getattr(self, f"_{tool}")
        try:
            return work(parsed)
        except (BuildError, IndexError, LDrawError) as error:
            return Answer(data={"ok": False, "code": "mistake", "message": str(error)}, mistake=True)

    def state(self) -> dict[str, Any]:
        """All that was built, as JSON."""
        return self._held.as_json()

    @classmethod
    def of_state(
        cls, inputs: Mapping[str, Any], state: Mapping[str, Any], profile: ProfileName = "brickbench"
    ) -> ToolSession:
        """A session that goes on from a `state()`."""
        session = cls(inputs, profile)
        session._held = Holdings.of_json(state)
        return session

    # Looking things up

    def _search(self, asked: given.Search) -> Answer:
        return Answer(data=answers.hits(asked.query, asked.limit, asked.decorated))

    def _describe(self, asked: given.Describe) -> Answer:
        named = asked.thing.rstrip().endswith("]")
        return Answer(
            answers.described(self._held.connector(asked.thing) if named else self._held.thing(asked.thing))
        )

    def _connectors(self, asked: given.Connectors) -> Answer:
        thing = self._held.thing(asked.thing)
        return Answer(data=answers.connector_rows(thing, asked.kind, asked.near, asked.start))

    def _compatible(self, asked: given.Compatible) -> Answer:
        return Answer(data=answers.fitting(self._held.connector(asked.to), self._held.item(asked.item)))

    def _measure(self, asked: given.Measure) -> Answer:
        ends = [
            self._held.connector(text) if text.rstrip().endswith("]") else self._held.thing(text)
            for text in (asked.thing, asked.other)
            if text
        ]
        return Answer(data=answers.measured(*ends))

    def _contents(self, asked: given.Contents) -> Answer:
        return Answer(data=answers.members(self._held, self._held.assembly(asked.assembly), asked.start))

    # Building

    def _place(self, asked: given.Place) -> Answer:
        into = self._held.assembly(asked.into)
        made: list[Member] = []
        try:
            for number, wanted in enumerate(asked.items, 1):
                made.append(self._placed(into, wanted, number))
        except BuildError:
            for member in made:
                into.remove(member)
            raise
        return Answer(data={"ok": True, "ids": self._held.register(made)})

    def _placed(self, into: Assembly, wanted: given.Item, number: int) -> Member:
        try:
            pose = at(*wanted.at) @ move(*wanted.move) @ spin(wanted.spin, wanted.about)
            return into.add(self._held.item(wanted.item), pose, wanted.color)
        except BuildError as error:
            raise BuildError(f"item {number}: {error}") from error

    def _join(self, asked: given.Join) -> Answer:
        to, item = self._held.connector(asked.to), self._held.item(asked.item)
        if not isinstance(to.root, Assembly):
            raise BuildError(
                f"{asked.to} isn't placed: give a connector of something that is, like p1.stud[0]"
            )
        by = None
        if asked.by:
            by = self._held.connector_inside(item, asked.by) if isinstance(item, Assembly) else asked.by
        member = to.root.attach(
            item,
            to,
            by,
            flip=asked.flip,
            slide=asked.slide,
            yaw=asked.yaw,
            pitch=asked.pitch,
            roll=asked.roll,
            color=asked.color,
            seat=asked.seat,
        )
        (id_,) = self._held.register([member])
        return Answer(data={"ok": True, "id": id_, "position": answers.rounded(member.pose.position)})

    def _change(self, asked: given.Change) -> Answer:
        members = [self._held.member(id_) for id_ in asked.ids]
        code = None if asked.color is None else color(asked.color)
        shift, turn = at(*asked.at) @ move(*asked.move), spin(asked.spin, asked.about)
        for member in dict.fromkeys(members):
            member.pose = self._held.plain(shift @ member.pose @ turn)
            member.color = member.color if code is None else code
        return Answer(data={"ok": True, "ids": list(dict.fromkeys(asked.ids))})

    def _remove(self, asked: given.Remove) -> Answer:
        self._held.remove(dict.fromkeys(asked.ids))
        return Answer(data={"ok": True})

    def _new_assembly(self, asked: given.NewAssembly) -> Answer:
        return Answer(data={"ok": True, "assembly": self._held.new_assembly(asked.name).name})

    def _mirror(self, asked: given.Mirror) -> Answer:
        self._held.require_free(asked.name)
        image = self._held.assembly(asked.assembly).mirror(asked.axis, asked.at, asked.name)
        self._held.adopt(image)
        return Answer(data={"ok": True, "assembly": image.name, "parts": len(image.parts)})

    # Judging

    def _check(self, asked: given.Check) -> Answer:
        model = self._held.assembly(asked.assembly)
        rules = self._rules if asked.assembly == MODEL else None
        return Answer(*answers.checked(self._held, model, rules, self._profile))

    def _view(self, asked: given.View) -> Answer:
        model = self._held.assembly(asked.assembly)
        if not any(providers().meshes.mesh(stem) is not None for stem in {p.stem for p in model.parts}):
            raise BuildError(f"{model.name} has no part with a known shape to look at")
        data = mpd_of(model)  # what is seen later is what was there at the call
        return Answer(
            data={"ok": True, "parts": len(model.parts)},
            picture=lambda: picture(data, model.name, asked.side),
        )

    def _submit(self, asked: given.Submit) -> Answer:
        model = self._held.assembly(MODEL)
        if not model.parts:
            raise BuildError(f"the assembly {MODEL!r} has no parts yet: place some in it before you submit")
        return Answer(data={"ok": True}, model=mpd_of(model))
