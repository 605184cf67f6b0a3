"""The façade: every exported name is there, and tables cost neither numpy nor rich."""

import subprocess
import sys

import evalkit.report


def test_every_name_resolves():
    assert sorted(evalkit.report.__all__) == sorted(evalkit.report._MODULE_OF)
    assert all(getattr(evalkit.report, name) is not None for name in evalkit.report.__all__)


def test_aggregating_and_printing_proportions_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from evalkit.hookspecs import MetricSpec\n"
        "from evalkit.report import Column, Rate, Table, to_csv, to_markdown, to_text\n"
        "from evalkit.report.aggregate import aggregate\n"
        "from evalkit.types import EpisodeKey\n"
        "aggregate(MetricSpec('m', '', 'M', ''), {}, clusters=None, missing=[EpisodeKey('a', 't', 'c', 1)])\n"
        "t = [Table('t', 'T', (Column('a'), Column('b')), (('x', Rate(0.5, 1, 2)),))]\n"
        "to_text(t, 80), to_markdown(t), to_csv(t)\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "rich", "pydantic", "yaml"} & set(done.stdout.split())
