"""The engine that scores labels, with the scorer that options name."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Optional

from parlai_q2.cli.scale_options import On, engine_from_opt, with_device
from parlai_q2.cli.scorer_options import judge_from_opt
from parlai_q2.scale.by_scorer import Same
from parlai_q2.scale.job import Engine
from parlai_q2.scale.judge_job import JudgeJob
from parlai_q2.scale.local import LocalEngine
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.signature import Signature


class Judging(NamedTuple):
    """
    An engine for a :class:`~parlai_q2.scale.judge_job.JudgeJob`.

    :param scorer: that of this process; None if others do the work.
    """

    engine: Engine
    scorer: Optional[Scorer] = None

    @property
    def threshold(self) -> float:
        """The scorer's, by its signature."""
        found = Signature.from_text(self.engine.signature).settings.get('threshold')
        return DEFAULT_THRESHOLD if found is None else float(found)


def judging_from_opt(opt: Mapping[str, Any], role: Role, default: str) -> Judging:
    """
    The engine that an ``opt`` asks for, with the scorer of a role; in this process with
    the score cache.

    :param default: the scorer, if the ``opt`` names none.
    """
    if opt.get('engine', On.LOCAL) == On.LOCAL:
        scorer = judge_from_opt(opt, role, default)
        return Judging(LocalEngine(JudgeJob(Same(scorer))), scorer)
    make = partial(make_judge, with_device(opt, None), role, default)
    return Judging(engine_from_opt(opt, JudgeJob(make)))


def make_judge(
    opt: Mapping[str, Any], role: Role, default: str, device: Optional[str]
) -> Scorer:
    """A process's scorer, on its device or that of ``opt``, without the cache."""
    return judge_from_opt(with_device(opt, device), role, default, cache=False)
