"""``--mutators q2_annotate``: adds scores of how grounded a task's labels are."""

from parlai.core.message import Message
from parlai.core.mutators import register_mutator

from parlai_q2.parlai.mutators.base import ScoringMutator

SCORE, LABEL, EVIDENCE = 'q2_score', 'q2_score_label', 'q2_evidence'


@register_mutator('q2_annotate')
class AnnotateMutator(ScoringMutator):
    """
    Adds to a message, for its first label, ``q2_score`` (in [0, 1]; None without
    knowledge or label), ``q2_score_label`` and ``q2_evidence`` (what ``Score.to_dict``
    returns).
    """

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """The episode with the scores in its messages."""
        for message, (example, score) in zip(episode, self.first_labels(episode)):
            scored = (
                example and example.knowledge_text.strip() and example.response.strip()
            )
            message.force_set(SCORE, score.value if score and scored else None)
            message.force_set(LABEL, score.label if score else None)
            if score:
                message.force_set(EVIDENCE, score.to_dict())
        return [episode]
