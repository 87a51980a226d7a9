"""The interface of all scorers."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from parlai_q2.claims import Label, Score
from parlai_q2.scorers.shell import PREPARATION, score_all
from parlai_q2.signature import Signature
from parlai_q2.text.language import is_foreign
from parlai_q2.turns import Example

if TYPE_CHECKING:
    from parlai_q2.models.nli_types import NliModel
    from parlai_q2.models.tokens import Tokens
    from parlai_q2.presets import Preset

# Honovich et al. 2021, Table 3: a score of at most 0.5 means inconsistent.
DEFAULT_THRESHOLD = 0.5
# English models have up to 50,000 tokens, multilingual ones more than this.
MULTILINGUAL_TOKENS = 100_000
# Of a long text, the beginning says whether a model knows its script.
LOOKED_AT = 4000
_PLAIN = re.compile(r'[\s\x20-\x7e]*')


def label_of(value: float, threshold: float) -> Label:
    """``inconsistent`` for a value of at most the threshold, else ``consistent``."""
    return Label.CONSISTENT if value > threshold else Label.INCONSISTENT


def knows(load_tokenizer: 'Callable[[], Tokens] | None', text: str) -> bool:
    """
    Whether a model's tokenizer, if it has one, knows at least half of a text's tokens,
    and there are any. A classifier takes what it does not know for equal: other
    scripts, emoji, control and zero-width characters.
    """
    text = text.strip()[:LOOKED_AT]
    is_plain = text.isascii() and (text.isprintable() or _PLAIN.fullmatch(text))
    if load_tokenizer is None or is_plain:
        return True
    # Each character beyond ASCII makes at most one token that is not known.
    known_words = [w for w in text.split() if w.isascii() and w.isprintable()]
    if len(text) - len(text.encode('ascii', 'ignore')) <= len(known_words):
        return True
    if not any(char.isprintable() and not char.isspace() for char in text):
        return False
    tokens = load_tokenizer()
    ids, unknown = tokens.ids(text), tokens.id('unk_token')
    return bool(ids) and 2 * sum(number == unknown for number in ids) <= len(ids)


class Scorer(ABC):
    """
    Scores responses against their knowledge.

    A subclass sets ``name`` and ``settings`` and implements :meth:`score_texts`. A
    score depends on knowledge and response alone, never on the history: examples with
    the same texts are scored once, even if their histories differ.

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
    ...         return Score(float(fits), label)
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
    prior: float | None = None
    # Whether it reads texts without their markup, and records as sentences.
    prepares_texts: bool = False
    # What is read of a longer response are the sentences that the knowledge covers
    # least; 0 if all is read.
    max_response_words: int = 0
    # Whether several threads may score at once; spaCy does not promise it.
    is_thread_safe: bool = False
    # Whether its claims come with questions.
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
    def settings(self) -> dict[str, object]:
        """Everything that determines the scores, such as models and decoding."""

    @abstractmethod
    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        """
        Score examples whose knowledge and response are not blank.

        :param examples: B examples, no two with the same knowledge and response. Scores
            are signed by the shell around it (:mod:`~parlai_q2.scorers.shell`).
        :return: B scores, in order.
        """

    @property
    def text_model(self) -> 'NliModel | None':
        """The model whose tokenizer must know the characters of a text; or None."""
        return None

    @property
    def _load_tokenizer(self) -> 'Callable[[], Tokens] | None':
        return None if self.text_model is None else self.text_model.load_tokenizer

    def can_read(self, text: str) -> bool:
        """Whether the scorer's model knows the characters of a text."""
        return knows(self._load_tokenizer, text)

    def is_foreign(self, text: str) -> bool:
        """
        Whether a text is in a language that the scorer's model was not trained on. A
        model with a large vocabulary counts as multilingual and reads all languages.
        """
        load_tokenizer = self._load_tokenizer
        return (
            load_tokenizer is not None
            and is_foreign(text)
            and load_tokenizer().size <= MULTILINGUAL_TOKENS
        )

    def unread(self, example: Example) -> float:
        """
        The share of the knowledge or of the response, whichever is greater, that the
        model does not read, in [0, 1).
        """
        return 0.0

    @property
    def signature(self) -> Signature:
        """What you need to reproduce this scorer's numbers; part of every score."""
        settings = {'threshold': self.threshold, **self.settings}
        if self.prepares_texts:
            settings['texts'] = PREPARATION
        return Signature(self.name, settings)

    def score(self, examples: Iterable[Example]) -> list[Score]:
        """
        Score a batch of any size in a few large model calls; duplicates are scored
        once.

        :param examples: B examples. One with a blank text, or with one that the scorer
            cannot read (part ``unreadable``), gets the label ``not_verifiable``. Where
            only a part of a text was read, the part ``unread`` is the share left out.
        :return: B scores, in order. Each is the same as if the example had been scored
            alone: bit for bit with models that compute in int8, to about 1e-7 in fp32.
        :raises InputError: if any of them is not an Example.
        :raises ConfigError: if :meth:`score_texts` gives something else than a Score
            with a finite value for each.
        """
        return score_all(self, examples, str(self.signature))
