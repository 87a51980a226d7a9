"""
The settings of a search: those with a name, and the parts of a query.

``knn`` and ``dpr`` are the conditions of "Rome was built in 1776" (Santhanam et al.
2021, arXiv 2110.05456): the one sentence that is nearest to the mean of a sentence
encoder's vectors of the turns, and the one passage that DPR finds for the last turn.

On held-out dialogues, the last two turns find more than the last alone, and names
carried on from earlier turns more than these. Names are words within a sentence that
are capitalised.

For questions to documents, this differs: the reply before a question quotes a passage,
whose words would only find it again. The question is searched for alone or, if it
depends on an earlier one ("And abroad?"), together with that.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.options import Word
from parlai_q2.retrieve.encoder import DPR_PASSAGES, DPR_QUESTIONS
from parlai_q2.text.selection import stems

_NAME = re.compile(
    r"(?<![.!?]\s)(?<!^)\b(?!I['’])[A-Z][\w'’-]+(?:\s+(?!I['’])[A-Z][\w'’-]+)*"
)
# The number of turns before the last two whose names are carried on.
MAX_BACK = 4
_LEANS = re.compile(
    r'\W*(and|or|but|what about|how about)\b|'
    r'.*\b(it|its|they|them|their|he|him|his|she|her|that|this|those|these)\b',
    re.IGNORECASE | re.DOTALL,
)
# "Who is the director?", but not "Which director?".
_WHOLE = re.compile(
    r'\W*(?:(?:who|what|when|where|how|why)\W+)?'
    r"(?:is|are|was|were|do|does|did|can|could|will|has|have)(?:n't)?\b",
    re.IGNORECASE,
)


DEFAULT_PASSAGES = 5
# The value ``--encoder mini``, and the encoder that it names.
MINI, SHIPPED_ENCODER = 'mini', 'shipped:q2_mini/retrieval'


class SearchBy(Word):
    """The ways to search: by words, vectors or both."""

    WORDS = 'words'  # BM25
    DENSE = 'dense'  # an encoder's vectors
    FUSED = 'fused'  # both


class QueryFrom(Word):
    """The turns that a query is made from."""

    LAST = 'last'
    TWO = 'two'  # the last two turns
    NAMES = 'names'  # the last two turns, and names in earlier ones
    TURNS = 'turns'  # all turns, each on its own line


DEFAULT_QUERY = QueryFrom.NAMES


def make_query(history: Sequence[str], parts: str = DEFAULT_QUERY) -> str:
    """
    Make the query of a turn.

    :param history: the turns before the reply, oldest first; without turns, the query
        is empty.
    :param parts: its parts: one of :class:`QueryFrom`.
    :raises UnknownNameError: for other parts.

    >>> make_query(['I love the novels of Ursula Le Guin.', 'Oh?', 'Which is best?'],
    ...     'names')
    'Oh?\\nWhich is best?\\nUrsula Le Guin'
    """
    query, turns = QueryFrom.named('query', parts), [t for t in history if t.strip()]
    if query == QueryFrom.TURNS:
        lines = [' '.join(turn.split()) for turn in turns]
    elif query == QueryFrom.LAST:
        lines = turns[-1:]
    else:
        lines = turns[-2:]
        if query == QueryFrom.NAMES:
            earlier = turns[:-2][-MAX_BACK:]
            names = (name[0] for turn in earlier for name in _NAME.finditer(turn))
            lines += dict.fromkeys(names)
    return '\n'.join(lines)


def find_question(history: Sequence[str]) -> str:
    """
    Find the question at the end of a history, after the same person's questions that it
    depends on.

    >>> find_question(['How long does it take to Rome?', 'Two days.', 'And to Oslo?'])
    'How long does it take to Rome?\\nAnd to Oslo?'
    >>> find_question(['How long does it take?', 'Two.', 'How can I pay the bill?'])
    'How can I pay the bill?'
    """
    same_person = list(history[::-2][: 1 + MAX_BACK // 2])
    count = 1
    while count < len(same_person) and leans(same_person[count - 1]):
        count += 1
    return '\n'.join(same_person[:count][::-1])


def leans(question: str) -> bool:
    """
    Whether a question depends on earlier turns.

    >>> leans('How warm is it?'), leans('How much?'), leans('Who is the director?')
    (True, True, False)
    """
    least = 1 if _WHOLE.match(question) else 2
    return _LEANS.match(question) is not None or len(stems(question)) < least


@dataclass(frozen=True)
class SearchSettings:
    """
    The settings of a search for passages.

    :param by: one of :class:`SearchBy`, or its text.
    :param query: the parts of the query: one of
        :class:`~parlai_q2.retrieve.search.QueryFrom`, or its text.
    :param passages: the maximum number of passages of a turn.
    :param encoder: gives the vectors of passages; None for words alone.
    :param query_encoder: gives the vectors of queries; None for the same.
    :raises ConfigError: if these do not fit.
    """

    by: SearchBy = SearchBy.WORDS
    query: QueryFrom = DEFAULT_QUERY
    passages: int = DEFAULT_PASSAGES
    encoder: str | None = None
    query_encoder: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'by', SearchBy.named('search', self.by))
        object.__setattr__(self, 'query', QueryFrom.named('query', self.query))
        if self.passages < 1:
            raise ConfigError(
                f'The number of passages must be at least 1, not {self.passages}: '
                f'--knowledge-passages {DEFAULT_PASSAGES}'
            )
        if self.query_encoder and not self.encoder:
            raise ConfigError(
                f'--query-encoder {self.query_encoder} needs an encoder of passages: '
                '--encoder'
            )
        if self.by != SearchBy.WORDS and self.encoder is None:
            raise ConfigError(
                f'An index without vectors cannot be searched by {self.by!r}. Make it '
                f'with an encoder: parlai_q2 index ... --encoder {MINI}'
            )


# Each has the maximum number of sentences of a passage (0: as many as fit).
SEARCHES: dict[str, tuple[SearchSettings, int]] = {
    'bm25': (SearchSettings(), 0),
    'fused': (SearchSettings(SearchBy.FUSED, encoder=SHIPPED_ENCODER), 0),
    'knn': (SearchSettings(SearchBy.DENSE, QueryFrom.TURNS, 1, SHIPPED_ENCODER), 1),
    'dpr': (
        SearchSettings(SearchBy.DENSE, QueryFrom.LAST, 1, DPR_PASSAGES, DPR_QUESTIONS),
        0,
    ),
}


def load_search(name: str, **changes: Any) -> tuple[SearchSettings, int]:
    """
    Load the settings of a search that has a name.

    :param changes: fields to change; None keeps one.
    :return: the settings, and the most sentences of a passage, 0 for as many as fit.
    :raises UnknownNameError: if there is no such search.
    """
    if name not in SEARCHES:
        raise UnknownNameError('search', name, SEARCHES)
    search, sentences = SEARCHES[name]
    changes = {key: value for key, value in changes.items() if value is not None}
    if encoder := changes.get('encoder'):
        if encoder == MINI:
            changes['encoder'] = SHIPPED_ENCODER
        if search.by == SearchBy.WORDS:
            changes.setdefault('by', SearchBy.FUSED)
        # A query encoder belongs to one encoder of passages.
        changes.setdefault('query_encoder', None)
    return replace(search, **changes), sentences
