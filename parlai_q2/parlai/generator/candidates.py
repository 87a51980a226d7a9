"""
What the reranking agent asks of a generator. Agents of :mod:`.agent` have it; around
ParlAI's own generators, the reranking agent puts an adapter that has it.
"""

from collections.abc import Sequence
from typing import Any, Optional

from parlai.core.torch_agent import Batch

from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage


class FindsCandidates:
    """A generator that finds several candidates for each example of a batch."""

    @property
    def nothing(self) -> Candidate:
        """
        What it has "said" where it found no text, with the ``source`` that it expects
        among its finished searches.
        """
        return Candidate('', source=('', 0.0))

    @property
    def finds_knowledge(self) -> bool:
        """Whether it looks for documents itself, as ParlAI's RAG does."""
        return False

    def candidate_pools(
        self, batch: Batch, grounded: Sequence[bool], **search: Any
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch.

        :param grounded: B truth values: whether there is knowledge to choose by. Where
            there is none, one search is enough, since its first reply will be said.
        :param search: what ParlAI gave to ``_generate``: ``max_ts``, ``prefix_tokens``
            and whatever a model adds.
        :return: B pools in the generator's order, with each candidate's own record in
            ``source``; a pool may be empty. Duplicates and candidates without text may
            be among them; the caller leaves them out.
        """
        raise NotImplementedError

    def knowledge_found(self, count: int) -> list[tuple[Passage, ...]]:
        """The documents it found last, for each of ``count`` examples."""
        return [()] * count


class RankedBeam:
    """Ranked hypotheses, best first, with the interface of a finished ParlAI search."""

    def __init__(self, hypotheses: Sequence[Any]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: Optional[int] = None) -> list[Any]:
        """The best hypotheses, all if None, with the generator's own scores."""
        return self.hypotheses[:n_best]


def first_replies(beams: Sequence[RankedBeam]) -> tuple[list, list]:
    """What ParlAI's ``_generate`` returns: the best hypotheses, and the searches."""
    return [beam.hypotheses[0] for beam in beams], list(beams)
