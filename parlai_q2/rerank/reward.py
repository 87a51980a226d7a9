"""
A reward for training a generator online: how well its texts are grounded.

It has the form in which TRL's online trainers (``GRPOTrainer``, ``RLOOTrainer``) call
reward functions, and does not import TRL.
"""

from collections.abc import Sequence
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.errors import InputError
from parlai_q2.rerank.candidate import Candidate, Pool
from parlai_q2.rerank.guards import TRAINING_PENALTIES
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.rerank.relevance import RelevanceReader
from parlai_q2.rerank.reranker import Reranker
from parlai_q2.rerank.worth import worth_of
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET
from parlai_q2.scorers.roles import DEFAULTS, Role
from parlai_q2.text.messages import reply_text

# A completion: a text, or the messages of a chat, the reply last.
Completion = str | Sequence[dict[str, Any]]


class GroundedReward:
    """
    Rewards a reply with its score after the guards. Copies of the knowledge, empty
    phrases and repetitions earn less, because training would soon exploit them.

    :param choose: the scorer, or its name.
    :param guards: whether guards apply.
    :param knowledge: the data's column with the knowledge: texts or lists of passages.
    :param history: the column with the turns before the reply, oldest first; data
        without such a column has none.
    :param relevance: whether a reply must also answer the last of these turns to earn
        its reward (:func:`~parlai_q2.rerank.worth.worth_of`), or what reads that, as
        for :class:`~parlai_q2.rerank.Reranker`.
    :param preset: the models of a scorer that is given by name, and of relevance.

    >>> reward = GroundedReward('precision', guards=False)
    >>> reward(['When?'] * 2, ['in 1969', 'in 1950'], knowledge=['It was in 1969.'] * 2)
    [1.0, 0.0]
    """

    def __init__(
        self,
        choose: str | Scorer = DEFAULTS[Role.CHOOSE],
        guards: bool = True,
        knowledge: str = 'knowledge',
        history: str = 'history',
        relevance: bool | str | RelevanceReader = False,
        preset: str = DEFAULT_PRESET,
    ):
        self.reranker = Reranker(
            choose,
            guards=guards,
            explain=None,
            penalties=TRAINING_PENALTIES,
            relevance=relevance,
            preset=preset,
        )
        self.knowledge, self.history = knowledge, history
        # TRL names its logged columns by this.
        self.__name__ = f'grounded_{self.reranker.chooser.name}'

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """
        The rewards of a batch, with one call of the scorer.

        :param prompts: N prompts, which are not looked at.
        :param completions: N completions.
        :param columns: the data's other columns, N values each; and TRL's
            ``log_metric``, which gets the share of consistent replies.
        :return: N rewards in [0, 1]; 0 if nobody sees a reply, such as a tool call;
            None, which TRL leaves out, without knowledge.
        :raises InputError: when the data has no such column, or one of another length.
        """
        knowledge_column = columns.get(self.knowledge)
        if knowledge_column is None or len(knowledge_column) != len(completions):
            what = (
                'no'
                if knowledge_column is None
                else f'{len(knowledge_column)} values in the'
            )
            raise InputError(
                f'A reward needs the knowledge of each of {len(completions)} replies, '
                f"and there is {what} column {self.knowledge!r}. Name the data's own: "
                "GroundedReward(knowledge='...')"
            )
        history = columns.get(self.history) or [()] * len(completions)
        if len(history) != len(completions):
            raise InputError(
                f'There are {len(history)} values in the column {self.history!r} for '
                f'{len(completions)} replies. Give the turns before each of them.'
            )
        texts = [reply_text(completion) for completion in completions]
        rankings = self.reranker.rank_batch(
            [
                Pool(knowledge or '', [Candidate(text)], turns or ())
                for knowledge, text, turns in zip(
                    knowledge_column, texts, history, strict=True
                )
            ]
        )
        replies = [ranking.chosen for ranking in rankings]
        log = columns.get('log_metric')
        scores = [reply.score for reply in replies if reply.score is not None]
        if log is not None and scores:
            consistent = sum(score.label == Label.CONSISTENT for score in scores)
            log(f'{self.__name__}/consistent', consistent / len(scores))
        return [_reward(ranking) for ranking in rankings]


def _reward(ranking: Ranking) -> float | None:
    reply = ranking.chosen
    if reply.guarded_score is None:
        return None
    # An empty reply is never wrong, but must not be learnt.
    if not reply.text.strip():
        return 0.0
    worth = worth_of(reply, ranking.turn)
    # Guards lift chat above what is wrong, which a choice needs, and training does not.
    is_chat = reply.score is not None and reply.score.label == Label.GENERIC
    return min(worth, reply.score.value) if is_chat and reply.score else worth
