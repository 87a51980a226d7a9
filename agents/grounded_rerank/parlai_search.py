"""
The adapter around ParlAI's own generators. It runs their searches with several
strategies and pools the candidates.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent, TreeSearch

from parlai_q2.agents.grounded_rerank.side_by_side import (
    SearchPlan,
    SearchSeeder,
    is_small_enough,
    preserve_random_state,
    search_side_by_side,
    searching,
)
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import NAMED_CANDIDATES, SearchMethod, Strategy
from parlai_q2.parlai.generator import SearchPhase
from parlai_q2.rerank.candidate import Candidate, first_distinct
from parlai_q2.turns import Passage

if TYPE_CHECKING:
    from parlai.core.torch_generator_agent import TorchGeneratorAgent as _Generator
else:
    # In the combined classes, the generator's class comes next.
    _Generator = object

# These generators search with another library's generate(), which returns only the best
# candidate. ParlAI's own search can run their encoder and decoder, as in RAG.
NOT_PARLAI_SEARCH = ('parlai.agents.hugging_face.t5',)

# TorchGeneratorAgent's default for --beam-length-penalty.
PARLAI_LENGTH_PENALTY = 0.65


class ParlaiSearchMixin(_Generator):
    """
    Finds candidates with one of ParlAI's generators; a mixin over its class, with the
    interface of :class:`~parlai_q2.parlai.generator.CandidateAgent`.
    """

    generator_class: Any
    strategies: Sequence[Strategy]
    # Seeds the running search; None leaves it to the global random state.
    search_seeder: SearchSeeder | None = None

    @property
    def empty_candidate(self) -> Candidate:
        """A reply without tokens, in the form of ParlAI's hypotheses."""
        tokens = torch.tensor([self.START_IDX, self.END_IDX])
        return Candidate('', source=(tokens, torch.tensor(0.0), None))

    @property
    def has_more_searches(self) -> bool:
        return len(self.strategies) > 1

    @property
    def has_retriever(self) -> bool:
        return hasattr(self._model, 'retriever')

    def retrieved_knowledge(self, count: int) -> list[tuple[Passage, ...]]:
        """
        The documents that RAG or FiD retrieved last, for each of ``count`` examples.

        ParlAI stores each as "title | text" (``RagRetriever.top_docs``), and pads with
        empty documents.
        """
        # As in ParlAI, the attribute is missing before the first retrieval.
        documents_per_example = getattr(self._model.retriever, 'top_docs', [()] * count)
        passages_per_example = []
        for documents in documents_per_example:
            parts = (document.partition(' | ') for document in documents)
            passages = [
                Passage(text.strip(), title.strip()) for title, _, text in parts
            ]
            passages_per_example.append(tuple(p for p in passages if p.text))
        return passages_per_example

    @property
    def _model(self) -> Any:
        return getattr(self.model, 'module', self.model)

    def candidate_pools(
        self,
        batch: Batch,
        searches: Sequence[SearchPhase],
        max_ts: int = 0,
        prefix_tokens: torch.Tensor | None = None,
        **search_options: Any,
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch, in the order of ``--candidate-strategies``.

        :param max_ts: the maximum number of steps.
        :param prefix_tokens: [B, P], the tokens that outputs must begin with, if any.
        :param search_options: further arguments of the generator's ``_generate``.
        :raises ConfigError: when the generator does not return a list of candidates.
        """
        strategies = _plan_searches(self.strategies, searches)
        size = len(self.dict)
        plan = [(strategy.with_spares(size), rows) for strategy, rows in strategies]
        seed = self.opt.get('candidate_seed') or 0
        can_share_steps = self._uses_parlai_loop and not search_options
        if can_share_steps and is_small_enough(batch, plan):
            results = search_side_by_side(
                self, batch, plan, seed, max_ts=max_ts, prefix_tokens=prefix_tokens
            )
        else:
            search_options['prefix_tokens'] = prefix_tokens
            results = self._search_one_by_one(
                batch, plan, seed, max_ts=max_ts, search_options=search_options
            )
        pools: list[list[Candidate]] = [[] for _ in range(batch.batchsize)]
        for (strategy, examples), finished_searches in zip(
            strategies, results, strict=True
        ):
            for example, finished in zip(examples, finished_searches, strict=True):
                pools[example] += collect(self, finished, strategy)
        return pools

    def candidates_beginning_with(
        self,
        batch: Batch,
        beginnings: Mapping[int, str],
        max_ts: int = 0,
        prefix_tokens: torch.Tensor | None = None,
        **search_options: Any,
    ) -> dict[int, list[Candidate]]:
        """
        Find candidates with a beam search that is forced to begin with given texts.

        :return: the candidates, by index; empty if the generator does not search with
            ParlAI's loop.
        """
        pools: dict[int, list[Candidate]] = {}
        if not self._uses_parlai_loop or search_options or prefix_tokens is not None:
            return pools
        seed = self.opt.get('candidate_seed') or 0
        beam = Strategy(SearchMethod.BEAM, NAMED_CANDIDATES)
        for index, text in beginnings.items():
            tokens = beginning_tokens(self.dict, text)
            plan: SearchPlan = [(beam, [index])]
            if 0 < len(tokens) < max_ts and is_small_enough(batch, plan):
                prefixes = batch.text_vec.new_tensor([tokens] * batch.batchsize)
                [[finished]] = search_side_by_side(
                    self, batch, plan, seed, max_ts=max_ts, prefix_tokens=prefixes
                )
                pools[index] = collect(self, finished, beam)
        return pools

    def _search_one_by_one(
        self,
        batch: Batch,
        plan: SearchPlan,
        seed: int,
        max_ts: int,
        search_options: Mapping[str, Any],
    ) -> list[list[list[TreeSearch]]]:
        """
        Search with the generator's own loop, one strategy after another.

        :param plan: the strategies, each with the examples to search for.
        :return: for each strategy and each of its examples, the finished searches.
        :raises ConfigError: when the number of searches does not fit the batch.
        """
        results = []
        with preserve_random_state(batch):
            for strategy, examples in plan:
                # A generator may write into its batch (RAG does), so each search gets a
                # copy.
                copy = type(batch)(**batch)
                with searching(self, batch, strategy, seed):
                    _, searches = self._search_loop(
                        copy, strategy.width, max_ts, **search_options
                    )
                # One for each example, or one for each of its documents (RAG-Sequence).
                count, remainder = divmod(len(searches), batch.batchsize)
                if not count or remainder:
                    raise ConfigError(
                        f'{type(self).__name__} cannot be reranked: for '
                        f'{batch.batchsize} examples its _generate returned '
                        f'{len(searches)} searches to take candidates from.'
                    )
                results.append([list(searches[n * count :][:count]) for n in examples])
        return results

    @property
    def _search_loop(self) -> Callable[..., Any]:
        """The generator's search loop, or ParlAI's if that one is unusable."""
        search_loop: Callable[..., Any] = super()._generate
        if self.generator_class._generate.__module__ in NOT_PARLAI_SEARCH:
            search_loop = TorchGeneratorAgent._generate.__get__(self)
        return search_loop

    @property
    def _uses_parlai_loop(self) -> bool:
        loop = getattr(self._search_loop, '__func__', None)
        return loop is TorchGeneratorAgent._generate

    def _treesearch_factory(
        self, device: torch.device, verbose: bool = False
    ) -> TreeSearch:
        """Make the generator's search, seeded while candidates are searched for."""
        search = super()._treesearch_factory(device, verbose=verbose)
        return self.search_seeder.apply(search) if self.search_seeder else search


def beginning_tokens(dictionary: DictionaryAgent, text: str) -> list[int]:
    """
    The first tokens of a reply that begins with a text.

    :param dictionary: the generator's dictionary.
    :return: the tokens; empty if the dictionary lacks one of them.
    """
    tokens = [int(token) for token in dictionary.txt2vec(text)]
    if not tokens or dictionary.tok2ind.get(dictionary.unk_token) in tokens:
        return []
    # A Hugging Face dictionary puts BART's start token before a label.
    has_frame = hasattr(dictionary, 'frame_label')
    label = dictionary.frame_label(tokens) if has_frame else tokens
    return [*label[: label.index(tokens[0])], *tokens]


def _plan_searches(
    strategies: Sequence[Strategy], searches: Sequence[SearchPhase]
) -> SearchPlan:
    selected = [flags.select(strategies) for flags in searches]
    plan: SearchPlan = []
    for strategy in strategies:
        if rows := [n for n, chosen in enumerate(selected) if strategy in chosen]:
            plan.append((strategy, rows))
    return plan


def collect(
    agent: TorchGeneratorAgent, searches: Sequence[Any], strategy: Strategy
) -> list[Candidate]:
    """
    Collect the candidates that a strategy found for one example.

    :param searches: finished searches: one, or one for each document.
    :return: at most ``strategy.number`` distinct candidates.
    """
    finished: list[Any] = []
    for search in searches:
        finished += search.get_rescored_finished()
    if len(searches) > 1:
        finished.sort(key=lambda hypothesis: -float(hypothesis[1]))
    length_penalty = agent.opt.get('beam_length_penalty', PARLAI_LENGTH_PENALTY)
    candidates: list[Candidate] = []
    for hypothesis in finished:
        tokens, score, _ = hypothesis
        try:
            text = _drop_special_tokens(agent.dict, agent._v2t(tokens))
        except KeyError:
            # The dictionary lacks a token. ParlAI skips such hypotheses as well.
            continue
        mean = mean_logprob(float(score), len(tokens), length_penalty)
        candidates.append(
            Candidate(text, (strategy.name,), float(score), mean, hypothesis)
        )
    return first_distinct(candidates, strategy.number)


def _drop_special_tokens(dictionary: DictionaryAgent, text: str) -> str:
    """The text; empty if it consists of special tokens alone."""
    special_tokens = {
        dictionary.null_token,
        dictionary.start_token,
        dictionary.end_token,
        dictionary.unk_token,
    }
    return '' if set(text.split()) <= special_tokens else text


def mean_logprob(score: float, length: int, length_penalty: float) -> float:
    """
    The mean log probability per token, from a score with ParlAI's length penalty.

    :param score: log probability over ((1 + length) / 6) ** length_penalty
        (``TreeSearch.get_rescored_finished``; the length penalty of Wu et al. 2016).
    :param length: the number of tokens, including the start token, which costs nothing.
    """
    return score * math.pow((1 + length) / 6, length_penalty) / max(length - 1, 1)
