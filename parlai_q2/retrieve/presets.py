"""
Ways to find the passages of a turn, by name.

``knn`` and ``dpr`` are the conditions of "Rome was built in 1776" (Santhanam et al.
2021, arXiv 2110.05456): the one sentence that is nearest to the mean of a
sentence encoder's vectors of the turns, and the one passage that DPR finds for the last
turn.
"""

from dataclasses import dataclass, replace
from typing import Any

from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.retrieve.encoder import DPR_PASSAGES, DPR_QUESTIONS
from parlai_q2.retrieve.queries import DEFAULT_QUERY, Query

DEFAULT_PASSAGES = 5
# What ``--encoder mini`` names.
MINI, SHIPPED_ENCODER = 'mini', 'shipped:q2_mini/retrieval'


class By(Word):
    """What a search goes by."""

    WORDS = 'words'  # BM25
    DENSE = 'dense'  # the vectors of an encoder
    FUSED = 'fused'  # both


@dataclass(frozen=True)
class Search:
    """
    How passages are found.

    :param by: one of :class:`By`, or its text.
    :param query: what is searched for: one of
        :class:`~parlai_q2.retrieve.queries.Query`, or its text.
    :param passages: the most passages of a turn.
    :param encoder: gives the vectors of passages; None for words alone.
    :param query_encoder: gives the vectors of queries; None for the same.
    """

    by: By = By.WORDS
    query: Query = DEFAULT_QUERY
    passages: int = DEFAULT_PASSAGES
    encoder: str | None = None
    query_encoder: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'by', By.named('search', self.by))
        object.__setattr__(self, 'query', Query.named('query', self.query))

    def check(self) -> None:
        """
        Refuse what does not fit.

        :raises ConfigError: if it does not.
        """
        if self.passages < 1:
            raise ConfigError(
                f'At least one passage must be looked for, not {self.passages}: '
                f'--knowledge-passages {DEFAULT_PASSAGES}'
            )
        if self.by != By.WORDS and self.encoder is None:
            raise ConfigError(
                f'An index without vectors cannot be searched by {self.by!r}. Make it '
                f'with an encoder: parlai_q2 index ... --encoder {MINI}'
            )


# Each with the most sentences of a passage (0: as many as fit).
PRESETS: dict[str, tuple[Search, int]] = {
    'bm25': (Search(), 0),
    'fused': (Search(By.FUSED, encoder=SHIPPED_ENCODER), 0),
    'knn': (Search(By.DENSE, Query.TURNS, 1, SHIPPED_ENCODER), 1),
    'dpr': (Search(By.DENSE, Query.LAST, 1, DPR_PASSAGES, DPR_QUESTIONS), 0),
}


def load_search(name: str, **changes: Any) -> tuple[Search, int]:
    """
    Load a preset.

    :param changes: what is otherwise; None leaves it as it is.
    :return: the search, and the most sentences of a passage, 0 for as many as fit.
    :raises UnknownNameError: if there is none of this name.
    """
    if name not in PRESETS:
        raise UnknownNameError('preset', name, PRESETS)
    search, sentences = PRESETS[name]
    changes = {key: value for key, value in changes.items() if value is not None}
    if encoder := changes.get('encoder'):
        if encoder == MINI:
            changes['encoder'] = SHIPPED_ENCODER
        if search.by == By.WORDS:
            changes.setdefault('by', By.FUSED)
        # The partner of another encoder.
        changes.setdefault('query_encoder', None)
    search = replace(search, **changes)
    search.check()
    return search, sentences
