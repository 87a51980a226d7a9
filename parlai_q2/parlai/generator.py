"""
The base class of agents whose model ParlAI does not search because another engine or a
server runs it, and the dialogue histories that these agents read.

The reranking agent asks such an agent for candidates. It wraps the generators of ParlAI
in an adapter with the same interface. Tasks may write knowledge into the text of a
turn, between the markers of Wizard of Wikipedia or on separate lines. A prompt with a
slot for the knowledge needs the turns without it.
"""

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, History, Output, TorchAgent
from parlai.utils.typing import TShared

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import USER, SpokenTurn
from parlai_q2.generate.strategies import Strategy
from parlai_q2.io.knowledge import find_knowledge, without_marked
from parlai_q2.parlai.model_files import expect_no_model_file, readable
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage

ASSISTANT = 'assistant'
# The field with the model's input, in an observation and in a batch.
CONTEXT = 'generator_context'


class SearchPhase(enum.Flag):
    """
    The phases of the search for one example: the first strategy (of a server, one
    reply) and all others. Without knowledge to choose by, the first is enough.
    """

    NONE = 0
    FIRST = 1
    REST = 2
    ALL = FIRST | REST

    def select(self, strategies: Sequence[Strategy]) -> list[Strategy]:
        """Select the strategies to run, in order."""
        first = strategies[:1] if SearchPhase.FIRST in self else ()
        rest = strategies[1:] if SearchPhase.REST in self else ()
        return [*first, *rest]


class RankedBeam:
    """Ranked hypotheses, best first, with the interface of a finished ParlAI search."""

    def __init__(self, hypotheses: Sequence[object]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: int | None = None) -> list[Any]:
        """The best hypotheses, all if None, with the generator's own scores."""
        return self.hypotheses[:n_best]


def pair_with_best(beams: Sequence[RankedBeam]) -> tuple[list[Any], list[Any]]:
    """Return the best hypotheses, and the searches, as ParlAI's ``_generate`` does."""
    return [beam.hypotheses[0] for beam in beams], list(beams)


class GroundedHistory(History):
    """A history that tells knowledge from dialogue, and replies from other turns."""

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        self._knowledge_lines: set[str] = set()
        self._is_reply: list[bool] = []
        self._adding_reply = False

    def reset(self) -> None:
        super().reset()
        self._knowledge_lines, self._is_reply = set(), []

    def update_history(self, obs: Message, temp_history: str | None = None) -> None:
        for line in (find_knowledge(obs) or '').splitlines():
            self._knowledge_lines.add(line.strip())
        self._knowledge_lines.discard('')
        super().update_history(obs, temp_history)

    def add_reply(self, text: str) -> None:
        self._adding_reply = True
        super().add_reply(text)
        self._adding_reply = False

    def _update_strings(self, text: str) -> None:
        super()._update_strings(text)
        flags = [*self._is_reply, self._adding_reply]
        self._is_reply = flags[-len(self.history_strings) :]

    def turns(self, with_knowledge: bool) -> list[str]:
        """The turns, oldest first, with or without the knowledge in their texts."""
        turns: list[str] = self.history_strings[:]
        if turns and self.temp_history is not None:
            turns[-1] += self.temp_history
        if with_knowledge:
            return turns
        return list(filter(None, map(self._without_knowledge, turns)))

    def _without_knowledge(self, turn: str) -> str:
        turn = without_marked(turn)
        lines = turn.splitlines()
        dialogue = [line for line in lines if line.strip() not in self._knowledge_lines]
        # A turn with only knowledge is the speaker's own text, so it stays.
        has_dialogue = 0 < len(dialogue) < len(lines)
        return '\n'.join(dialogue) if has_dialogue else turn

    def turns_with_roles(self) -> list[SpokenTurn]:
        """The turns without their knowledge, oldest first, each with its speaker."""
        dialogue: list[SpokenTurn] = []
        for is_reply, turn in zip(self._is_reply, self.turns(with_knowledge=True)):
            text = self._without_knowledge(turn)
            if text.strip():
                dialogue.append((ASSISTANT if is_reply else USER, text))
        return dialogue


class CandidateAgent(TorchAgent):
    """
    An agent that replies with the first candidate of its model. It cannot be trained.

    :cvar what: a name for the model, used in the error that training raises.
    """

    what = 'This model'
    # Set by ParlAI.
    opt: Any

    @classmethod
    def history_class(cls) -> type[GroundedHistory]:
        return GroundedHistory

    def __init__(self, opt: Opt, shared: TShared | None = None):
        if shared:
            self.loaded = shared['loaded']
        else:
            expect_no_model_file(opt)
            self.loaded = self.load(opt)
            self.model = self.criterion = None
        super().__init__(opt, shared)

    def load(self, opt: Opt) -> Any:
        """Load what all clones of the agent share, such as a model."""
        raise NotImplementedError

    def read(self, dialogue: Sequence[SpokenTurn], knowledge: str) -> Any:
        """
        Make the model's input for a turn.

        :param dialogue: pairs of role and text, oldest first, without the knowledge.
        :param knowledge: the knowledge of the turn; empty if there is none.
        :return: the context that :meth:`find` is called with.
        """
        raise NotImplementedError

    def find(
        self, contexts: Sequence[Any], searches: Sequence[SearchPhase]
    ) -> list[list[Candidate]]:
        """
        Find candidates for B contexts.

        :param searches: the searches to run for each context (see
            :class:`~parlai_q2.parlai.generator.SearchPhase`).
        :return: B pools. The ``source`` of each candidate is its text and score.
        """
        raise NotImplementedError

    def complete(
        self, contexts: Sequence[Any], beginnings: Sequence[str]
    ) -> list[list[Candidate]]:
        """
        Find candidates that begin with given texts, for B contexts.

        :return: B pools; empty unless a subclass overrides this method.
        """
        return [[] for _ in contexts]

    # The interface for the reranking agent.

    @property
    def empty_candidate(self) -> Candidate:
        """The candidate of an example without text, as a finished search has it."""
        return Candidate('', source=('', 0.0))

    @property
    def has_retriever(self) -> bool:
        """Whether the generator retrieves documents itself, as ParlAI's RAG does."""
        return False

    def retrieved_knowledge(self, count: int) -> list[tuple[Passage, ...]]:
        """The documents that it retrieved last, for each of ``count`` examples."""
        return [()] * count

    @property
    def has_more_searches(self) -> bool:
        """Whether the generator can run further searches after the first."""
        return False

    def candidate_pools(
        self, batch: Batch, searches: Sequence[SearchPhase], **search_options: Any
    ) -> list[list[Candidate]]:
        """
        Return the candidates of :meth:`find`, which applies its own length limits.

        :param searches: the searches to run for each of B examples.
        :param search_options: what ParlAI passed to ``_generate``: ``max_ts``,
            ``prefix_tokens`` and whatever a model adds.
        :return: B pools in the generator's order, with each candidate's own record in
            ``source``. A pool may be empty. It may also contain duplicates and
            candidates without text, which the caller removes.
        """
        return self.find(batch[CONTEXT], searches)

    def candidates_beginning_with(
        self, batch: Batch, beginnings: Mapping[int, str], **search_options: Any
    ) -> dict[int, list[Candidate]]:
        """
        The candidates of :meth:`complete`.

        :param beginnings: a text by the example's index in the batch.
        :param search_options: as for :meth:`candidate_pools`.
        :return: the candidates, by index; indices without candidates may be missing.
        """
        contexts = [batch[CONTEXT][index] for index in beginnings]
        pools = self.complete(contexts, list(beginnings.values()))
        return dict(zip(beginnings, pools, strict=True))

    def build_model(self) -> None:
        """Do nothing: :meth:`load` has loaded the model."""

    def share(self) -> TShared:
        return {**super().share(), 'loaded': self.loaded}

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def vectorize(
        self, obs: Message, history: History, *args: object, **kwargs: object
    ) -> Message:
        """Add the model's input to the observation."""
        knowledge = find_knowledge(obs) or ''
        if obs.get('text') or knowledge:
            assert isinstance(history, GroundedHistory)
            context = self.read(history.turns_with_roles(), knowledge)
            obs.force_set(CONTEXT, context)
            if self.opt.get('dynamic_batching'):
                # ParlAI groups examples by the length of this field.
                length = len(str(context).split())
                obs.force_set('text_vec', torch.zeros(length, dtype=torch.long))
        return obs

    def is_valid(self, obs: Message) -> bool:
        return super().is_valid(obs) and CONTEXT in obs

    def batchify(
        self, obs_batch: list[Message], *args: object, **kwargs: object
    ) -> Batch:
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            batch[CONTEXT] = [obs_batch[i][CONTEXT] for i in batch.valid_indices]
        return batch

    def train_step(self, batch: Batch) -> None:
        raise ConfigError(
            f'{self.what} cannot be trained here. Evaluate it: eval_model, or '
            '--datatype valid. To train a Hugging Face model: -m q2:hf_seq2seq'
        )

    def eval_step(self, batch: Batch) -> Output | None:
        if batch.valid_indices is None:
            return None
        _, beams = self._generate(batch, 1, None)
        hypotheses = [beam.get_rescored_finished() for beam in beams]
        return Output([row[0][0] for row in hypotheses], beam_texts=hypotheses)

    def _generate(
        self,
        batch: Batch,
        beam_size: int,
        max_ts: Any,
        prefix_tokens: Any = None,
        **search_options: Any,
    ) -> tuple[list[Any], list[Any]]:
        """Find the first replies, in the form of ParlAI's finished searches."""
        beams = []
        for pool in self.candidate_pools(batch, [SearchPhase.FIRST] * batch.batchsize):
            candidates = pool or [self.empty_candidate]
            beams.append(RankedBeam([candidate.source for candidate in candidates]))
        return pair_with_best(beams)
