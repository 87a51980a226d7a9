"""
What the reranking agent asks of a generator. Agents of :mod:`.agent` have it; around
ParlAI's own generators, the reranking agent puts an adapter that has it.
"""

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.torch_agent import Batch

from parlai_q2.generate.strategies import Strategy
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage


class Wanted(enum.Flag):
    """
    What is asked of a generator for one example.

    ``FIRST`` is what the first strategy finds (of a server, one reply), ``MORE`` what
    the others find. Where there is no knowledge to choose by, the first is enough.
    """

    NOTHING = 0
    FIRST = 1
    MORE = 2
    ALL = FIRST | MORE

    def of(self, strategies: Sequence[Strategy]) -> list[Strategy]:
        """Those of some strategies that are wanted, in their order."""
        first, more = Wanted.FIRST in self, Wanted.MORE in self
        return [*strategies[: 1 if first else 0], *(strategies[1:] if more else ())]


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

    @property
    def finds_more(self) -> bool:
        """Whether it has more to ask for after the first search."""
        return False

    def candidate_pools(
        self, batch: Batch, wanted: Sequence[Wanted], **search: Any
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch.

        :param wanted: what to find for each of B examples.
        :param search: what ParlAI gave to ``_generate``: ``max_ts``, ``prefix_tokens``
            and whatever a model adds.
        :return: B pools in the generator's order, with each candidate's own record in
            ``source``; a pool may be empty. Duplicates and candidates without text may
            be among them; the caller leaves them out.
        """
        raise NotImplementedError

    def begun(
        self, batch: Batch, beginnings: Mapping[int, str], **search: Any
    ) -> dict[int, list[Candidate]]:
        """
        Find candidates that begin with given texts, if it can.

        :param beginnings: a text by the example's place in the batch.
        :param search: as for :meth:`candidate_pools`.
        :return: what it found, by place; places may lack.
        """
        return {}

    def knowledge_found(self, count: int) -> list[tuple[Passage, ...]]:
        """The documents it found last, for each of ``count`` examples."""
        return [()] * count


class RankedBeam:
    """Ranked hypotheses, best first, with the interface of a finished ParlAI search."""

    def __init__(self, hypotheses: Sequence[Any]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: int | None = None) -> list[Any]:
        """The best hypotheses, all if None, with the generator's own scores."""
        return self.hypotheses[:n_best]


def first_replies(beams: Sequence[RankedBeam]) -> tuple[list, list]:
    """What ParlAI's ``_generate`` returns: the best hypotheses, and the searches."""
    return [beam.hypotheses[0] for beam in beams], list(beams)
