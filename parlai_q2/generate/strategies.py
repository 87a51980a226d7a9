"""
The searches that find candidates, and their settings.

The defaults are those of Santhanam et al. 2021 (arXiv 2110.05456): nucleus sampling
with p = 0.9, beam search, and delayed beam search, which first samples 5 steps from the
10 likeliest tokens. Unless its width is given, a beam is at least five wide. By default
one beam finds all candidates: with the shipped generator it takes a third of the time
of the three searches together, and led to no more wrong choices.
"""

from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any

from parlai_q2.errors import ConfigError
from parlai_q2.options import Options, Word, option_field, split_names


class SearchMethod(Word):
    """A way to search for replies, named as in ParlAI's ``--inference``."""

    BEAM = 'beam'
    NUCLEUS = 'nucleus'
    DELAYED = 'delayedbeam'
    TOPK = 'topk'
    GREEDY = 'greedy'


BEAMS = (SearchMethod.BEAM, SearchMethod.DELAYED)
SAMPLING = (SearchMethod.NUCLEUS, SearchMethod.DELAYED, SearchMethod.TOPK)

OPTION = '--candidate-strategies'
DEFAULT_STRATEGIES = 'beam:10'
DEFAULT_BEAM = 5
# The probability mass of nucleus sampling; the likeliest tokens that top-k sampling and
# the delayed beam sample from; and the steps before the delayed beam.
P = 0.9
K = 10
DELAY = 5
# Some replies differ only in case, punctuation or spaces. A search for several
# therefore asks for this many times as many, and keeps the first distinct ones.
BEAM_SPARE, SAMPLE_SPARE = 2.0, 1.5
# The maximum number of sequences that all strategies together follow, without spares,
# and of those that one of them finds with spares; memory grows with them.
MOST_CANDIDATES = 200
# The number of replies that a beam finds which begin with the subject's name.
NAMED_CANDIDATES = 2

# The settings that may follow a slash, and the searches that have them.
METHODS_WITH = {
    'p': (SearchMethod.NUCLEUS,),
    'k': (SearchMethod.DELAYED, SearchMethod.TOPK),
    'delay': (SearchMethod.DELAYED,),
}


@dataclass(frozen=True)
class Strategy:
    """
    A search method, and the number of candidates that it finds.

    :param name: one of :class:`SearchMethod`, or its text.
    :param beam: the width of the beam, at least ``number``; None for the larger of
        ``number`` and :data:`DEFAULT_BEAM`.
    :param p: the probability mass of nucleus sampling, in (0, 1].
    :param k: the number of likeliest tokens that top-k sampling and the delayed beam
        sample from.
    :param delay: the number of steps that the delayed beam samples.
    """

    name: SearchMethod
    number: int
    beam: int | None = None
    p: float = P
    k: int = K
    delay: int = DELAY

    def __post_init__(self) -> None:
        object.__setattr__(
            self, 'name', SearchMethod.named('candidate strategy', self.name)
        )

    @property
    def width(self) -> int:
        """The number of sequences that the search follows at a time."""
        if self.name not in BEAMS:
            return self.number
        return self.beam or max(self.number, DEFAULT_BEAM)

    @property
    def is_sampling(self) -> bool:
        """Whether the search draws random numbers."""
        return self.name in SAMPLING

    def with_spares(self, most: int | None = None, times: int = 1) -> 'Strategy':
        """
        The same search for more replies, so that ``number`` of them are distinct.

        :param most: the greatest number, such as the size of the vocabulary; never more
            than a given width of the beam, or :data:`MOST_CANDIDATES`.
        :param times: a factor for the number of replies.
        """
        if self.number == 1:
            return self
        spare = BEAM_SPARE if self.name in BEAMS else SAMPLE_SPARE
        limits = [self.beam or MOST_CANDIDATES, most or MOST_CANDIDATES]
        number = min(ceil(times * spare * self.number), *limits)
        return replace(self, number=max(self.number, number))

    def __str__(self) -> str:
        defaults = Strategy(self.name, self.number)
        parts = [f'{self.name}:{self.number}']
        if self.beam:
            parts.append(str(self.beam))
        for setting in METHODS_WITH:
            value = getattr(self, setting)
            if value != getattr(defaults, setting):
                parts.append(f'{setting}={value}')
        return '/'.join(parts)


def parse_strategies(text: str) -> list[Strategy]:
    """
    Parse the value of ``--candidate-strategies``.

    ``beam:4,nucleus:3`` is the best four of a beam, and three samples. ``beam:4/10``
    makes the beam ten wide; ``nucleus:3/p=0.8`` and ``delayedbeam:3/k=20/delay=4`` have
    settings of their own. A name without a number finds one candidate. The order
    decides ties.

    :raises ConfigError: if the text does not have that form.
    """
    strategies = [_parse(part) for part in split_names(text)]
    names = [strategy.name for strategy in strategies]
    if not names:
        raise ConfigError(f'{OPTION}: it is empty. The default: {DEFAULT_STRATEGIES}.')
    if len(set(names)) < len(names):
        raise ConfigError(
            f'{OPTION}: a strategy appears twice in {text!r}; add up its numbers.'
        )
    if sum(strategy.width for strategy in strategies) > MOST_CANDIDATES:
        raise ConfigError(
            f'{OPTION}: {text!r} follows more than {MOST_CANDIDATES} replies at once. '
            'Ask for fewer candidates, or narrower beams.'
        )
    return strategies


def _parse(part: str) -> Strategy:
    name_text, _, rest = (piece.strip() for piece in part.partition(':'))
    number, *settings = (piece.strip() for piece in rest.split('/'))
    name = SearchMethod.named('candidate strategy', name_text)
    if not (number or '1').isdecimal() or int(number or '1') < 1:
        raise ConfigError(
            f'{OPTION}: {part!r} must be a name and a number from 1: {name}:3'
        )
    if name == SearchMethod.GREEDY and number not in ('', '1'):
        raise ConfigError(f'{OPTION}: {part!r}: greedy finds one candidate: greedy')
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (piece.strip() for piece in setting.partition('='))
        is_width = key.isdecimal() and int(key) >= int(number or '1')
        if equals:
            values[key] = _parse_setting(part, name, key, value)
        elif name in BEAMS and is_width and 'beam' not in values:
            values['beam'] = int(key)
        else:
            raise ConfigError(
                f'{OPTION}: {part!r}: after the slash stands the width of the beam of '
                f'{" or ".join(BEAMS)}, at least the number of candidates: beam:4/10; '
                'or a setting: nucleus:3/p=0.9, delayedbeam:3/k=10/delay=5'
            )
    return Strategy(name, int(number or '1'), **values)


def _parse_setting(part: str, name: SearchMethod, key: str, text: str) -> float:
    if name not in METHODS_WITH.get(key, ()):
        allowed = [setting for setting, names in METHODS_WITH.items() if name in names]
        remedy = f'It has {", ".join(allowed)}.' if allowed else 'Its width: beam:4/10'
        raise ConfigError(
            f'{OPTION}: {part!r}: {name} has no setting {key!r}. {remedy}'
        )
    try:
        value: float = float(text) if key == 'p' else int(text)
    except ValueError:
        value = 0
    if value <= 0 or value != value or (key == 'p' and value > 1):
        expected = 'a number above 0, at most 1' if key == 'p' else 'a number from 1'
        raise ConfigError(
            f'{OPTION}: {part!r}: {key} must be {expected}, not {text!r}.'
        )
    return value


@dataclass(frozen=True)
class Decoding:
    """
    The numbers that all strategies share, named as ParlAI's options.

    :param label_truncate: the maximum number of tokens.
    :raises ConfigError: if a number is out of range; names the option.
    """

    temperature: float = option_field(1.0, 'temperature of sampling')
    beam_length_penalty: float = option_field(
        0.65, 'scores are divided by the length to this power'
    )
    beam_block_ngram: int = option_field(
        0, 'no n-gram of this size occurs twice; 0: no limit'
    )
    beam_min_length: int = option_field(1, 'the least number of tokens in a reply')
    label_truncate: int = 128

    def __post_init__(self) -> None:
        for name, is_valid, expected in (
            ('temperature', 0.01 <= self.temperature <= 100, 'from 0.01 to 100'),
            ('beam_length_penalty', 0 <= self.beam_length_penalty <= 10, '0 to 10'),
            ('beam_min_length', self.beam_min_length >= 0, 'at least 0'),
            ('label_truncate', 1 <= self.label_truncate <= 4096, 'from 1 to 4096'),
            (
                'beam_min_length',
                self.beam_min_length <= self.label_truncate,
                f'at most --label-truncate, which is {self.label_truncate}',
            ),
        ):
            if not is_valid:  # true for NaN, too
                option = f'--{name.replace("_", "-")}'
                value = getattr(self, name)
                raise ConfigError(f'{option} is {value}; it must be {expected}.')

    @classmethod
    def from_opt(cls, opt: Options) -> 'Decoding':
        """The numbers in a mapping of options; defaults for missing ones and None."""
        values = {field.name: opt.get(field.name) for field in fields(cls)}
        return cls(**{name: v for name, v in values.items() if v is not None})
