"""
How candidates are searched for, by any strategy, under the names that ParlAI's options
have.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from parlai_q2.errors import ConfigError

# A cut at a probability mass is made among this many of the likeliest tokens: the
# library sorts a whole vocabulary for each token of each sample, which takes as long as
# the model. Where a model is sure enough to be of use, the rest weighs next to nothing.
NUCLEUS_AMONG = 1000


@dataclass(frozen=True)
class Decoding:
    """
    The numbers that all strategies share.

    :param temperature: of whatever samples; above 0.
    :param beam_length_penalty: scores of beams are divided by the length to this power.
    :param beam_block_ngram: no n-gram of this size occurs twice; 0 or less: no limit.
    :param beam_min_length: the least number of tokens.
    :param label_truncate: the greatest number of tokens.
    :raises ConfigError: when a number is impossible; it names the option.
    """

    temperature: float = 1.0
    beam_length_penalty: float = 0.65
    beam_block_ngram: int = 0
    beam_min_length: int = 1
    label_truncate: int = 128

    def __post_init__(self) -> None:
        for name, fine, expected in (
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
            if not fine:  # not a number is not fine, either
                option = f'--{name.replace("_", "-")}'
                value = getattr(self, name)
                raise ConfigError(f'{option} is {value}; it must be {expected}.')

    @classmethod
    def from_opt(cls, opt: Mapping[str, Any]) -> 'Decoding':
        """The numbers that options give; the defaults for those that are not there."""
        given = {f.name: opt.get(f.name) for f in fields(cls)}
        return cls(
            **{name: value for name, value in given.items() if value is not None}
        )
