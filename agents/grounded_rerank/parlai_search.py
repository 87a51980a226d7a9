"""
The adapter around ParlAI's own generators. It runs their searches with several
strategies and pools the candidates.

Samples are reproducible: each step of each search gets its own seed, derived from
``--candidate-seed``, the strategy, the context and the step. A turn's candidates
therefore depend neither on earlier turns nor on the other examples in the batch.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent, TreeSearch
from parlai.utils.torch import neginf

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
# The tokens that replies must begin with, by the example's index in the batch.
Beginnings = Mapping[int, Sequence[int]]


class ParlaiSearchMixin(_Generator):
    """
    Finds candidates with one of ParlAI's generators; a mixin over its class, with the
    interface of :class:`~parlai_q2.parlai.generator.CandidateAgent`.
    """

    generator_class: Any
    strategies: Sequence[Strategy]
    # Guides the running searches; None leaves them to the global random state.
    search_guide: 'SearchGuide | None' = None

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
        forced = [] if prefix_tokens is None else prefix_tokens.tolist()
        selected = [phase.select(self.strategies) for phase in searches]
        pools: list[list[Candidate]] = [[] for _ in range(batch.batchsize)]
        for strategy in self.strategies:
            examples = [n for n, chosen in enumerate(selected) if strategy in chosen]
            if not examples:
                continue
            results = self._search(
                batch,
                strategy.with_spares(len(self.dict)),
                max_ts,
                dict(enumerate(forced)),
                prefix_tokens=prefix_tokens,
                **search_options,
            )
            for example in examples:
                pools[example] += collect(self, results[example], strategy)
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
        if not self._uses_parlai_loop or search_options or prefix_tokens is not None:
            return {}
        forced = {n: beginning_tokens(self.dict, t) for n, t in beginnings.items()}
        forced = {n: tokens for n, tokens in forced.items() if 0 < len(tokens) < max_ts}
        if not forced or batch.text_vec is None:
            return {}
        beam = Strategy(SearchMethod.BEAM, NAMED_CANDIDATES)
        results = self._search(batch, beam, max_ts, forced)
        return {n: collect(self, results[n], beam) for n in forced}

    def _search(
        self,
        batch: Batch,
        strategy: Strategy,
        max_ts: int,
        beginnings: Beginnings,
        **search_options: Any,
    ) -> list[list[TreeSearch]]:
        """
        Search with the generator's own loop.

        :return: the finished searches of each of B examples: one, or one for each of
            its documents (RAG-Sequence).
        :raises ConfigError: when the number of searches does not fit the batch.
        """
        # A generator may write into its batch (RAG does).
        copy = type(batch)(**batch)
        with searching(self, batch, strategy, beginnings):
            _, searches = self._search_loop(
                copy, strategy.width, max_ts, **search_options
            )
        count, remainder = divmod(len(searches), batch.batchsize)
        if not count or remainder:
            raise ConfigError(
                f'{type(self).__name__} cannot be reranked: for {batch.batchsize} '
                f'examples its _generate returned {len(searches)} searches to take '
                'candidates from.'
            )
        starts = range(0, len(searches), count)
        return [list(searches[start : start + count]) for start in starts]

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
        """Make the generator's search, guided while candidates are searched for."""
        search = super()._treesearch_factory(device, verbose=verbose)
        return self.search_guide.apply(search) if self.search_guide else search


@contextmanager
def searching(
    agent: TorchGeneratorAgent, batch: Batch, strategy: Strategy, beginnings: Beginnings
) -> Iterator[None]:
    """
    Make an agent search with a strategy while the context lasts, seeded for a batch.
    Afterwards, torch's random number generators are as they were.

    The generator's other options (block lists, n-gram blocking, length penalty,
    temperature, minimum length) stay in effect. Clones share one ``opt``, so the agent
    gets a separate copy.
    """
    opt = agent.opt
    settings = {
        'inference': strategy.name,
        'beam_size': strategy.width,
        'topk': min(strategy.k, len(agent.dict)),
        'topp': strategy.p,
        'beam_delay': strategy.delay,
    }
    agent.opt = Opt({**opt, **settings})
    rows = [] if batch.text_vec is None else batch.text_vec.tolist()
    contexts = [[token for token in row if token != agent.NULL_IDX] for row in rows]
    recipe = f'{opt.get("candidate_seed") or 0}|{strategy.name}'
    agent.search_guide = SearchGuide(recipe, contexts, beginnings)
    vectors = batch.text_vec if batch.text_vec is not None else batch.label_vec
    on_gpu = [vectors.device] if vectors is not None and vectors.is_cuda else []
    try:
        with torch.random.fork_rng(devices=on_gpu):
            yield
    finally:
        agent.opt, agent.search_guide = opt, None


class SearchGuide:
    """
    Seeds the searches of one batch, and forces their beginnings.

    :param recipe: the seed and the strategy.
    :param contexts: the tokens of B contexts; empty for a batch without text.
    """

    def __init__(
        self, recipe: str, contexts: Sequence[Sequence[int]], beginnings: Beginnings
    ):
        self.recipe, self.contexts, self.beginnings = recipe, contexts, beginnings

    def apply(self, search: TreeSearch) -> TreeSearch:
        """Guide one of ParlAI's searches by wrapping two of its methods."""
        set_batch_context, select_paths = search.set_batch_context, search.select_paths
        key, beginning = self.recipe, list[int]()

        def set_context_and_key(
            rows: Sequence[Sequence[int]], index: int, *options: bool
        ) -> TreeSearch:
            nonlocal key, beginning
            # Some models run several searches for an example, one for each document.
            document_count = math.ceil(len(rows) / len(self.contexts))
            example, document = divmod(index, document_count)
            key = f'{self.recipe}|{self.contexts[example]}'
            if document_count > 1:
                key += f'|document {document}'
            beginning = list(self.beginnings.get(example, ()))
            return set_batch_context(rows, index, *options)

        def reseed_and_select(
            logprobs: torch.Tensor, prior_scores: torch.Tensor, current_length: int
        ) -> object:
            _reseed(logprobs.device, f'{key}|{current_length}')
            if current_length < len(beginning):
                # ParlAI allows every example of a batch the tokens of all.
                forced = torch.full_like(logprobs, neginf(logprobs.dtype))
                token = beginning[current_length]
                forced[:, token] = logprobs[:, token]
                logprobs = forced
            return select_paths(logprobs, prior_scores, current_length)

        search.set_batch_context = set_context_and_key
        search.select_paths = reseed_and_select
        return search


def _reseed(device: torch.device, key: str) -> None:
    digest = hashlib.blake2b(key.encode(), digest_size=7).digest()
    number = int.from_bytes(digest, 'big')
    if device.type == 'cuda':
        index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.default_generators[index].manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)


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
