"""What lmbuild checks, runs and measures, as descriptors: names, versions and where the code is."""

from __future__ import annotations

from evalkit.hookspecs import AgentSpec, EnvironmentSpec, ExecutorSpec, MetricSpec, ValidatorSpec, ViewSpec

BENCHMARK = "lmbuild"

ENVIRONMENTS = {
    "default": EnvironmentSpec("evalkit_lmbuild.environment:BuildEnvironment"),
    "files": EnvironmentSpec("evalkit_lmbuild.file_environment:FileEnvironment", mode="workspace"),
}
"""By variant: built with tools, or handed in as files."""

DESIGN = ValidatorSpec(
    id="lmbuild.design",
    target="evalkit_lmbuild.validator:DesignValidator",
    version="1",
    summary="loadable, finite, references resolve, limits kept",
)

GEOMETRY = ExecutorSpec(
    id="lmbuild.geometry",
    target="evalkit_lmbuild.executor_geometry:GeometryExecutor",
    version="1",
    summary="structure, likeness, joints, assembly and materials, by voxels and beside the reference",
    warm="evalkit_lmbuild.trial:warm",
)

OPERABILITY = ExecutorSpec(
    id="lmbuild.operability",
    target="evalkit_lmbuild.executor_operability:OperabilityExecutor",
    version="1",
    summary="whether it works: subsystems, motions simulated by MuJoCo, human checks",
    warm="evalkit_lmbuild.executor_operability:warm",
)
OPERABILITY_PYBULLET = ExecutorSpec(
    id="lmbuild.operability_pybullet",
    target="evalkit_lmbuild.executor_operability:PyBulletOperabilityExecutor",
    version="1",
    summary="the same with PyBullet, to see how far the engines agree (slow)",
    warm="evalkit_lmbuild.executor_operability:warm",
)
OPERABILITY_ID = OPERABILITY.id
JUDGE_IDS = {"D.1": "lmbuild.judge_d1", "D.2": "lmbuild.judge_d2", "D.3": "lmbuild.judge_d3"}

JUDGES = [
    ExecutorSpec(
        id=JUDGE_IDS[metric],
        target=f"evalkit_lmbuild.executor_judges:{target}",
        version="1",
        summary=summary,
        needs_model=True,
    )
    for metric, target, summary in (
        ("D.1", "DecompositionJudge", "a model's view of how the design is cut into parts"),
        ("D.2", "VisualQualityJudge", "a model's view of the design's shape"),
        ("D.3", "ResemblanceJudge", "a model's view of how much the design resembles the object"),
    )
]

EXECUTORS: list[ExecutorSpec] = [GEOMETRY, OPERABILITY, OPERABILITY_PYBULLET, *JUDGES]
"""Geometry, rigid bodies and judges."""


def _metric(name: str, target: str, label: str, summary: str, not_applicable: str = "never") -> MetricSpec:
    return MetricSpec(
        f"lmbuild.{name}",
        f"evalkit_lmbuild.metrics:{target}",
        label,
        summary,
        kind="mean",
        denominator="episodes with a result; without a design they count 0",
        not_applicable=not_applicable,
    )


def _level(name: str, label: str, metrics: str) -> MetricSpec:
    return MetricSpec(
        f"lmbuild.{name}",
        f"evalkit_lmbuild.metrics:Level{name}",
        label,
        f"mean of {metrics}, each a mean over episodes",
        kind="mean",
        scope="run",
        denominator="metrics of the level that apply",
        not_applicable="none of its metrics applies",
    )


METRICS: list[MetricSpec] = [
    _level("S", "Structure", "S.1, S.2 and S.3"),
    _metric("S.1", "Connectivity", "S.1 Connectivity", "one piece, and fastened", "a single part"),
    _metric("S.2", "Collisions", "S.2 Collisions", "contacts without collision", "no parts touch"),
    _metric("S.3", "Stability", "S.3 Stability", "tilt and push it stands", "the object isn't free-standing"),
    _level("A", "Appearance and function", "A.1, A.2 and A.3"),
    _metric("A.1", "Shape", "A.1 Shape", "the reference's shape, whole and by part", "no reference"),
    _metric("A.2", "FunctionalParts", "A.2 Functional parts", "needed parts in their places", "no claims"),
    _metric("A.3", "Kinematics", "A.3 Kinematics", "joints move what they should", "nothing has to move"),
    _level("D", "Design", "D.1, D.2 and D.3"),
    _metric("D.1", "Decomposition", "D.1 Decomposition", "cut into parts sensibly", "nothing to compare"),
    _metric("D.2", "VisualQuality", "D.2 Visual quality", "how well it looks, by a judge alone"),
    _metric("D.3", "Resemblance", "D.3 Resemblance", "looks like the object", "no reference"),
    _level("R", "Realisation", "R.1, R.2 and R.3"),
    _metric("R.1", "Assembly", "R.1 Assembly", "can be put together in the declared order"),
    _metric("R.2", "Materials", "R.2 Materials", "materials that suit the parts", "nothing is known of them"),
    _metric(
        "R.3", "Operability", "R.3 Operability", "works, with rigid bodies simulated", "nothing is claimed"
    ),
]
"""The twelve metrics, each below its level."""

VIEWS: list[ViewSpec] = [
    ViewSpec(
        "lmbuild.design",
        "evalkit_lmbuild.trial:final_pictures",
        "the final design from six sides, in colours and apart, each joint in motion",
    ),
    ViewSpec(
        "lmbuild.engines",
        "evalkit_lmbuild.engines:report_tables",
        "how often MuJoCo and PyBullet agree, where designs were put to both",
        scope="run",
    ),
]
"""Pictures of an episode, tables of a run."""

AGENTS = [
    AgentSpec(
        name="boxes",
        target="evalkit_lmbuild.agents.boxes:BoxesAgent",
        summary="a pile of boxes of the catalogue's sizes: the floor",
        benchmarks=(BENCHMARK,),
    ),
    AgentSpec(
        name="reference",
        target="evalkit_lmbuild.reference:ReferenceAgent",
        summary="builds the object's reference by tool calls: the upper bound",
        benchmarks=(BENCHMARK,),
    ),
    AgentSpec(
        name="designs",
        target="evalkit_lmbuild.agents.designs:DesignsAgent",
        summary="hands in designs made elsewhere: designs:FOLDER, with a folder or a GLB per task",
        benchmarks=(BENCHMARK,),
    ),
    AgentSpec(
        name="release-text",
        target="evalkit_lmbuild.agents.release_text:ReleaseTextAgent",
        summary="a model that writes its calls as text, within the release's limits for that",
        benchmarks=(BENCHMARK,),
        offline=False,
        sees_images=True,
    ),
]
