"""
The base class of generators whose model ParlAI does not search, because another engine
or a server runs it.

A subclass defines what its model reads for a turn and which candidates it finds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, History, Output, TorchAgent

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import SpokenTurn
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.parlai.generator.candidates import (
    CandidateFinder,
    RankedBeam,
    Searches,
    pair_with_best,
)
from parlai_q2.parlai.generator.chat_history import ChatHistory
from parlai_q2.parlai.model_files import expect_no_model_file
from parlai_q2.parlai.readable import readable
from parlai_q2.rerank.candidate import Candidate

# The field that carries what the model reads, in an observation and in a batch.
CONTEXT = 'generator_context'


class CandidateAgent(CandidateFinder, TorchAgent):
    """
    An agent that replies with the first candidate of its model. It cannot be trained.

    :cvar what: a name for the model, used in the error that training raises.
    """

    what = 'This model'
    # Set by ParlAI.
    opt: Any

    @classmethod
    def history_class(cls) -> type[ChatHistory]:
        return ChatHistory

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None):
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
        self, contexts: Sequence[Any], searches: Sequence[Searches]
    ) -> list[list[Candidate]]:
        """
        Find candidates for B contexts.

        :param searches: the searches to run for each context (see
            :class:`~parlai_q2.parlai.generator.candidates.Searches`).
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

    def candidates_beginning_with(
        self, batch: Batch, beginnings: Mapping[int, str], **search_options: Any
    ) -> dict[int, list[Candidate]]:
        """The candidates of :meth:`complete`."""
        contexts = [batch[CONTEXT][index] for index in beginnings]
        pools = self.complete(contexts, list(beginnings.values()))
        return dict(zip(beginnings, pools, strict=True))

    def candidate_pools(
        self, batch: Batch, searches: Sequence[Searches], **search_options: Any
    ) -> list[list[Candidate]]:
        """The candidates of :meth:`find`, which applies its own length limits."""
        return self.find(batch[CONTEXT], searches)

    def build_model(self) -> None:
        """Build no model: :meth:`load` has loaded it."""

    def share(self) -> dict[str, Any]:
        return {**super().share(), 'loaded': self.loaded}

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def vectorize(
        self, obs: Message, history: History, *args: Any, **kwargs: Any
    ) -> Message:
        """Add the model's input to the observation."""
        knowledge = find_knowledge(obs) or ''
        if obs.get('text') or knowledge:
            assert isinstance(history, ChatHistory)
            context = self.read(history.turns_with_roles(), knowledge)
            obs.force_set(CONTEXT, context)
            if self.opt.get('dynamic_batching'):
                # ParlAI groups examples by the length of this field.
                length = len(str(context).split())
                obs.force_set('text_vec', torch.zeros(length, dtype=torch.long))
        return obs

    def is_valid(self, obs: Message) -> bool:
        return super().is_valid(obs) and CONTEXT in obs

    def batchify(self, obs_batch: list[Message], *args: Any, **kwargs: Any) -> Batch:
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
        self, batch: Batch, beam_size: int, max_ts: Any, prefix_tokens: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """The first replies, in the form of ParlAI's finished searches."""
        beams = []
        for pool in self.candidate_pools(batch, [Searches.FIRST] * batch.batchsize):
            candidates = pool or [self.empty_candidate]
            beams.append(RankedBeam([candidate.source for candidate in candidates]))
        return pair_with_best(beams)
