"""The arena, end to end: a judge with known tastes, bias and errors, behind HTTP, looks at real pictures."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import arena_standin as standin
import pytest
from arena_standin import BLUE, GREEN, RED, YELLOW, ColourJudge, evalkit, read_lines, wall_of
from click.testing import CliRunner

from evalkit import Task, UsageError
from evalkit.models import Budgeted, open_model, parse_options
from evalkit_brickbench.arena import Rules, Schedule, judge_missing, plan, verdicts
from evalkit_brickbench.arena_results import read_ratings, results
from evalkit_brickbench.cli import command
from evalkit_brickbench.inspection import tools
from evalkit_brickbench.judges.anchors import NOT_COMPARABLE, check_anchors, read_anchors
from evalkit_brickbench.judges.asking import Judge
from evalkit_brickbench.judges.entrants import Entrants
from evalkit_brickbench.judges.store import ArenaStore
from evalkit_brickbench.results import outcomes as results_of
from evalkit_brickbench.scoring.pairwise import QUESTIONS, Verdict
from evalkit_brickbench.scoring.ratings import rate

COLOURS = {"ann": RED, "bob": BLUE, "cy": GREEN, "di": YELLOW}
STRENGTH = {RED: 1.5, BLUE: 0.5, GREEN: -0.5, YELLOW: -1.5}
TINY = Rules(view_px=16)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    from provider_standin import StandIn

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandIn() as found:
        yield found


def quiet(line: str) -> None:
    pass


def entrants(n_tasks: int, systems: tuple[str, ...] = tuple(COLOURS)) -> Entrants:
    found = Entrants()
    for number in range(1, n_tasks + 1):
        name = f"t{number:02}"
        found.tasks[name] = Task(name, {"prompt": f"A tower, take {number}."}, {"setting": "model"})
        found.builds[name] = {system: wall_of(system, COLOURS[system], 1 + number % 3) for system in systems}
    return found


def judge_of(provider, store: ArenaStore, *options: str) -> Judge:
    words = [f"base_url={provider.openai_url}", "max_retries=0", *options]
    return Judge(open_model("openai/stand-in", parse_options(words)), store)


def played(provider, folder: Path, who: Entrants, *options: str, say=quiet):
    with ArenaStore(folder) as store:
        judge = judge_of(provider, store, *options)
        schedule = plan(who, store, judge.identity, TINY, quiet)
        progress = judge_missing(schedule.questions, store, judge, TINY, say)
        return schedule, progress, verdicts(schedule, store)


# What the statistics make of a judge that is known


def test_ratings_and_bias_of_a_known_judge_are_recovered(provider, tmp_path):
    """Half of the duels go by strength, a fifth of all to the first unseen, a tenth of replies are babble."""
    bias = 0.2
    provider.otherwise = judge = ColourJudge(STRENGTH, first_bias=bias, babble=0.1, seed=1)
    who = entrants(6)
    schedule, progress, known = played(provider, tmp_path / "arena", who, "max_connections=1")
    n = 6 * 6 * 2 * 2
    assert (len(schedule.questions), progress.asked, known.missing) == (n, n, 0)
    assert judge.babbled == known.failed_replies > 0
    assert known.failed <= 3  # three babbles in a row: one of a thousand
    found = results(who, schedule, known, None)
    first = sum(b.first_picks for b in found.bias.values())
    share = first / len(known.judged)
    assert abs(share - (0.5 + bias / 2)) < 3 * math.sqrt(0.25 / n)
    rated = found.ratings["overall"]
    assert [row.system for row in rated.systems] == ["ann", "bob", "cy", "di"]
    # the bias squeezes the odds: the win rate over both orders is (1 - b)·p + b/2
    expected = {}
    for system, colour in COLOURS.items():
        others = [STRENGTH[c] for c in COLOURS.values() if c != colour]
        odds = [1 / (1 + math.exp(other - STRENGTH[colour])) for other in others]
        expected[system] = sum((1 - bias) * p + bias / 2 for p in odds) / len(odds)
    for system, wanted in expected.items():
        met = [v for v in known.judged if system in (v.first, v.second)]
        rate = sum(v.winner == system for v in met) / len(met)
        assert abs(rate - wanted) < 3 * math.sqrt(wanted * (1 - wanted) / len(met)), system
    for row, colour in zip(rated.systems, (RED, BLUE, GREEN, YELLOW), strict=True):
        squeezed = 1000 + 400 / math.log(10) * STRENGTH[colour] * (1 - bias)
        assert row.elo.low - 60 < squeezed < row.elo.high + 60
    assert NOT_COMPARABLE in found.notes


def test_a_judge_that_only_takes_the_first_makes_all_alike(provider, tmp_path):
    provider.otherwise = ColourJudge(STRENGTH, first_bias=1.0)
    who = entrants(2, ("ann", "di"))
    schedule, _, known = played(provider, tmp_path / "arena", who)
    found = results(who, schedule, known, None)
    assert {b.first_share for b in found.bias.values()} == {1.0}
    assert {b.consistency for b in found.bias.values()} == {0.0}
    assert {round(row.elo.elo, 6) for row in found.ratings["overall"].systems} == {1000.0}


# What is asked


def test_a_question_shows_both_pictures_before_the_text_and_hides_the_prompt_from_design(provider, tmp_path):
    provider.otherwise = ColourJudge(STRENGTH)
    schedule, _, known = played(provider, tmp_path / "arena", entrants(1, ("ann", "bob")))
    assert len(schedule.questions) == len(provider.requests) == 4
    texts = []
    for request in provider.requests:
        pictures, text, kinds = standin.shown(request.body)
        assert kinds == ["image_url", "image_url", "text"]
        assert len(pictures) == 2
        assert request.body["temperature"] == 0.0
        assert [m["role"] for m in request.body["messages"]] == ["user"]
        texts.append(text)
    assert sum("A tower, take 1." in text for text in texts) == 2
    assert {v.winner for v in known.judged} <= {"ann", "bob"}


def test_only_what_is_missing_is_asked(provider, tmp_path):
    provider.otherwise = ColourJudge(STRENGTH)
    folder = tmp_path / "arena"
    played(provider, folder, entrants(1, ("ann", "bob")))
    _, again, _ = played(provider, folder, entrants(1, ("ann", "bob")))
    assert again.asked == 0
    _, grown, known = played(provider, folder, entrants(1, ("ann", "bob", "cy")))
    assert (grown.asked, known.missing, len(known.judged)) == (8, 0, 12)
    _, hotter, _ = played(provider, folder, entrants(1, ("ann", "bob")), "temperature=1")
    assert hotter.asked == 4  # another judge, as far as answers go
    assert len(read_lines(folder / "judgements.jsonl")) == len(provider.requests) == 16


def test_a_line_that_a_crash_cut_off_is_judged_again_and_a_damaged_one_is_named(provider, tmp_path):
    provider.otherwise = ColourJudge(STRENGTH)
    folder, who = tmp_path / "arena", entrants(1, ("ann", "bob"))
    played(provider, folder, who)
    path = folder / "judgements.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    _, again, known = played(provider, folder, who)
    assert (again.asked, known.missing, len(read_lines(path))) == (1, 0, 4)
    path.write_bytes(b'{"key": "x", "choice": 3}\n' + whole)
    with pytest.raises(UsageError, match="line 1 is no judgement"):
        ArenaStore(folder)


def test_two_arenas_dont_share_a_folder(tmp_path):
    with ArenaStore(tmp_path / "arena"), pytest.raises(UsageError, match="another arena is at work"):
        ArenaStore(tmp_path / "arena")


# Judges that misbehave


@pytest.mark.parametrize(
    "text", ["", "1 or 2", "Model 1", "３", "1\n2", "1.", "{'choice': 1}", "0", "1" * 9000]
)
def test_hostile_replies_are_asked_for_three_times_and_never_guessed(provider, tmp_path, text):
    from provider_standin import reply

    provider.otherwise = reply(text)
    who = entrants(1, ("ann", "bob"))
    schedule, progress, known = played(provider, tmp_path / "arena", who)
    assert (progress.failed, known.failed, known.failed_replies) == (4, 4, 12)
    assert len(provider.requests) == 12
    assert known.all == ()
    found = results(who, schedule, known, None)
    assert not found.ratings
    assert "4 duels have no verdict: no reply could be used" in found.notes
    _, again, _ = played(provider, tmp_path / "arena", who)
    assert again.asked == 0


def test_a_reply_that_was_cut_off_or_refused_is_no_answer(provider, tmp_path):
    from provider_standin import reply

    provider.then(reply("1", finish="length"), reply("", finish="content_filter"), reply(" 2\n"))
    provider.otherwise = reply("1")
    options = "max_connections=1"
    _, _, known = played(provider, tmp_path / "arena", entrants(1, ("ann", "bob")), options)
    record = read_lines(tmp_path / "arena" / "judgements.jsonl")[0]
    assert record["choice"] == 2
    assert "cut off" in record["failures"][0]
    assert "content_filter" in record["failures"][1]
    assert known.failed_replies == 2


def test_a_dead_key_stops_the_judging_and_leaves_the_rest_for_later(provider, tmp_path):
    from provider_standin import reply, status

    provider.then(reply("1"), status(401, "no such key"))
    provider.otherwise = status(401, "no such key")
    who = entrants(3, ("ann", "bob"))
    _, progress, known = played(provider, tmp_path / "arena", who, "max_connections=1")
    assert progress.stopped is not None
    assert "auth" in progress.stopped
    assert (progress.asked, known.missing, len(provider.requests)) == (1, 11, 2)
    provider.otherwise = reply("1")
    _, rest, known = played(provider, tmp_path / "arena", who)
    assert (rest.asked, known.missing) == (11, 0)


def test_a_server_that_fails_again_and_again_ends_it(provider, tmp_path):
    from provider_standin import status

    provider.otherwise = status(500)
    _, progress, known = played(
        provider, tmp_path / "arena", entrants(3, ("ann", "bob")), "max_connections=1"
    )
    assert (progress.asked, progress.unreached, known.missing) == (0, 5, 12)
    assert progress.stopped is not None
    assert f"at {provider.openai_url}, couldn't be asked 5 times in a row; last: server" in progress.stopped
    assert "500" in progress.stopped


# Budget, draws, anchors


class PricedClient:
    """A model in this process with prices: a dollar for each token read; it always says 1."""

    model, provider, attempts, max_connections = "priced", "priced", 1, 1

    def __init__(self, tokens: int | None) -> None:
        from evalkit.models import Controls

        self.source = {"model": "priced"}
        self.controls = self.defaults = Controls()
        self._tokens = tokens

    def complete(self, request, key):
        from evalkit.models import ModelReply, Usage

        return ModelReply("1", usage=Usage(self._tokens, 0))

    def describe(self):
        return {"prices": {"input": 1.0, "output": 0.0, "cached": None}}

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("tokens", "asked", "why"), [(2, 2, "cost: limit 3"), (None, 1, "doesn't count tokens")]
)
def test_a_budget_ends_the_judging(tmp_path, tokens, asked, why):
    who = entrants(1, ("ann", "bob"))
    with ArenaStore(tmp_path / "arena") as store:
        judge = Judge(Budgeted(PricedClient(tokens), 3.0), store)
        schedule = plan(who, store, judge.identity, TINY, quiet)
        progress = judge_missing(schedule.questions, store, judge, TINY, quiet)
        known = verdicts(schedule, store)
    assert (progress.asked, progress.out_of_budget, known.missing) == (asked, True, 4 - asked)
    assert why in (progress.stopped or "")
    assert known.cost_usd == (None if tokens is None else 4.0)


def test_equal_files_draw_without_a_judge(provider, tmp_path):
    who = entrants(1, ("ann", "bob"))
    who.builds["t01"]["bob"] = wall_of("bob", RED, 2)  # ann's
    schedule, progress, known = played(provider, tmp_path / "arena", who)
    assert (len(schedule.draws), schedule.questions, progress.asked) == (4, [], 0)
    assert sorted(v.winner for v in known.all) == ["ann", "ann", "bob", "bob"]
    found = results(who, schedule, known, None)
    assert {row.elo.elo for row in found.ratings["overall"].systems} == {1000.0}
    assert found.bias["design"].n_verdicts == 0


def test_what_cant_be_shown_stays_out_and_is_named(provider, tmp_path):
    from evalkit_brickbench.designs import candidate_of
    from evalkit_brickbench.judges.entrants import Build

    who = entrants(1, ("ann", "bob"))
    broken = candidate_of("model.ldr", b"no model at all")
    who.builds["t01"]["eve"] = Build("eve", "0" * 64, broken, {})
    provider.otherwise = ColourJudge(STRENGTH)
    schedule, _, known = played(provider, tmp_path / "arena", who)
    assert list(schedule.unseen) == [("eve", "t01")]
    assert len(known.judged) == 4
    assert any(
        note.startswith("eve on t01 can't be shown") for note in results(who, schedule, known, None).notes
    )


def test_pictures_of_another_library_are_other_pictures(tmp_path, monkeypatch):
    names = set()
    for title in ("Brick", "Brick  2 x  4"):
        library = tmp_path / str(len(names))
        (library / "parts").mkdir(parents=True)
        (library / "parts" / "3001.dat").write_text(f"0 {title}\n")
        monkeypatch.setenv("LDRAWDIR", str(library))
        tools.cache_clear()
        who = entrants(1, ("ann", "bob"))
        for system, build in who.builds["t01"].items():
            who.builds["t01"][system] = replace(build, settings={"meshes": "ldraw"})
        with ArenaStore(tmp_path / "arena") as store:
            found = plan(who, store, {}, Rules(view_px=16), quiet)
        names |= {name for question in found.questions for name in question.pictures}
    tools.cache_clear()
    assert len(names) == 4


def test_anchors_are_named_hashed_and_checked(tmp_path):
    who = entrants(1)
    path = tmp_path / "core.json"
    path.write_text(json.dumps({"name": "core", "systems": ["ann", "bob"]}))
    anchors = read_anchors(path)
    check_anchors(anchors, who.builds)
    assert results(who, Schedule(), verdicts_of(who), anchors).ratings["overall"].of("ann").anchor
    assert not results(who, Schedule(), verdicts_of(who), anchors).ratings["overall"].of("cy").anchor
    path.write_text(json.dumps({"name": "core", "systems": ["ann", "zoe"]}))
    with pytest.raises(UsageError, match="zoe have no builds"):
        check_anchors(read_anchors(path), who.builds)
    other = {"name": "core", "systems": ["ann", "bob"], "builds": {"ann": {"t01": "0" * 64}}}
    path.write_text(json.dumps(other))
    with pytest.raises(UsageError, match="another build"):
        check_anchors(read_anchors(path), who.builds)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"name": "x"}', '{"name": "x", "systems": ["a", "a"]}', "[" * 9999]
)
def test_other_files_are_no_anchors(tmp_path, text):
    path = tmp_path / "core.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_anchors(path)


def verdicts_of(who: Entrants):
    from evalkit_brickbench.arena import Verdicts
    from evalkit_brickbench.scoring.pairwise import Verdict, schedule

    duels = schedule({task: dict.fromkeys(builds, 4) for task, builds in who.builds.items()})
    found = tuple(Verdict(d.task, d.question, d.first, d.second, 1) for d in duels)
    return Verdicts(found, found, 0, 0, 0, None)


# Through the command

BUILDER = """
import pathlib, sys
colour = sys.argv[1]
lines = ["1 %s 0 %d 0 1 0 0 0 1 0 0 0 1 3001.dat" % (colour, -24 * n) for n in (1, 2)]
pathlib.Path("model.mpd").write_text("\\n".join(["0 FILE model.mpd", *lines, "0 NOFILE", ""]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the smoke tasks by agents that build towers of one colour each."""
    folder = tmp_path_factory.mktemp("towers")
    words: list[str] = []
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    for system in ("ann", "bob"):
        argv = [python, "-c", BUILDER, str(COLOURS[system])]
        (folder / f"{system}.toml").write_text(f'argv = {json.dumps(argv)}\nprompt = "stdin"\n')
        words += ["--agent", f"cli:{system}.toml"]
    evalkit(folder, "run", "brickbench.smoke", *words, "-M", "isolation=none", "--format", "json")
    return folder


def test_a_killed_arena_goes_on_where_it_was(provider, runs, tmp_path, monkeypatch):
    """kill -9 while the judge thinks: what it had answered is kept, and nothing is asked twice."""
    from provider_standin import hang

    judge = ColourJudge(STRENGTH)
    words = ["arena", "latest", "--judge", "openai/stand-in", "-o", str(tmp_path / "arena")]
    words += ["-M", f"base_url={provider.openai_url}", "-M", "max_connections=1", "--view-px", "16"]
    provider.then(judge, judge, judge, judge, judge, hang())
    killed = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "brickbench", *words], cwd=runs, stderr=subprocess.DEVNULL
    )
    provider.await_requests(6)
    killed.kill()
    killed.wait()
    kept = read_lines(tmp_path / "arena" / "judgements.jsonl")
    assert len(kept) == 5
    provider.otherwise = judge
    monkeypatch.chdir(runs)
    found = json.loads(invoked(*words, "--json"))
    assert (found["verdicts"], found["missing"], found["failed"]) == (12, 0, 0)
    assert len(provider.requests) == 5 + 1 + 7
    assert read_lines(tmp_path / "arena" / "judgements.jsonl")[:5] == kept
    assert found["comparable_with_published"] is False
    assert set(found["ratings"]) == {"overall", "model", "set", "alt-build"}
    assert len(found["ratings"]["overall"]["systems"]) == 2
    ratings = read_ratings(tmp_path / "arena")
    assert asdict(ratings.ratings["model"])["systems"] == tuple(found["ratings"]["model"]["systems"])
    assert (ratings.judge, list(ratings.notes)) == ("openai/stand-in", found["notes"])
    assert "brickbench.ratings,overall / cli:ann.toml,ELO," in invoked(*words, "--format", "csv")
    assert len(provider.requests) == 13
    tables = json.loads(invoked("tables", "latest", "--arena", str(tmp_path / "arena"), "--json"))
    (elo,) = [row[5] for row in tables["brickbench.main"]["rows"] if row[:2] == ["overall", "cli:ann.toml"]]
    assert elo == found["ratings"]["overall"]["systems"][0]["elo"]["elo"]


def test_ratings_go_with_builds_not_with_names(runs, tmp_path, monkeypatch):
    """The same agents' ratings for other builds aren't printed beside these."""
    monkeypatch.chdir(runs)
    outcomes = results_of(["latest"])
    rated = {system: dict(hashes) for system, hashes in outcomes.builds.items()}
    rated["cli:ann.toml"]["ek-smoke-set"] = "0" * 64
    elo = asdict(rate([Verdict("t", q, *rated, 1) for q in QUESTIONS]))
    document = {
        "ratings": {"overall": elo},
        "judge": {"source": {"model": "j"}},
        "notes": [],
        "builds": rated,
    }
    (tmp_path / "results.json").write_text(json.dumps(document))
    main = json.loads(invoked("tables", "--arena", str(tmp_path), "--json"))["brickbench.main"]
    elos = {row[1]: row[5] for row in main["rows"] if row[0] == "overall"}
    assert elos["cli:ann.toml"] is None
    assert elos["cli:bob.toml"] is not None
    assert "ratings of cli:ann.toml are left out: on 1 of 3 tasks" in main["note"]
    assert "cli:bob.toml are" not in main["note"]


def invoked(*words: str) -> str:
    """What a command of the benchmark prints, in this process."""
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_mistakes_are_one_sentence(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(runs)
    arena = ["arena", "latest", "-o", str(tmp_path / "arena")]
    done = CliRunner().invoke(command, arena)
    assert done.exit_code == 2
    assert "Missing option '--judge'" in done.stderr
    nobody = [*arena, "--judge", "openai/x", "-M", "base_url=http://127.0.0.1:9/v1"]
    done = CliRunner().invoke(command, nobody)
    assert isinstance(done.exception, UsageError)
    assert "127.0.0.1:9" in str(done.exception)
