"""The interface of all scorers, and the base of those that wrap another one."""

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

from parlai_q2.claims import Label, Score, not_verifiable
from parlai_q2.errors import InputError
from parlai_q2.passages import in_passages
from parlai_q2.signature import Signature
from parlai_q2.turns import Example

if TYPE_CHECKING:
    from parlai_q2.presets import Preset

# Honovich et al. 2021, section 4.2: a score of at most 0.5 means inconsistent.
DEFAULT_THRESHOLD = 0.5
# The part of a score whose texts the scorer's model could not read, and the share that
# was not read of a text that is too long.
UNREADABLE, UNREAD = 'unreadable', 'unread'
UNKNOWN = (
    'The shipped models read English. The model of {} does not know most of a text, '
    'which is therefore not verifiable'
)
TOO_LONG = (
    '{} does not read the end of a text this long; the share is "unread" among the '
    'parts of its score'
)
# Of a long text, the beginning says whether a model knows its script.
LOOKED_AT = 4000
_PLAIN = re.compile(r'[\s\x20-\x7e]*')
_logger = logging.getLogger(__name__)
_warned: set[tuple[str, str]] = set()


def label_of(value: float, threshold: float) -> str:
    """``inconsistent`` for a value of at most the threshold, else ``consistent``."""
    return Label.CONSISTENT if value > threshold else Label.INCONSISTENT


def knows(tokenizer: Optional[Callable[[], Any]], text: str) -> bool:
    """
    Whether a model's tokenizer, if it has one, knows at least half of a text's tokens,
    and there are any. A classifier takes what it does not know for equal: other
    scripts, emoji, control and zero-width characters.
    """
    text = text.strip()[:LOOKED_AT]
    if tokenizer is None or _PLAIN.fullmatch(text):
        return True
    if not any(char.isprintable() and not char.isspace() for char in text):
        return False
    tokens = tokenizer()
    ids = tokens.ids(text)
    return bool(ids) and 2 * ids.count(tokens.id('unk_token')) <= len(ids)


class Scorer(ABC):
    """
    Scores responses against their knowledge.

    A subclass sets ``name`` and ``settings`` and implements :meth:`score_texts`. A
    score must depend on knowledge and response alone: examples with the same knowledge
    and response are scored once, even if their histories differ.

    :param threshold: a value of at most this, in [0, 1], is inconsistent.

    >>> from parlai_q2 import Label, Score
    >>> class Longer(Scorer):
    ...     name = 'longer'
    ...     settings = {'unit': 'characters'}
    ...
    ...     def score_texts(self, examples):
    ...         return [self.one(e) for e in examples]
    ...
    ...     def one(self, example):
    ...         fits = len(example.response) <= len(example.knowledge_text)
    ...         label = Label.CONSISTENT if fits else Label.INCONSISTENT
    ...         return Score(float(fits), label, signature=str(self.signature))
    >>> scores = Longer().score([Example('Bees have five eyes.', 'Five.')])
    >>> scores[0].value, str(scores[0].signature).split('|')[:2]
    (1.0, ['longer', 'threshold:0.5'])
    """

    name: str
    threshold: float = DEFAULT_THRESHOLD
    # Whether it runs models: it then takes ``device`` and ``batch_size``, and its
    # scores are worth caching.
    has_models: bool = False
    # The share of consistent responses under which a value is a probability; None if
    # values are no probabilities.
    prior: Optional[float] = None
    # Whether its scores have verdicts on questions.
    asks_questions: bool = False

    def __init__(self, threshold: float = DEFAULT_THRESHOLD):
        self.threshold = threshold

    @classmethod
    def from_preset(cls, preset: 'Preset', *args: Any, **options: Any) -> 'Scorer':
        """
        Create the scorer with the models that a preset names, and its own options, such
        as ``threshold``.
        """
        return cls(*args, **options)

    @property
    @abstractmethod
    def settings(self) -> dict:
        """Everything that determines the scores, such as models and decoding."""

    @abstractmethod
    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        """
        Score examples whose knowledge and response are not blank.

        :param examples: B examples, no two with the same knowledge and response, each
            with its knowledge as one text.
        :return: B scores, in order.
        """

    @property
    def text_model(self) -> Any:
        """The model that must know what texts are made of; None reads everything."""
        return None

    def can_read(self, text: str) -> bool:
        """Whether the scorer's model knows what a text is made of."""
        return knows(getattr(self.text_model, 'tokenizer', None), text)

    def unread(self, example: Example) -> float:
        """The share of a text, of the two the greater, that is not read, in [0, 1)."""
        return 0.0

    @property
    def signature(self) -> Signature:
        """What you need to reproduce this scorer's numbers; part of every score."""
        settings = {'threshold': self.threshold, **self.settings}
        return Signature(self.name, settings)

    def score(self, examples: Iterable[Example]) -> list[Score]:
        """
        Score a batch of any size in a few large model calls; duplicates are scored
        once.

        :param examples: B examples. One with a blank text, or with one that the scorer
            cannot read (part ``unreadable``), gets the label ``not_verifiable``. Where
            the end of a text was not read, the part ``unread`` is its share.
        :return: B scores, in order. Each is the same as if the example had been scored
            alone: bit for bit with models that compute in int8, to about 1e-7 in fp32.
        :raises InputError: if any of them is not an Example.
        """
        if isinstance(examples, Example) or not isinstance(examples, Iterable):
            raise InputError(
                'score() takes a list of Example, not '
                f'{type(examples).__name__}. Write score([example]).'
            )
        examples = list(examples)
        wrong = [e for e in examples if not isinstance(e, Example)]
        if wrong:
            raise InputError(
                'score() takes a list of Example, but there is a '
                f'{type(wrong[0]).__name__} in it. Write '
                'Example(knowledge="...", response="...").'
            )
        nothing = not_verifiable(str(self.signature))
        by_text: dict[tuple[str, str], Example] = {}
        for example in examples:
            if example.knowledge_text.strip() and example.response.strip():
                pair = example.knowledge_text, example.response
                by_text.setdefault(pair, Example(*pair, example.history, example.id))
        readable = {text: self.can_read(text) for pair in by_text for text in pair}
        unread = [pair for pair in by_text if not all(readable[t] for t in pair)]
        for pair in unread:
            del by_text[pair]
        scores = dict(
            zip(by_text, self.score_texts(list(by_text.values())), strict=True)
        )
        for pair, example in by_text.items():
            if share := self.unread(example):
                self._warn(TOO_LONG, pair)
                parts = {**scores[pair].parts, UNREAD: share}
                scores[pair] = replace(scores[pair], parts=parts)
        if unread:
            self._warn(UNKNOWN, unread[0])
            unknown = not_verifiable(str(self.signature), parts={UNREADABLE: 1.0})
            scores.update(dict.fromkeys(unread, unknown))
        return [
            in_passages(
                scores.get((e.knowledge_text, e.response), nothing), e.knowledge
            )
            for e in examples
        ]

    def _warn(self, problem: str, pair: tuple[str, str]) -> None:
        # Once a run: a file in another script would give a warning a record.
        if (self.name, problem) not in _warned:
            _warned.add((self.name, problem))
            shown = ' / '.join(ascii(text[:40]) for text in pair)
            _logger.warning(f'{problem.format(self.name)}: {shown}')


S = TypeVar('S', bound=Scorer)


class StandInScorer(Scorer, Generic[S]):
    """
    Wraps a scorer and has its name, settings, signature and threshold. A subclass
    implements :meth:`score_texts`.
    """

    def __init__(self, scorer: S):
        self.scorer = scorer

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.scorer.name

    @property
    def threshold(self) -> float:  # type: ignore[override]
        return self.scorer.threshold

    @property
    def has_models(self) -> bool:  # type: ignore[override]
        return self.scorer.has_models

    @property
    def prior(self) -> Optional[float]:  # type: ignore[override]
        return self.scorer.prior

    @property
    def asks_questions(self) -> bool:  # type: ignore[override]
        return self.scorer.asks_questions

    def can_read(self, text: str) -> bool:
        return self.scorer.can_read(text)

    @property
    def settings(self) -> dict[str, Any]:
        return self.scorer.settings

    @property
    def signature(self) -> Signature:
        return self.scorer.signature
