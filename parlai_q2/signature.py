"""
A number travels with its recipe.

A signature names what decided a score: the scorer, the code's version, the models and
their revisions, decoding, filters, comparison, threshold. Two scores with the same
signature can be compared; the short hash is for file names and tables. The idea is
sacreBLEU's (Post 2018, arXiv 1804.08771, section 3).
"""

import hashlib
from dataclasses import dataclass
from typing import Any, Mapping

from parlai_q2.version import __version__


def unusual(
    settings: Mapping[str, Any], usual: Mapping[str, tuple[Any, ...]]
) -> dict[str, Any]:
    """
    The settings that signatures say because few have them so.

    :param settings: by name.
    :param usual: for each, the values that are left unsaid.

    >>> unusual({'beams': 4, 'length': 40}, {'beams': (5,), 'length': (40,)})
    {'beams': 4}
    """
    return {k: v for k, v in settings.items() if v not in usual[k]}


@dataclass(frozen=True)
class Signature:
    """
    The recipe of a number.

    :param scorer: the scorer's name.
    :param settings: what decided the number, by name.

    >>> print(Signature('precision', {'threshold': 0.5}))  # doctest: +ELLIPSIS
    precision|threshold:0.5|version:...
    """

    scorer: str
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        pairs = (f'{k}:{v}' for k, v in sorted(self.settings.items()))
        text = '|'.join([self.scorer, *pairs, f'version:{__version__}'])
        # A file's name may be bytes that are no UTF-8, which would not go into a file.
        return text.encode('utf-8', 'backslashreplace').decode('utf-8')

    @property
    def short(self) -> str:
        """
        Ten hexadecimal digits that stand for the whole.
        """
        return hashlib.sha256(str(self).encode()).hexdigest()[:10]
