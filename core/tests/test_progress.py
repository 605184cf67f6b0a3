"""What a person sees while a run goes on."""

from types import SimpleNamespace

import pytest

from evalkit.cli._progress import ProgressView
from evalkit.episode import End
from evalkit.errors import EndReason
from evalkit.run.scoring import RunningScore
from evalkit.types import EpisodeKey, Score


@pytest.fixture
def running(toy, monkeypatch):
    """Makes the running score of some agents; each episode's value is its epoch."""
    monkeypatch.setattr(toy.Success, "measure", lambda self, episode, task: Score(float(episode.key.epoch)))

    def make(*agents, epochs=1):
        plan = SimpleNamespace(
            tasks=toy.TASKS,
            epochs=epochs,
            suite=SimpleNamespace(metrics=["towers.success"], benchmark="towers", settings={}),
            setup=SimpleNamespace(agents=[SimpleNamespace(id=agent) for agent in agents]),
        )
        score = RunningScore(plan, toy.plugins(), SimpleNamespace(load=lambda value: value))
        return lambda agent, value: score.after(
            EpisodeKey(agent, "T-1", "c", value), ['{"kind": "episode_end"}']
        )

    return make


def test_one_agent_has_a_figure_with_its_interval(running):
    after = running("fixed")
    after("fixed", 1)
    assert after("fixed", 0) == "Success@3 50.0% (1/2) [9, 91]"


def test_few_agents_have_a_figure_each(running):
    after = running("fixed", "chat:a-provider/a-model-with-a-very-long-name")
    assert after("fixed", 1) == "Success@3 fixed 100.0% (1/1) [21, 100]"
    both = after("chat:a-provider/a-model-with-a-very-long-name", 0)
    assert (
        both == "Success@3 fixed 100.0% (1/1) [21, 100], …er/a-model-with-a-very-long-name 0.0% (0/1) [0, 79]"
    )


def test_many_agents_are_taken_together(running):
    after = running("a", "b", "c", "d")
    after("a", 1)
    assert after("b", 0) == "Success@3 50.0% (1/2)"


def test_no_interval_over_epochs_nor_of_what_is_no_proportion(running):
    assert running("fixed", epochs=2)("fixed", 1) == "Success@3 100.0% (1/1)"
    assert running("fixed")("fixed", 7) == "Success@3 700.0% (7/1)"


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        ([{}], "2 calls"),
        (
            [{"tokens": 1200.0, "cost": 0.5}, {"tokens": 300.0, "cost": 0.25}],
            "4 calls · 1,500 tokens · $0.7500",
        ),
        ([{"tokens": 1200.0, "cost": 0.5}, {"tokens": 300.0}], "4 calls · 1,500 tokens ·"),
    ],
)
def test_tokens_and_cost_are_shown_where_models_play(capsys, spent, words):
    with ProgressView(len(spent), lambda key, bodies: "", live=False) as view:
        for counters in spent:
            view.watch(EpisodeKey("a", "t", "c", 1), End(EndReason.DONE, "", {"calls": 2, **counters}))
    last = capsys.readouterr().err.splitlines()[-1]
    assert words in last
    assert ("$" in words) == ("$" in last)
    assert ("tokens" in words) == ("tokens" in last)
