"""`-m`, `-M` and the budgets: who plays through which model, and what it may use."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.models import ModelOptions
    from evalkit.plugins import Plugins
    from evalkit.registry import Suite

DOLLARS = click.FloatRange(0, min_open=True)

_UNITS_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}

_OPTIONS = (
    click.option("-m", "models", multiple=True, metavar="MODEL", help="A model that plays (repeatable)."),
    click.option(
        "-M", "model_options", multiple=True, metavar="KEY=VALUE", help="How to reach it, e.g. base_url=…."
    ),
    click.option(
        "--max-connections", type=click.IntRange(1), default=10, show_default=True, metavar="N",
        help="Episodes models play at once.",
    ),
    click.option("--cache/--no-cache", "cache", default=False, help="Answer equal calls from the cache."),
    click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Calls an episode may take."),
    click.option(
        "--max-llm-calls", type=click.IntRange(1), metavar="N",
        help="Answers of its model an episode may use, reminders included.",
    ),
    click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Tokens an episode may use."),
    click.option("--max-time", metavar="T", help="Time an episode may take, e.g. 30m."),
    click.option("--max-cost", type=DOLLARS, metavar="USD", help="Dollars per episode."),
    click.option("--total-calls", type=click.IntRange(1), metavar="N", help="Calls the run may take."),
    click.option("--total-tokens", type=click.IntRange(1), metavar="N", help="Tokens the run may use."),
    click.option("--total-time", metavar="T", help="Time the run may take."),
    click.option("--total-cost", type=DOLLARS, metavar="USD", help="Dollars per run."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The models of a run, how they are reached, and budgets: `limits` per episode, `totals` per run."""

    models: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    connections: int = 10
    cache: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)
    totals: Mapping[str, float] = field(default_factory=dict)

    def overrides(self) -> list[str]:
        """The limits of an episode as changes of the protocol (`-T`)."""
        return [f"limits.{name}={value:.15g}" for name, value in self.limits.items()]

    def notes(self, suite: Suite) -> list[str]:
        """What --max-calls alone doesn't change: other limits of the suite that stay lower."""
        calls = self.limits.get("calls", 0)
        lower = [n for n in ("tool_calls", "executions") if suite.limits.get(n, calls) < calls]
        return [
            f"{suite.name} keeps {n}={suite.limits[n]:g}; change it with -T limits.{n}={calls:g}"
            for n in lower
        ]

    def agents(self, kinds: tuple[str, ...], plugins: Plugins, suite: Suite) -> list[str]:
        """What to put into a plan: every model under every kind of agent, and agents without a model.

        Of `kinds` (from --agent), those that need a model and don't name one get each of the models; if
        there is none, the kind that fits the environment does. `chat` becomes `chat:MODEL`, and
        `cli:claude`, which has a program of its own, `cli:claude@MODEL`.
        """
        from evalkit.run.assemble import find_agent

        if not self.models:
            return list(kinds)
        specs = {kind: find_agent(plugins, suite.benchmark, kind.partition(":")[0]) for kind in kinds}
        asking = [kind for kind, spec in specs.items() if not spec.offline]
        ends = {kind: "@" if specs[kind].own_program else ":" for kind in asking}
        bare = [kind for kind in asking if ends[kind] not in kind]
        kinds_asked = bare or ([] if asking else [_fitting_kind(plugins, suite)])
        others = [kind for kind in kinds if kind not in bare]
        named = [f"{kind}{ends.get(kind, ':')}{model}" for kind in kinds_asked for model in self.models]
        return [*others, *named]

    def check(self, plugins: Plugins, suite: Suite, agents: list[str]) -> None:
        """Find out before episode 1 what no model call could survive: keys, endpoints, option names.

        Also programs that aren't there.
        """
        from evalkit.plugins import resolve
        from evalkit.run.assemble import find_agent

        named = [agent.partition(":") for agent in agents]
        specs = [(find_agent(plugins, suite.benchmark, name), argument) for name, _, argument in named]
        if self.options and all(spec.offline for spec, _ in specs):
            raise UsageError("-M is for models, and no model plays; name one with -m")
        for spec, argument in specs:
            if spec.own_program:
                program = resolve(spec.target, plugins.origin(spec).plugin)(argument, suite.settings)
                program.use_options(self.options)
                program.require_counters({*suite.limits, *self.totals})
                if "llm_calls" in suite.limits:
                    raise UsageError(
                        f"the program of {argument} asks its model itself, so a limit of llm_calls can't be "
                        "kept; use turns (-T limits.turns=N)"
                    )
        asked = [argument for spec, argument in specs if not (spec.offline or spec.own_program)]
        if not asked:
            return
        from evalkit.models import check_model, parse_options

        options = parse_options(self.options)
        for model in dict.fromkeys(asked):
            if not model:
                raise UsageError("that agent needs a model: -m MODEL")
            check_model(model, options)
            if "cost" in suite.limits or "cost" in self.totals:
                _require_prices(model, options)


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb these options, which it receives together as `choice`."""

    @functools.wraps(function)
    def bundled(
        *,
        models: tuple[str, ...],
        model_options: tuple[str, ...],
        max_connections: int,
        cache: bool,
        max_calls: int | None,
        max_llm_calls: int | None,
        max_tokens: int | None,
        max_time: str | None,
        max_cost: float | None,
        total_calls: int | None,
        total_tokens: int | None,
        total_time: str | None,
        total_cost: float | None,
        **others: Any,
    ) -> Any:
        limits = _given(
            calls=max_calls,
            llm_calls=max_llm_calls,
            tokens=max_tokens,
            cost=max_cost,
            seconds=_seconds("--max-time", max_time),
        )
        totals = total_budgets(total_calls, total_tokens, total_time, total_cost)
        choice = ModelChoice(models, model_options, max_connections, cache, limits, totals)
        return function(choice=choice, **others)

    for option in reversed(_OPTIONS):
        bundled = option(bundled)
    return bundled


def _require_prices(model: str, options: ModelOptions) -> None:
    """A budget in dollars is only kept where prices are known."""
    from evalkit.models import open_model

    client = open_model(model, options)
    try:
        if client.describe().get("prices") is None:
            raise UsageError(
                f"no prices are known for {model}, so a budget of cost can't be kept; use tokens"
            )
    finally:
        client.close()


def _fitting_kind(plugins: Plugins, suite: Suite) -> str:
    """`chat` where a whole answer is one text, `tools` elsewhere; UsageError for a workspace."""
    from evalkit.agents.models import answer_tool
    from evalkit.plugins import resolve

    spec = plugins.environment(suite.benchmark, suite.variant)
    if spec.mode == "workspace":
        raise UsageError(f"{suite.name} is for coding agents: --agent cli:claude -m MODEL, say")
    environment = resolve(spec.target, plugins.origin(spec).plugin)(dict(suite.settings))
    try:
        answer_tool(environment.tools())
    except UsageError:
        return "tools"
    return "chat"


def total_budgets(
    calls: int | None, tokens: int | None, time: str | None, cost: float | None
) -> dict[str, float]:
    """The budgets of a run that were given, by counter."""
    return _given(calls=calls, tokens=tokens, cost=cost, seconds=_seconds("--total-time", time))


def _given(**values: float | None) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _seconds(option: str, text: str | None) -> float | None:
    """`90`, `90s`, `30m`, `2h`, `1d` in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if found is None or float(found[1]) <= 0:
        raise UsageError(f"{option} {text}: write it as 90s, 30m or 2h")
    return float(found[1]) * _UNITS_S[found[2]]
