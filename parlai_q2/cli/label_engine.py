"""The engine that scores labels, with the scorer that options name."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from parlai_q2.cli.scale_options import EngineName, engine_from_opt, with_device
from parlai_q2.cli.scorer_options import judge_from_opt
from parlai_q2.runs.job import Engine, LocalEngine
from parlai_q2.runs.label_scores import LabelJob
from parlai_q2.runs.score_job import FixedScorer
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.signature import Signature


class LabelEngine(NamedTuple):
    """
    An engine for a :class:`~parlai_q2.runs.label_scores.LabelJob`.

    :param scorer: that of this process; None if others do the work.
    """

    engine: Engine
    scorer: Scorer | None = None

    @property
    def threshold(self) -> float:
        """The scorer's, by its signature."""
        settings = Signature.from_text(self.engine.signature).settings
        threshold = settings.get('threshold')
        return DEFAULT_THRESHOLD if threshold is None else float(threshold)


def label_engine_from_opt(opt: Mapping[str, Any], role: Role) -> LabelEngine:
    """
    The engine that an ``opt`` asks for, with the scorer of a role; in this process with
    the score cache.
    """
    if opt.get('engine', EngineName.LOCAL) == EngineName.LOCAL:
        scorer = judge_from_opt(opt, role)
        return LabelEngine(LocalEngine(LabelJob(FixedScorer(scorer))), scorer)
    make_scorer = partial(make_judge, with_device(opt, None), role)
    return LabelEngine(engine_from_opt(opt, LabelJob(make_scorer)))


def make_judge(opt: Mapping[str, Any], role: Role, device: str | None) -> Scorer:
    """A process's scorer, on its device or that of ``opt``, without the cache."""
    return judge_from_opt(with_device(opt, device), role, cache=False)
