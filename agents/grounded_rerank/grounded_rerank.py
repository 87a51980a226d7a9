"""
Reranks any ParlAI generator's candidates by how well each is grounded in the knowledge.

The agent is its generator: an instance belongs to a class made of
:class:`GroundedRerankAgent` and the generator's class, so history, options, metrics,
``share`` and saving are the generator's own. Only the search differs: it collects the
candidates of several strategies, scores them against the turn's knowledge, and puts the
best first.
"""

import time
from dataclasses import replace
from typing import Any, Mapping, Optional

import torch
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric, GlobalAverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser, class2str
from parlai.core.torch_agent import Batch, Output, TorchAgent
from parlai.utils import logging
from parlai.utils.misc import warn_once

from parlai_q2.agents.grounded_rerank.answering import (
    add_document_replies,
    to_the_point,
)
from parlai_q2.agents.grounded_rerank.chat import ChatCommands
from parlai_q2.agents.grounded_rerank.generator import (
    add_generator_options,
    generator_class,
    generator_name,
    reranking_class,
)
from parlai_q2.agents.grounded_rerank.knowledge_source import (
    NONE_FOUND,
    NONE_GIVEN,
    AgentKnowledge,
)
from parlai_q2.agents.grounded_rerank.metrics import metrics
from parlai_q2.agents.grounded_rerank.options import (
    add_rerank_options,
    forget_others_options,
)
from parlai_q2.claims import Label
from parlai_q2.cli.rerank_options import DEFAULT_ABSTAIN_TEXT, reranker_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import DEFAULT_STRATEGIES, parse_strategies
from parlai_q2.io.knowledge import as_field
from parlai_q2.io.turn_knowledge import NOTHING, TurnKnowledge
from parlai_q2.parlai.generator.candidates import RankedBeam, Wanted, first_replies
from parlai_q2.parlai.knowledge_options import searching_source
from parlai_q2.parlai.q2_metrics import of_nothing, validated_by
from parlai_q2.parlai.readable import readable
from parlai_q2.rerank import Candidate, Pool, Ranking, Reranker
from parlai_q2.rerank.candidate import NAMED, distinct_candidates
from parlai_q2.rerank.guards import UnnamedGuard
from parlai_q2.rerank.subject_names import find_subject_name
from parlai_q2.steps import Step, tell

# The field that carries an observation's turn, with how its knowledge was found; and a
# batch's.
FOUND = 'rerank_found'
# The options that name a file of replies: of eval_model, self_chat and interactive.
LOGS = ('world_logs', 'outfile')
# Marks options read from disk until the generator is known.
UPGRADE_LATER = 'rerank_upgrade_later'


class GroundedRerankAgent(ChatCommands):
    """
    A generator that replies with the best grounded of its candidates that answers.

    Its replies carry ``beam_texts`` in the new order, with the generator's own scores.
    They also carry the evidence: ``rerank`` (a row for each candidate, see
    :meth:`~parlai_q2.rerank.Ranking.rows`), ``rerank_knowledge``, ``rerank_turn`` and
    ``rerank_signature``.
    """

    # Lets other modules recognise this class when it was imported under another name.
    reranks = True
    # The generator's class; set in the classes that combine both.
    generator_class: Optional[type[TorchAgent]] = None

    _rankings: Optional[list[Ranking]] = None
    _in_loss = False

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add the generator's options and the reranking options."""
        add_generator_options(parser, partial_opt)
        return add_rerank_options(parser)

    @classmethod
    def upgrade_opt(cls, opt_from_disk: Opt) -> Opt:
        """
        Note that a generator's old ``.opt`` is to be upgraded as the generator does.

        ParlAI writes the model's current path, which tells the generator, into the
        options only after this call.
        """
        forget_others_options(opt_from_disk)
        opt_from_disk[UPGRADE_LATER] = True
        return opt_from_disk

    def __new__(cls, opt: Optional[Opt] = None, shared: Any = None):
        """Make an instance of the class that is both this agent and its generator."""
        if cls.generator_class is None:
            generator = generator_class(generator_name(opt or {}))
            if opt and opt.pop(UPGRADE_LATER, False):
                opt.update(generator.upgrade_opt(opt))
            cls = reranking_class(cls, generator)
        return object.__new__(cls)

    def __init__(self, opt: Opt, shared: Any = None):
        if shared:
            self.reranker: Reranker = shared['reranker']
            source = shared['knowledge_source']
        else:
            # A saved .opt gives both names in full, however they were typed.
            opt['generator'] = generator_name(opt)
            opt['model'] = class2str(type(self).__bases__[0])
            self.reranker = reranker_from_opt(opt)
            logging.info(f'Metrics of rerank/ are of {self.reranker.chooser.name}.')
            source = searching_source(opt)
        self.knowledge = AgentKnowledge(source)
        self.strategies = parse_strategies(
            opt.get('candidate_strategies') or DEFAULT_STRATEGIES
        )
        super().__init__(opt, shared)
        self.id = 'GroundedRerank'
        if opt.get('candidates_until') is not None and not self.finds_more:
            raise ConfigError(
                '--candidates-until decides after the first search whether to go on, '
                'and there is only one. Give more: --candidate-strategies '
                'greedy,beam:10, or of a server: --server-samples 8'
            )

    def share(self) -> dict[str, Any]:
        """Share the scorers too: their models are loaded once."""
        shared = super().share()
        shared['reranker'] = self.reranker
        shared['knowledge_source'] = self.knowledge.source
        return shared

    def observe(self, observation: Message) -> Message:
        """Read a message and find its knowledge, or take a command."""
        observation = readable(observation)
        command = self.read_command(observation)
        if command is not None:
            return self.observe_command(command)
        earlier = self.history.history_raw_strings
        found = self.knowledge.find(observation, earlier)
        seen = super().observe(self.knowledge.give(observation, found))
        found = found._replace(history=tuple(self.history.history_raw_strings))
        for message in (seen, self.observation):
            if message is not None:
                dict.__setitem__(message, FOUND, found)
        return seen

    def batchify(self, obs_batch: list[Message], *args: Any, **kwargs: Any) -> Batch:
        """
        Add each example's turn to the batch, in the batch's order.
        """
        # The generator decides whether to sort, by its own default (HRED has one).
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            batch[FOUND] = [
                obs_batch[i].get(FOUND, NOTHING) for i in batch.valid_indices
            ]
        return batch

    def eval_step(self, batch: Batch) -> Optional[Output]:
        """Take the generator's own step, and add the evidence to its output."""
        self._rankings = None
        output = super().eval_step(batch)
        rankings, self._rankings = self._rankings, None
        if output is None or not rankings:
            return output
        if self.logs_replies():
            rankings = self.reranker.explained(rankings)
        signature = str(self.reranker.chooser.signature)
        output.rerank = [r.rows() for r in rankings]
        output.rerank_knowledge = [as_field(r.passages) for r in rankings]
        output.rerank_signature = [signature] * len(rankings)
        output.rerank_turn = [r.turn for r in rankings]
        # A reply that quotes a document has no record of the generator's.
        if output.beam_texts:
            output.beam_texts = [
                [(c.text, score) for c, (_, score) in zip(r.candidates, row)]
                for r, row in zip(rankings, output.beam_texts, strict=True)
            ]
        abstain_text = self.opt.get('abstain_text', DEFAULT_ABSTAIN_TEXT)
        output.text = [
            abstain_text if r.abstain or not r.chosen.text.strip() else r.chosen.text
            for r in rankings
        ]
        return output

    def logs_replies(self) -> bool:
        """Whether replies are written to a file, with all their evidence."""
        return any(self.opt.get(option) for option in LOGS)

    def explained(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        """
        A reply with evidence for its choice.

        :param reply: a reply of this agent, which is left as it is.
        """
        if not reply.get('rerank'):
            return reply
        (ranking,) = self.reranker.explained([Ranking.from_dict(reply)])
        return {**reply, 'rerank': ranking.rows()}

    def compute_loss(self, *args: Any, **kwargs: Any) -> Any:
        """
        Compute the generator's own loss, with its own search where the loss needs one.
        """
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
        prefix_tokens: Optional[torch.LongTensor] = None,
        **kwargs: Any,
    ) -> tuple[list, list]:
        """
        Find candidates, score them in one call, and return them in their new order.
        """
        given = batch.get(FOUND)
        if given is None or self._in_loss:
            # Nothing to rerank: either not a batch of observations (ParlAI's dummy
            # batches) or not a reply to one (unlikelihood training learns from what it
            # generates).
            return super()._generate(
                batch, beam_size, max_ts, prefix_tokens=prefix_tokens, **kwargs
            )
        finds_some, searched = self.finds_knowledge, self.knowledge.source.searched
        wanted = [_wanted(one, finds_some) for one in given]
        if Wanted.FIRST in wanted:
            warn_once(NONE_GIVEN if searched is None else NONE_FOUND)
        search = {'max_ts': max_ts, 'prefix_tokens': prefix_tokens, **kwargs}
        until = self.opt.get('candidates_until')
        if until is None:
            found = dict(enumerate(self._found(batch, wanted, search)))
            rankings = self._ranked(batch, found)
        else:
            rankings = self._ranked_until(until, batch, wanted, search)
        if searched is None:
            rankings = self._named(batch, rankings, search)
        self._record(rankings)
        self._rankings = rankings
        return first_replies(
            [RankedBeam([one.source for one in r.candidates]) for r in rankings]
        )

    def _ranked_until(
        self, until: float, batch: Batch, wanted: list[Wanted], search: dict[str, Any]
    ) -> list[Ranking]:
        """
        Ask the first strategy and, of the turns that it leaves in doubt, the others.

        :param until: the least score, in [0, 1], that leaves no doubt.
        """
        first = self._found(batch, [one & Wanted.FIRST for one in wanted], search)
        rankings = self._ranked(batch, dict(enumerate(first)))
        clear = [_clear(ranking, until) for ranking in rankings]
        self.record_local_metric('rerank/early', list(map(AverageMetric, clear)))
        more = [
            Wanted.NOTHING if enough else one & Wanted.MORE
            for enough, one in zip(clear, wanted, strict=True)
        ]
        if any(more):
            others = self._found(batch, more, search)
            pools = {n: first[n] + others[n] for n, one in enumerate(more) if one}
            again = self._ranked(batch, pools, again=True)
            for n, ranking in zip(pools, again, strict=True):
                rankings[n] = ranking
        return rankings

    def _named(
        self, batch: Batch, rankings: list[Ranking], search: dict[str, Any]
    ) -> list[Ranking]:
        """
        Ask again where no candidate names what it is about, for replies that begin with
        it, if the generator finds these.
        """
        names = {
            n: find_subject_name(ranking.chosen.text, ranking.passages)
            for n, ranking in enumerate(rankings)
            if UnnamedGuard.name in ranking.chosen.guards
        }
        named = {n: name for n, name in names.items() if name}
        found = self.begun(batch, named, **search) if named else {}
        pools = {
            n: sorted(rankings[n].candidates, key=lambda one: one.place)
            + [replace(one, strategies=(NAMED,)) for one in more]
            for n, more in found.items()
            if more
        }
        again = self._ranked(batch, pools, again=True) if pools else []
        for n, ranking in zip(pools, again, strict=True):
            rankings[n] = ranking
        return rankings

    def _found(
        self, batch: Batch, wanted: list[Wanted], search: dict[str, Any]
    ) -> list[list[Candidate]]:
        tell(Step.FINDING)
        if not any(wanted):
            return [[] for _ in wanted]
        return self.candidate_pools(batch, wanted, **search)

    def _ranked(
        self,
        batch: Batch,
        pools_found: Mapping[int, list[Candidate]],
        again: bool = False,
    ) -> list[Ranking]:
        """
        The candidates of some turns of a batch, ranked.

        :param pools_found: what the generator found, perhaps nothing, by the turn's
            place in the batch.
        :param again: whether they were ranked before, by fewer candidates.
        """
        searched = self.knowledge.source.searched
        given = [batch[FOUND][n] for n in pools_found]
        turns = [one.turn for one in given]
        if self.finds_knowledge:
            documents = self.knowledge_found(len(batch[FOUND]))
            turns = [
                turn if turn.knowledge else replace(turn, knowledge=documents[n])
                for turn, n in zip(turns, pools_found, strict=True)
            ]
        pools = [
            distinct_candidates(pool) or [self.nothing] for pool in pools_found.values()
        ]
        if searched is not None:
            pools = add_document_replies(pools, given, self.nothing)
        began = time.perf_counter()
        rankings = self.reranker.rank_batch(
            [
                Pool(turn.knowledge, pool, turn.history)
                for turn, pool in zip(turns, pools, strict=True)
            ]
        )
        if searched is not None:
            rankings = to_the_point(rankings, given, searched.reader)
        # Timings belong to the process, not to a task, so every worker's batches count.
        self.global_metrics.add(
            'rerank/scorer_ms',
            GlobalAverageMetric(
                1000 * (time.perf_counter() - began), 0 if again else len(rankings)
            ),
        )
        return rankings

    def batch_act(self, observations: list[Message]) -> list[Message]:
        """
        Reply to a batch.

        Metrics without a value are dropped from the replies, because a mean over tasks
        and a log would count them as 0.
        """
        replies = super().batch_act(observations)
        for reply in replies:
            if 'metrics' in reply:
                found = reply['metrics'].items()
                reply.force_set('metrics', {k: v for k, v in found if v is not None})
        return replies

    def _record(self, rankings: list[Ranking]) -> None:
        found = metrics(rankings)
        for name, values in found.items():
            self.record_local_metric(name, values)
        by = validated_by(self.opt, found)
        if by is not None:
            # This placeholder gives way to a task's values, where a task has any.
            self.global_metrics.add(by, of_nothing())


def _wanted(known: TurnKnowledge, finds_some: bool) -> Wanted:
    """
    What is wanted of the generator: nothing where what is said is known, small talk's
    reply or that nothing was found; one reply where there is nothing to choose by.

    :param finds_some: whether the generator finds knowledge.
    """
    if known.courtesy or (known.declined and not known.passages):
        return Wanted.NOTHING
    return Wanted.ALL if known.turn.knowledge or finds_some else Wanted.FIRST


def _clear(ranking: Ranking, until: float) -> bool:
    """Whether the best of a few candidates is good enough to look for no others."""
    best = ranking.chosen
    return (
        best.score is not None
        and best.score.label == Label.CONSISTENT
        and best.value is not None
        and best.value >= until
    )
