"""
Signatures: everything needed to reproduce a score, as in sacreBLEU (Post 2018, arXiv
1804.08771).

A signature names everything that determines a score: the scorer, the code's version,
models, decoding, filters, comparison and threshold. Logs print a short form of it.

Files hold the printed text, not data: a signature is copied into papers and issues and
compared with ``==`` and ``grep``, and a text is the same in JSON lines, Parquet and the
score cache. It is read in one place, :meth:`Signature.from_text`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlai_q2.version import __version__

# The escape of a bar inside a setting.
BAR = '\\x7c'


def unusual(
    settings: Mapping[str, object], usual: Mapping[str, tuple[object, ...]]
) -> dict[str, Any]:
    """
    Leave out settings with one of their usual values, as signatures do.

    >>> unusual({'beams': 4, 'length': 40}, {'beams': (5,), 'length': (40,)})
    {'beams': 4}
    """
    return {k: v for k, v in settings.items() if v not in usual[k]}


def assumed(prior: float | None) -> str:
    """
    A sentence about the prior that a scorer's values assume; empty if they are no
    probabilities.

    >>> assumed(0.86)
    'Scores assume that 86 % of all responses are consistent.'
    """
    if prior is None:
        return ''
    share = f'{100 * prior:.3g} %'
    return f'Scores assume that {share} of all responses are consistent.'


@dataclass(frozen=True)
class Signature:
    """
    Everything that determines a score.

    :param scorer: the scorer's name.
    :param settings: the settings that determine the score, by name.
    :param version: of this code.

    >>> print(Signature('precision', {'threshold': 0.5}))  # doctest: +ELLIPSIS
    precision|threshold:0.5|version:...
    """

    scorer: str
    settings: Mapping[str, Any]
    version: str = __version__

    @classmethod
    def from_text(cls, text: str) -> 'Signature':
        """
        Parse a signature from its text, which may be empty. All settings are texts.

        >>> Signature.from_text('precision|threshold:0.5|version:1.0').settings
        {'threshold': '0.5'}
        """
        scorer, *pairs = text.split('|')
        settings = dict(pair.split(':', 1) for pair in pairs if ':' in pair)
        version = settings.pop('version', '')
        unescaped = {k: v.replace(BAR, '|') for k, v in settings.items()}
        return cls(scorer, unescaped, version)

    def __str__(self) -> str:
        pairs = (f'{k}:{v}' for k, v in self.texts().items())
        text = '|'.join([self.scorer, *(p.replace('|', BAR) for p in pairs)])
        text += f'|version:{self.version}'
        # A path may contain bytes that are not UTF-8 and cannot be written.
        return text.encode('utf-8', 'backslashreplace').decode('utf-8')

    def texts(self) -> dict[str, str]:
        """The settings as texts, by name."""
        return {name: str(value) for name, value in sorted(self.settings.items())}

    @property
    def short(self) -> str:
        """
        The form that logs print: scorer, preset, version and hash.

        >>> Signature.from_text('precision|threshold:0.5|version:1.0').short
        'precision|version:1.0|9ccc58b8'
        """
        preset = self.settings.get('preset')
        fields = [self.scorer] + ([] if preset is None else [f'preset:{preset}'])
        return '|'.join([*fields, f'version:{self.version}', digits(str(self))])


def digits(signature: str) -> str:
    """A hash of a signature: eight hexadecimal digits."""
    return hashlib.sha256(signature.encode('utf-8', 'replace')).hexdigest()[:8]
