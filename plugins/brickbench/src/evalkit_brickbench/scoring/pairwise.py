"""Which of two builds is better? Duels that a judge decides, and whether it minds the order.

Every two builds for a prompt meet four times: about alignment (does it show what the prompt asks for?) and
about design (is it well made? the prompt is withheld), each in both orders, since judges tend to prefer
what they see first or last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalkit_brickbench.scoring.replies import ReplyError, quoted

QuestionName = Literal["alignment", "design"]
QUESTIONS: tuple[QuestionName, ...] = ("alignment", "design")

ViewChoice = Literal["every-second", "compat"]
VIEWS_SHOWN = 4

_SHOWN = (
    "Two models made of toy bricks were built for the same task. Each picture shows one of them from "
    "several sides: the first picture model 1, the second picture model 2."
)
_REPLY = "Decide for one of them even if they are close. Reply with the single digit 1 or 2 and nothing else."


@dataclass(frozen=True, slots=True, order=True)
class Duel:
    """Two systems' builds for a task, in the order in which the judge sees them."""

    task: str
    question: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, order=True)
class Verdict:
    """A duel and who won it: 1 the build shown first, 2 the other."""

    task: str
    question: str
    first: str
    second: str
    choice: int

    def __post_init__(self) -> None:
        if self.choice not in (1, 2):
            raise ValueError(f"a verdict is 1 or 2, not {self.choice}")
        if self.first == self.second:
            raise ValueError(f"{self.first!r} can't meet itself on {self.task!r}")

    @property
    def winner(self) -> str:
        """The system that was preferred."""
        return self.first if self.choice == 1 else self.second


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How a judge's verdicts depend on the order of the builds.

    `first_picks` of `n_verdicts` went to the build shown first; `p_value` is that of a fair coin (exact,
    two-sided). `n_pairs` were judged in both orders, `consistent` of them for the same system each time;
    the others prefer one position: `both_first` times the first, else the second.
    """

    first_picks: int
    n_verdicts: int
    p_value: float
    consistent: int
    both_first: int
    n_pairs: int

    @property
    def first_share(self) -> float | None:
        """Share of verdicts for the build shown first; ½ without bias. None without verdicts."""
        return self.first_picks / self.n_verdicts if self.n_verdicts else None

    @property
    def consistency(self) -> float | None:
        """Share of the pairs judged alike in both orders; None without such pairs."""
        return self.consistent / self.n_pairs if self.n_pairs else None

    @property
    def conflict_p_value(self) -> float:
        """The same test on the pairs judged differently: there is one coin per pair, so that it's exact.

        The two verdicts on a pair aren't independent, which makes `p_value` larger than it could be.
        """
        return fair_coin_p_value(self.both_first, self.n_pairs - self.consistent)


def select_views(n_views: int = 8, choice: ViewChoice = "every-second") -> tuple[int, ...]:
    """Indices of the four views that a duel shows: all around, or the first four (`compat`, one side only).

    Raises ValueError if fewer than four views are there.
    """
    if n_views < VIEWS_SHOWN:
        raise ValueError(f"a duel shows {VIEWS_SHOWN} views, but there are only {n_views}")
    step = 1 if choice == "compat" else n_views // VIEWS_SHOWN
    return tuple(range(0, VIEWS_SHOWN * step, step))


def request_text(question: QuestionName, prompt: str | None = None) -> str:
    """What the judge reads after the pictures of both builds.

    Raises ValueError for alignment without the prompt, and for design with it: knowing what was meant
    would turn the second question into the first.
    """
    if question == "alignment":
        if not prompt:
            raise ValueError("alignment is judged by the prompt: pass it")
        return (
            f"{_SHOWN} The task was:\n\n{prompt.strip()}\n\n"
            "Which model shows better what the task describes: its subject, its parts, how many there are, "
            "their colours and where they are? Leave aside how skilfully it's built, how large or how "
            f"detailed it is, as long as the task doesn't ask for that. {_REPLY}"
        )
    if prompt is not None:
        raise ValueError("design is judged without the prompt: leave it out")
    return (
        f"{_SHOWN} What the task was is withheld on purpose.\n\n"
        "Which model is the better design, by the standard of a published building set: form and "
        "proportions, use of parts, colours that belong together, surfaces and details, a whole that holds "
        f"together from all sides? Leave aside what it shows and whether you like the subject. {_REPLY}"
    )


def parse_choice(reply: str) -> int:
    """1 or 2. Raises ReplyError on anything else than that digit, blanks around it aside."""
    choice = reply.strip()
    if choice not in ("1", "2"):
        raise ReplyError(f"the reply is not 1 or 2: {quoted(choice)}")
    return int(choice)


def schedule(views: Mapping[str, Mapping[str, int]]) -> list[Duel]:
    """All duels, sorted: every task, both questions, every two systems in both orders.

    `views` maps a task to its systems' numbers of pictures; builds with fewer than four stay out.
    """
    return sorted(
        Duel(task, question, first, second)
        for task, systems in views.items()
        for pair in combinations([name for name, n_views in systems.items() if n_views >= VIEWS_SHOWN], 2)
        for first, second in (pair, pair[::-1])
        for question in QUESTIONS
    )


def position_bias(verdicts: Iterable[Verdict]) -> PositionBias:
    """The statistics of a judge's verdicts on one or more questions.

    Raises ValueError if a duel comes twice.
    """
    choices: dict[tuple[str, str, str, str], int] = {}
    for verdict in verdicts:
        duel = (verdict.task, verdict.question, verdict.first, verdict.second)
        if duel in choices:
            raise ValueError(f"two verdicts on one duel: {duel}")
        choices[duel] = verdict.choice
    both_orders = [
        (choice, choices[task, question, second, first])
        for (task, question, first, second), choice in choices.items()
        if first < second and (task, question, second, first) in choices
    ]
    first_picks = sum(choice == 1 for choice in choices.values())
    return PositionBias(
        first_picks=first_picks,
        n_verdicts=len(choices),
        p_value=fair_coin_p_value(first_picks, len(choices)),
        consistent=sum(one != other for one, other in both_orders),
        both_first=sum(one == other == 1 for one, other in both_orders),
        n_pairs=len(both_orders),
    )


def fair_coin_p_value(heads: int, n: int) -> float:
    """Two-sided exact binomial test of `heads` in `n` throws against ½; 1 without throws.

    Summed in integers, so that tiny values keep their digits. Raises ValueError unless 0 ≤ heads ≤ n.
    """
    if not 0 <= heads <= n:
        raise ValueError(f"{heads} of {n} is impossible")
    ways = tail = 1
    for i in range(min(heads, n - heads)):
        ways = ways * (n - i) // (i + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << n))
