"""
Signatures: what you need to know about a score to reproduce it, as sacreBLEU has them
(Post 2018, arXiv 1804.08771, section 3).

A signature names everything that determines a score: the scorer, the code's version,
models, decoding, filters, comparison and threshold. Logs print a short form of it.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from parlai_q2.version import __version__


def unusual(
    settings: Mapping[str, Any], usual: Mapping[str, tuple[Any, ...]]
) -> dict[str, Any]:
    """
    The settings but those with one of their usual values, which signatures leave out.

    >>> unusual({'beams': 4, 'length': 40}, {'beams': (5,), 'length': (40,)})
    {'beams': 4}
    """
    return {k: v for k, v in settings.items() if v not in usual[k]}


def assumed(prior: Optional[float]) -> str:
    """
    What the values of a scorer with this prior assume of the responses, as a sentence;
    empty if they are no probabilities.

    >>> assumed(0.86)
    'Values are probabilities if 86 % of all responses are consistent.'
    """
    if prior is None:
        return ''
    share = f'{100 * prior:.3g} %'
    return f'Values are probabilities if {share} of all responses are consistent.'


@dataclass(frozen=True)
class Signature:
    """
    Everything that determines a score.

    :param scorer: the scorer's name.
    :param settings: the settings that determine the score, by name.

    >>> print(Signature('precision', {'threshold': 0.5}))  # doctest: +ELLIPSIS
    precision|threshold:0.5|version:...
    """

    scorer: str
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        pairs = (f'{k}:{v}' for k, v in sorted(self.settings.items()))
        text = '|'.join([self.scorer, *pairs, f'version:{__version__}'])
        # A path may contain bytes that are not UTF-8, which could not be written.
        return text.encode('utf-8', 'backslashreplace').decode('utf-8')

    def texts(self) -> dict[str, str]:
        """The settings as texts, by name."""
        return {name: str(value) for name, value in sorted(self.settings.items())}

    @property
    def short(self) -> str:
        """The form that logs print."""
        return short_form(str(self))


def digits(signature: str) -> str:
    """A hash of a signature: eight hexadecimal digits."""
    return hashlib.sha256(signature.encode('utf-8', 'replace')).hexdigest()[:8]


def settings_of(signature: str) -> dict[str, str]:
    """
    The settings in a full signature, as text, by name; without the scorer.

    >>> settings_of('precision|threshold:0.5|version:1.0')
    {'threshold': '0.5', 'version': '1.0'}
    """
    _, *settings = signature.split('|')
    return dict(setting.split(':', 1) for setting in settings if ':' in setting)


def short_form(signature: str) -> str:
    """
    A signature's scorer, preset, version and hash.

    >>> short_form('precision|threshold:0.5|version:1.0')
    'precision|version:1.0|9ccc58b8'
    """
    scorer, *settings = signature.split('|')
    kept = [s for s in settings if s.startswith(('preset:', 'version:'))]
    return '|'.join([scorer, *kept, digits(signature)])
