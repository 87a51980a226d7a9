"""
The interface through which the reranking agent asks a generator for candidates. Agents
derived from :mod:`.agent` implement it. The reranking agent wraps ParlAI's own
generators in an adapter that does.
"""

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.torch_agent import Batch

from parlai_q2.generate.strategies import Strategy
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage


class Searches(enum.Flag):
    """
    The searches that a generator runs for one example.

    ``FIRST`` is the first strategy (one reply, if the generator is a server), and
    ``REST`` all others. Without knowledge to choose by, the first is enough.
    """

    NONE = 0
    FIRST = 1
    REST = 2
    ALL = FIRST | REST

    def select(self, strategies: Sequence[Strategy]) -> list[Strategy]:
        """The strategies to run, in their order."""
        first = strategies[:1] if Searches.FIRST in self else ()
        rest = strategies[1:] if Searches.REST in self else ()
        return [*first, *rest]


class CandidateFinder:
    """A generator that finds several candidates for each example of a batch."""

    @property
    def empty_candidate(self) -> Candidate:
        """
        The candidate of an example for which the generator found no text. Its
        ``source`` has the form that the generator expects of a finished search.
        """
        return Candidate('', source=('', 0.0))

    @property
    def has_retriever(self) -> bool:
        """Whether the generator retrieves documents itself, as ParlAI's RAG does."""
        return False

    @property
    def has_more_searches(self) -> bool:
        """Whether the generator can run further searches after the first."""
        return False

    def candidate_pools(
        self, batch: Batch, searches: Sequence[Searches], **search_options: Any
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch.

        :param searches: the searches to run for each of B examples.
        :param search_options: what ParlAI passed to ``_generate``: ``max_ts``,
            ``prefix_tokens`` and whatever a model adds.
        :return: B pools in the generator's order, with each candidate's own record in
            ``source``. A pool may be empty. It may also contain duplicates and
            candidates without text, which the caller removes.
        """
        raise NotImplementedError

    def candidates_beginning_with(
        self, batch: Batch, beginnings: Mapping[int, str], **search_options: Any
    ) -> dict[int, list[Candidate]]:
        """
        Find candidates that begin with given texts, if the generator can.

        :param beginnings: a text by the example's index in the batch.
        :param search_options: as for :meth:`candidate_pools`.
        :return: the candidates, by index; indices without candidates may be missing.
        """
        return {}

    def retrieved_knowledge(self, count: int) -> list[tuple[Passage, ...]]:
        """The documents it retrieved last, for each of ``count`` examples."""
        return [()] * count


class RankedBeam:
    """Ranked hypotheses, best first, with the interface of a finished ParlAI search."""

    def __init__(self, hypotheses: Sequence[Any]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: int | None = None) -> list[Any]:
        """The best hypotheses, all if None, with the generator's own scores."""
        return self.hypotheses[:n_best]


def pair_with_best(beams: Sequence[RankedBeam]) -> tuple[list[Any], list[Any]]:
    """The result of ParlAI's ``_generate``: the best hypotheses, and the searches."""
    return [beam.hypotheses[0] for beam in beams], list(beams)
