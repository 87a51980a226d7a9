"""
The adapter around ParlAI's own generators: runs their searches by several strategies,
and pools what they find.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

import torch
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent

from parlai_q2.agents.grounded_rerank.decoding import decoding
from parlai_q2.agents.grounded_rerank.knowledge_source import retrieved, retrieves
from parlai_q2.agents.grounded_rerank.seeds import (
    SearchSeeds,
    own_random_numbers,
    seeded,
)
from parlai_q2.agents.grounded_rerank.side_by_side import (
    Asked,
    few_rows,
    search_side_by_side,
)
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import BEGUN, Search, Strategy
from parlai_q2.parlai.generator.candidates import FindsCandidates, Wanted
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage

if TYPE_CHECKING:
    from parlai.core.torch_generator_agent import TorchGeneratorAgent as _Generator
else:
    # In the combined classes, the generator's class comes next.
    _Generator = object

# These generators search with another library's generate(), which keeps only the best.
# ParlAI's own search can run their encoder and decoder instead, as RAG does.
NOT_PARLAI_SEARCH = ('parlai.agents.hugging_face.t5',)

# TorchGeneratorAgent's default for --beam-length-penalty.
PARLAI_LENGTH_PENALTY = 0.65


class ParlaiSearches(FindsCandidates, _Generator):
    """Finds candidates with a generator of ParlAI's; a mixin over its class."""

    generator_class: Any
    strategies: Sequence[Strategy]
    # Seeds for the running search; None leaves it to the global random numbers.
    search_seeds: Optional[SearchSeeds] = None

    @property
    def nothing(self) -> Candidate:
        """What a reply without any token is among ParlAI's searches."""
        tokens = torch.tensor([self.START_IDX, self.END_IDX])
        return Candidate('', source=(tokens, torch.tensor(0.0), None))

    @property
    def finds_more(self) -> bool:
        return len(self.strategies) > 1

    @property
    def finds_knowledge(self) -> bool:
        return retrieves(self._model)

    def knowledge_found(self, count: int) -> list[tuple[Passage, ...]]:
        return retrieved(self._model, count)

    @property
    def _model(self) -> Any:
        return getattr(self.model, 'module', self.model)

    def candidate_pools(
        self,
        batch: Batch,
        wanted: Sequence[Wanted],
        max_ts: int = 0,
        prefix_tokens: Optional[torch.Tensor] = None,
        **search: Any,
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch, in the order of ``--candidate-strategies``.

        :param max_ts: the maximum number of steps.
        :param prefix_tokens: [B, P], the tokens that outputs begin with; None for none.
        :param search: further arguments of the generator's ``_generate``.
        :raises ConfigError: when the generator does not return a list of candidates.
        """
        asked = _asked(self.strategies, wanted)
        seed = self.opt.get('candidate_seed') or 0
        generate = self._searching
        if self._searches_as_parlai and not search and few_rows(batch, asked):
            found = search_side_by_side(self, batch, asked, seed, max_ts, prefix_tokens)
        else:
            found = search_one_by_one(
                self,
                lambda own, width: generate(
                    own, width, max_ts, prefix_tokens=prefix_tokens, **search
                ),
                batch,
                asked,
                seed,
            )
        pools: list[list[Candidate]] = [[] for _ in range(batch.batchsize)]
        for (strategy, examples), searches in zip(asked, found, strict=True):
            for example, own in zip(examples, searches, strict=True):
                pools[example] += collect(self, own, strategy)
        return pools

    def begun(
        self,
        batch: Batch,
        beginnings: Mapping[int, str],
        max_ts: int = 0,
        prefix_tokens: Optional[torch.Tensor] = None,
        **search: Any,
    ) -> dict[int, list[Candidate]]:
        """
        What a beam finds whose tokens are given at first; nothing where the generator
        has a loop of its own.
        """
        found: dict[int, list[Candidate]] = {}
        if not self._searches_as_parlai or search or prefix_tokens is not None:
            return found
        seed = self.opt.get('candidate_seed') or 0
        beam = Strategy(Search.BEAM, BEGUN)
        for n, text in beginnings.items():
            tokens = beginning_tokens(self.dict, text)
            asked: Asked = [(beam, [n])]
            if 0 < len(tokens) < max_ts and few_rows(batch, asked):
                begin = batch.text_vec.new_tensor([tokens] * batch.batchsize)
                [[searches]] = search_side_by_side(
                    self, batch, asked, seed, max_ts, begin
                )
                found[n] = collect(self, searches, beam)
        return found

    @property
    def _searching(self) -> Callable[..., Any]:
        """The loop that searches: the generator's own, or ParlAI's in its place."""
        if self.generator_class._generate.__module__ in NOT_PARLAI_SEARCH:
            return TorchGeneratorAgent._generate.__get__(self)
        return super()._generate

    @property
    def _searches_as_parlai(self) -> bool:
        loop = getattr(self._searching, '__func__', None)
        return loop is TorchGeneratorAgent._generate

    def _treesearch_factory(self, device: Any, verbose: bool = False) -> Any:
        """The generator's search, seeded if ``--candidate-seed`` asks for it."""
        search = super()._treesearch_factory(device, verbose=verbose)
        return self.search_seeds.give(search) if self.search_seeds else search


def beginning_tokens(words: Any, text: str) -> list[int]:
    """
    The tokens with which a reply begins that begins with a text, by a generator's
    dictionary; none where that does not know one of them.
    """
    own = [int(token) for token in words.txt2vec(text)]
    if not own or words.tok2ind.get(words.unk_token) in own:
        return []
    # A Hugging Face dictionary puts BART's start token before a label.
    framed = words.frame_label(own) if hasattr(words, 'frame_label') else own
    return [*framed[: framed.index(own[0])], *own]


def search_one_by_one(
    agent: Any,
    generate: Callable[[Batch, int], tuple[Any, Sequence[Any]]],
    batch: Batch,
    asked: Asked,
    seed: int,
) -> list[list[list[Any]]]:
    """
    Search with the generator's own loop, one strategy after another.

    :param generate: searches a batch with a given width; returns ParlAI's pair of best
        hypotheses (unused) and searches.
    :return: for each strategy and each of its examples, the finished searches.
    """
    found = []
    with own_random_numbers(batch):
        for strategy, examples in asked:
            # A generator may write into its batch (RAG does), so each search gets a
            # copy.
            copy = type(batch)(**batch)
            with decoding(agent, strategy), seeded(agent, batch, strategy.name, seed):
                _, searches = generate(copy, strategy.width)
            # One for each example, or one for each of its documents (RAG-Sequence).
            each, rest = divmod(len(searches), batch.batchsize)
            if not each or rest:
                raise ConfigError(
                    f'{type(agent).__name__} cannot be reranked: for {batch.batchsize} '
                    f'examples its _generate returned {len(searches)} searches to take '
                    'candidates from.'
                )
            found.append([list(searches[i * each :][:each]) for i in examples])
    return found


def _asked(strategies: Sequence[Strategy], wanted: Sequence[Wanted]) -> Asked:
    each = [one.of(strategies) for one in wanted]
    asked = [
        (strategy, [i for i, own in enumerate(each) if strategy in own])
        for strategy in strategies
    ]
    return [(strategy, examples) for strategy, examples in asked if examples]


def collect(agent: Any, searches: Sequence[Any], strategy: Strategy) -> list[Candidate]:
    """
    The candidates that a strategy found for one example, at most as many as were asked
    for; a beam often finishes more.

    :param searches: finished searches: one, or one for each document.
    """
    finished = [h for search in searches for h in search.get_rescored_finished()]
    if len(searches) > 1:
        finished.sort(key=lambda hypothesis: -float(hypothesis[1]))
    length_penalty = agent.opt.get('beam_length_penalty', PARLAI_LENGTH_PENALTY)
    found: list[Candidate] = []
    for hypothesis in finished:
        if len(found) == strategy.number:
            break
        tokens, score, _ = hypothesis
        try:
            text = without_special(agent, agent._v2t(tokens))
        except KeyError:
            # A token that the dictionary does not know; ParlAI skips these as well.
            continue
        mean = mean_logprob(float(score), len(tokens), length_penalty)
        found.append(Candidate(text, (strategy.name,), float(score), mean, hypothesis))
    return found


def without_special(agent: Any, text: str) -> str:
    """A text, or none where it consists of the dictionary's special tokens alone."""
    words = agent.dict
    special = {words.null_token, words.start_token, words.end_token, words.unk_token}
    return '' if set(text.split()) <= special else text


def mean_logprob(score: float, length: int, length_penalty: float) -> float:
    """
    The mean log probability of a token, from a score with ParlAI's length penalty.

    :param score: log probability over ((1 + length) / 6) ** length_penalty
        (``TreeSearch.get_rescored_finished``; the length penalty of Wu et al. 2016).
    :param length: the number of tokens, including the start token, which costs nothing.
    """
    return score * math.pow((1 + length) / 6, length_penalty) / max(length - 1, 1)
