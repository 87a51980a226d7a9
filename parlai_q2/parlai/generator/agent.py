"""
The base class of generators whose model ParlAI does not search: one that another engine
runs, or that a server has.

A subclass says what its model reads for a turn, and what it replies; the rest is here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch, History, Output, TorchAgent

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import Said
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.parlai.generator.candidates import (
    FindsCandidates,
    RankedBeam,
    Wanted,
    first_replies,
)
from parlai_q2.parlai.generator.chat_history import ChatHistory
from parlai_q2.parlai.model_files import expect_no_model_file
from parlai_q2.parlai.readable import readable
from parlai_q2.rerank.candidate import Candidate

# The field that carries what the model reads, in an observation and in a batch.
CONTEXT = 'generator_context'


class CandidateAgent(FindsCandidates, TorchAgent):
    """
    An agent that replies with the first candidate of its model; it cannot be trained.

    :cvar what: what the model is, for the error when somebody trains it.
    """

    what = 'This model'
    # ParlAI's own.
    opt: Any

    @classmethod
    def history_class(cls):
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
        """What all clones of the agent share, such as a model."""
        raise NotImplementedError

    def read(self, said: Sequence[Said], knowledge: str) -> Any:
        """
        What the model reads for a turn.

        :param said: the dialogue, oldest turn first, without its knowledge.
        """
        raise NotImplementedError

    def find(
        self, contexts: Sequence[Any], wanted: Sequence[Wanted]
    ) -> list[list[Candidate]]:
        """
        Candidates for B contexts, each with ``source`` its text and score.

        :param wanted: as in
            :meth:`~parlai_q2.parlai.generator.candidates.FindsCandidates.candidate_pools`.
        """
        raise NotImplementedError

    def begin(
        self, contexts: Sequence[Any], beginnings: Sequence[str]
    ) -> list[list[Candidate]]:
        """
        Candidates that begin with given texts, for B contexts; none where the model
        cannot be asked for that.
        """
        return [[] for _ in contexts]

    def begun(
        self, batch: Batch, beginnings: Mapping[int, str], **search: Any
    ) -> dict[int, list[Candidate]]:
        """What :meth:`begin` finds."""
        contexts = [batch[CONTEXT][n] for n in beginnings]
        found = self.begin(contexts, list(beginnings.values()))
        return dict(zip(beginnings, found, strict=True))

    def candidate_pools(
        self, batch: Batch, wanted: Sequence[Wanted], **search: Any
    ) -> list[list[Candidate]]:
        """What :meth:`find` finds; it has its own limits, in place of ParlAI's."""
        return self.find(batch[CONTEXT], wanted)

    def build_model(self) -> None:
        """ParlAI is not to build one."""

    def share(self) -> dict[str, Any]:
        return {**super().share(), 'loaded': self.loaded}

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def vectorize(
        self, obs: Message, history: History, *args: Any, **kwargs: Any
    ) -> Message:
        """Put what the model reads into the observation."""
        knowledge = find_knowledge(obs) or ''
        if obs.get('text') or knowledge:
            assert isinstance(history, ChatHistory)
            obs.force_set(CONTEXT, self.read(history.said(), knowledge))
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
        found = [beam.get_rescored_finished() for beam in beams]
        return Output([beam[0][0] for beam in found], beam_texts=found)

    def _generate(
        self, batch: Batch, beam_size: int, max_ts: Any, prefix_tokens: Any = None
    ) -> tuple[list, list]:
        """The first replies, in the form of ParlAI's finished searches."""
        pools = self.candidate_pools(batch, [Wanted.FIRST] * batch.batchsize)
        return first_replies(
            [RankedBeam([c.source for c in pool or [self.nothing]]) for pool in pools]
        )
