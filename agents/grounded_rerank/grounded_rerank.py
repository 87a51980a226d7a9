"""
Reranks any ParlAI generator's candidates by how well each is grounded in the knowledge.

The agent is its generator: an instance belongs to a class, made at run time, that
combines :class:`GroundedRerankAgent` with the generator's class. ``self`` is all of
these classes at once. Python looks for a method from top to bottom, and ``super()``
continues below the class that calls it::

    GroundedRerank<Generator>  made by make_reranking_class; has no methods
    GroundedRerankAgent        observe, batchify, eval_step, _generate: ranks replies;
                               batch_act, share
    ChatCommands               read_command, observe_command, self_observe, batch_act
    ParlaiSearchMixin          candidate_pools, candidates_beginning_with with ParlAI's
                               search; left out if the generator is a CandidateAgent
    <Generator>                its options, history, model, metrics and saving
    CandidateAgent             candidate_pools calls find, candidates_beginning_with
      or TorchGeneratorAgent   calls complete, both of which <Generator> defines
    TorchAgent

The way of a turn: ``observe`` finds its knowledge, ``batchify`` collects that of a
batch, ``eval_step`` runs the generator's step, which searches by ``_generate``. There,
``candidate_pools`` finds candidates, and ``_rank_pools`` scores and orders them.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric, GlobalAverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser, class2str
from parlai.core.torch_agent import Batch, Output, TorchAgent
from parlai.utils import logging
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.agents.grounded_rerank.answering import (
    add_ready_reply,
    is_good_enough,
    prefer_answer,
)
from parlai_q2.agents.grounded_rerank.chat import ChatCommands
from parlai_q2.agents.grounded_rerank.generator_class import (
    add_generator_options,
    add_rerank_options,
    drop_options_of_other_commands,
    find_generator_name,
    load_generator_class,
    make_reranking_class,
)
from parlai_q2.agents.grounded_rerank.knowledge_source import (
    NONE_FOUND,
    NONE_GIVEN,
    AgentKnowledge,
)
from parlai_q2.agents.grounded_rerank.metrics import compute_metrics
from parlai_q2.cli.knowledge_options import searching_source
from parlai_q2.cli.scorer_options import DEFAULT_ABSTAIN_TEXT, reranker_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import DEFAULT_STRATEGIES, parse_strategies
from parlai_q2.io.knowledge import NOTHING
from parlai_q2.parlai.generator import RankedBeam, SearchPhase, pair_with_best
from parlai_q2.parlai.model_files import readable
from parlai_q2.parlai.q2_teacher import of_nothing, validated_by
from parlai_q2.rerank import Candidate, Pool, Ranking, Reranker
from parlai_q2.rerank.candidate import NAMED, distinct_candidates
from parlai_q2.rerank.guards.subject import UnnamedGuard
from parlai_q2.rerank.subjects import find_subject_name
from parlai_q2.turns import as_field

# The fields of a message of which one must be there for a reply.
TURN_FIELDS = ('text', 'image', 'labels', 'eval_labels')
# The field of an observation, and of a batch, with the turn's knowledge.
TURN_KNOWLEDGE = 'rerank_turn_knowledge'
# The options of eval_model, self_chat and interactive that name a file for replies.
LOG_OPTIONS = ('world_logs', 'outfile')
# Marks options from a file until the generator is known.
UPGRADE_LATER = 'rerank_upgrade_later'
# The candidates of some turns of a batch, possibly none, by the turn's index in it.
Pools = dict[int, list[Candidate]]


class GroundedRerankAgent(ChatCommands):
    """
    A generator that replies with the best grounded candidate that answers the turn.

    Its replies have ``beam_texts`` in the new order, with the generator's own scores.
    They also have the evidence: ``rerank`` (a row for each candidate, see
    :meth:`~parlai_q2.rerank.Ranking.rows`), ``rerank_knowledge``, ``rerank_turn`` and
    ``rerank_signature``.
    """

    # Identifies this class to other modules even if it was imported under another name.
    reranks = True
    # The generator's class; set in the combined classes.
    generator_class: type[TorchAgent] | None = None

    _rankings: list[Ranking] | None = None
    _in_loss = False

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the generator's options and the reranking options."""
        add_generator_options(parser, partial_opt)
        return add_rerank_options(parser)

    @classmethod
    def upgrade_opt(cls, opt_from_disk: Opt) -> Opt:
        """
        Mark the options of an ``.opt`` file, so that the generator upgrades them later.

        ParlAI adds the model's path, which determines the generator, only after this
        call.
        """
        drop_options_of_other_commands(opt_from_disk)
        opt_from_disk[UPGRADE_LATER] = True
        return opt_from_disk

    def __new__(
        cls, opt: Opt | None = None, shared: TShared | None = None
    ) -> 'GroundedRerankAgent':
        """Make an instance of the class that is both this agent and its generator."""
        if cls.generator_class is None:
            generator = load_generator_class(find_generator_name(opt or {}))
            if opt and opt.pop(UPGRADE_LATER, False):
                opt.update(generator.upgrade_opt(opt))
            cls = make_reranking_class(cls, generator)
        return object.__new__(cls)

    def __init__(self, opt: Opt, shared: TShared | None = None):
        if shared:
            self.reranker: Reranker = shared['reranker']
            source = shared['knowledge_source']
        else:
            # A saved .opt has both names in full, however they were typed.
            opt['generator'] = find_generator_name(opt)
            opt['model'] = class2str(type(self).__bases__[0])
            self.reranker = reranker_from_opt(opt)
            logging.info(
                f'The metrics rerank/ use the scores of {self.reranker.chooser.name}.'
            )
            source = searching_source(opt)
        self.knowledge = AgentKnowledge(source)
        self.strategies = parse_strategies(
            opt.get('candidate_strategies') or DEFAULT_STRATEGIES
        )
        super().__init__(opt, shared)
        self.id = 'GroundedRerank'
        if opt.get('candidates_until') is not None and not self.has_more_searches:
            raise ConfigError(
                '--candidates-until decides after the first search whether to go on, '
                'and there is only one. Give more: --candidate-strategies '
                'greedy,beam:10, or for a server: --server-samples 8'
            )

    def share(self) -> TShared:
        """Share the scorers, too, so that their models are loaded once."""
        shared: TShared = super().share()
        shared['reranker'] = self.reranker
        shared['knowledge_source'] = self.knowledge.source
        return shared

    def observe(self, observation: Message) -> Message:
        """Read a message and find its knowledge, or answer a command."""
        observation = readable(observation)
        command = self.read_command(observation)
        # A blank message at the end of an episode carries no turn.
        ends = observation.get('episode_done') and not observation.get('text')
        if command is not None and not ends:
            return self.observe_command(command)
        history = self.history.history_raw_strings
        knowledge = NOTHING
        if not _is_end(observation):
            knowledge = self.knowledge.find(observation, history)
        observed = super().observe(self.knowledge.attach(observation, knowledge))
        turns = self.knowledge.dialogue(self.history.history_raw_strings)
        knowledge = knowledge._replace(history=turns)
        for message in (observed, self.observation):
            if message is not None:
                dict.__setitem__(message, TURN_KNOWLEDGE, knowledge)
        return observed

    def batchify(
        self, obs_batch: list[Message], *args: object, **kwargs: object
    ) -> Batch:
        """Add the knowledge of each example to the batch, in the batch's order."""
        # The generator decides whether to sort (HRED does by default).
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            batch[TURN_KNOWLEDGE] = [
                obs_batch[index].get(TURN_KNOWLEDGE, NOTHING)
                for index in batch.valid_indices
            ]
        return batch

    def eval_step(self, batch: Batch) -> Output | None:
        """Run the generator's step, and add the evidence to its output."""
        self._rankings = None
        output = super().eval_step(batch)
        rankings, self._rankings = self._rankings, None
        if output is None or not rankings:
            return output
        # In a file, replies have all their evidence.
        if any(self.opt.get(option) for option in LOG_OPTIONS):
            rankings = self.reranker.explained(rankings)
        signature = str(self.reranker.chooser.signature)
        output.rerank = [r.rows() for r in rankings]
        output.rerank_knowledge = [as_field(r.passages) for r in rankings]
        output.rerank_signature = [signature] * len(rankings)
        output.rerank_turn = [r.turn for r in rankings]
        # A reply that quotes a document has no hypothesis of the generator.
        if output.beam_texts:
            output.beam_texts = [
                _replace_texts(beam, ranking)
                for beam, ranking in zip(output.beam_texts, rankings, strict=True)
            ]
        abstain_text = self.opt.get('abstain_text', DEFAULT_ABSTAIN_TEXT)
        output.text = [
            abstain_text if r.abstain or not r.chosen.text.strip() else r.chosen.text
            for r in rankings
        ]
        return output

    def explained(self, reply: Mapping[str, object]) -> Mapping[str, Any]:
        """
        Copy a reply, and add the evidence for its choice.

        :param reply: a reply of this agent. A reply without a ranking is returned as it
            is.
        """
        if not reply.get('rerank'):
            return reply
        (ranking,) = self.reranker.explained([Ranking.from_dict(reply)])
        return {**reply, 'rerank': ranking.rows()}

    def compute_loss(self, *args: object, **kwargs: object) -> Any:
        """Compute the generator's loss, with its own search if the loss needs one."""
        self._in_loss = True
        try:
            return super().compute_loss(*args, **kwargs)
        finally:
            self._in_loss = False

    def _generate(
        self,
        batch: Batch,
        beam_size: int,
        max_ts: int,
        prefix_tokens: torch.LongTensor | None = None,
        **kwargs: object,
    ) -> tuple[list[Any], list[Any]]:
        """Find candidates, score them in one call, and return them in a new order."""
        turn_knowledge = batch.get(TURN_KNOWLEDGE)
        if turn_knowledge is None or self._in_loss:
            # Nothing to rerank: either the batch has no observations (ParlAI's dummy
            # batches), or it is not for replies (unlikelihood training learns from the
            # generator's output).
            generated: tuple[list[Any], list[Any]] = super()._generate(
                batch, beam_size, max_ts, prefix_tokens=prefix_tokens, **kwargs
            )
            return generated
        options = {'max_ts': max_ts, 'prefix_tokens': prefix_tokens, **kwargs}
        searches = self._select_searches(batch)
        if SearchPhase.FIRST in searches:
            has_documents = self.knowledge.source.any_grounder is not None
            warn_once(NONE_FOUND if has_documents else NONE_GIVEN)
        threshold = self.opt.get('candidates_until')
        first_searches = searches
        if threshold is not None:
            # The first search may make the others unnecessary.
            first_searches = [flags & SearchPhase.FIRST for flags in searches]
        pools = dict(enumerate(self._find_candidates(batch, first_searches, options)))
        rankings = self._rank_pools(batch, pools)
        if threshold is not None:
            further = self._find_rest(batch, rankings, threshold, searches, options)
            larger_pools = {n: pools[n] + pool for n, pool in further.items()}
            rankings |= self._rank_pools(batch, larger_pools, is_repeated=True)
        named_pools = self._find_named(batch, rankings, options)
        rankings |= self._rank_pools(batch, named_pools, is_repeated=True)
        self._rankings = list(rankings.values())
        self._record_metrics(self._rankings)
        beams = [[c.source for c in ranking.candidates] for ranking in self._rankings]
        return pair_with_best(list(map(RankedBeam, beams)))

    def _find_rest(
        self,
        batch: Batch,
        rankings: Mapping[int, Ranking],
        threshold: float,
        searches: Sequence[SearchPhase],
        options: Mapping[str, Any],
    ) -> Pools:
        """
        Run the searches after the first for turns whose best candidate is not good
        enough for ``--candidates-until``, and return what they find.
        """
        is_settled = [is_good_enough(r, threshold) for r in rankings.values()]
        self.record_local_metric('rerank/early', list(map(AverageMetric, is_settled)))
        rest = [
            SearchPhase.NONE if settled else flags & SearchPhase.REST
            for settled, flags in zip(is_settled, searches, strict=True)
        ]
        if not any(rest):
            return {}
        rest_pools = self._find_candidates(batch, rest, options)
        return {index: rest_pools[index] for index, flags in enumerate(rest) if flags}

    def _find_named(
        self, batch: Batch, rankings: Mapping[int, Ranking], options: Mapping[str, Any]
    ) -> Pools:
        """
        Find candidates that begin with the name of their subject for turns whose best
        candidate does not name it, and return them with the other candidates.
        """
        if self.knowledge.source.any_grounder is not None:
            return {}
        names: dict[int, str] = {}
        for index, ranking in rankings.items():
            if UnnamedGuard.name in ranking.chosen.guards:
                name = find_subject_name(ranking.chosen.text, ranking.passages)
                if name:
                    names[index] = name
        if not names:
            return {}
        pools = {}
        named_pools = self.candidates_beginning_with(batch, names, **options)
        for index, named_pool in named_pools.items():
            if named_pool:
                # Take the ranked candidates, which keep what was read of them as
                # answers.
                pool = sorted(rankings[index].candidates, key=lambda c: c.place)
                named = [replace(c, strategies=(NAMED,)) for c in named_pool]
                pools[index] = pool + named
        return pools

    def _select_searches(self, batch: Batch) -> list[SearchPhase]:
        """
        Select the searches for each turn: none if the reply is known already (nothing
        was found, or only small talk), one if there is no knowledge to choose by.
        """
        selected = []
        for knowledge in batch[TURN_KNOWLEDGE]:
            if (knowledge.courtesy or knowledge.declined) and not knowledge.passages:
                selected.append(SearchPhase.NONE)
            elif knowledge.turn.knowledge or self.has_retriever:
                selected.append(SearchPhase.ALL)
            else:
                selected.append(SearchPhase.FIRST)
        return selected

    def _find_candidates(
        self,
        batch: Batch,
        searches: list[SearchPhase],
        search_options: Mapping[str, Any],
    ) -> list[list[Candidate]]:
        if not any(searches):
            return [[] for _ in searches]
        return self.candidate_pools(batch, searches, **search_options)

    def _rank_pools(
        self, batch: Batch, found_pools: Pools, is_repeated: bool = False
    ) -> dict[int, Ranking]:
        """
        Rank the candidates of some turns of a batch, by their indices.

        :param found_pools: the generator's candidates.
        :param is_repeated: whether the turns were ranked before, with fewer candidates.
        """
        if not found_pools:
            return {}
        turn_knowledge = [batch[TURN_KNOWLEDGE][index] for index in found_pools]
        turns = [knowledge.turn for knowledge in turn_knowledge]
        if self.has_retriever:
            documents = self.retrieved_knowledge(len(batch[TURN_KNOWLEDGE]))
            turns = [
                turn if turn.knowledge else replace(turn, knowledge=documents[index])
                for turn, index in zip(turns, found_pools, strict=True)
            ]
        pools = [
            distinct_candidates(pool) or [self.empty_candidate]
            for pool in found_pools.values()
        ]
        pools = [
            add_ready_reply(pool, knowledge, self.empty_candidate)
            for pool, knowledge in zip(pools, turn_knowledge, strict=True)
        ]
        start = time.perf_counter()
        rankings = self.reranker.rank_batch(
            [
                Pool(turn.knowledge, pool, turn.history)
                for turn, pool in zip(turns, pools, strict=True)
            ],
            is_repeated,
        )
        rankings = [
            prefer_answer(ranking, knowledge, self.reranker.rule)
            for ranking, knowledge in zip(rankings, turn_knowledge, strict=True)
        ]
        milliseconds = 1000 * (time.perf_counter() - start)
        turn_count = 0 if is_repeated else len(rankings)
        # Timings belong to the process, not to a task, so every worker's batches count.
        self.global_metrics.add(
            'rerank/scorer_ms', GlobalAverageMetric(milliseconds, turn_count)
        )
        return dict(zip(found_pools, rankings, strict=True))

    def batch_act(self, observations: list[Message]) -> list[Message]:
        """
        Reply to a batch. The end of a person's input gets no reply.

        Metrics without a value are removed from the replies, because means over tasks
        and logs would count them as 0.
        """
        if all(map(_is_end, observations)):
            return [Message(id=self.getID()) for _ in observations]
        replies = super().batch_act(observations)
        for reply in replies:
            if 'metrics' in reply:
                metrics = reply['metrics'].items()
                reply.force_set('metrics', {k: v for k, v in metrics if v is not None})
        return replies

    def _record_metrics(self, rankings: list[Ranking]) -> None:
        metrics = compute_metrics(rankings)
        for name, values in metrics.items():
            self.record_local_metric(name, values)
        if (validation_metric := validated_by(self.opt, metrics)) is not None:
            # This placeholder yields to a task's values, if a task has any.
            self.global_metrics.add(validation_metric, of_nothing())


def _is_end(message: Message) -> bool:
    """Whether a message only ends an episode."""
    return bool(message.get('episode_done')) and not any(
        name in message for name in TURN_FIELDS
    )


def _replace_texts(
    beam: Sequence[tuple[str, object]], ranking: Ranking
) -> list[tuple[str, object]]:
    """Return a beam's scores with the texts of their candidates."""
    scores = (score for _, score in beam)
    return [(c.text, score) for c, score in zip(ranking.candidates, scores)]
