"""
Recognises the class names that models and tasks use for four findings.

Knowledge can entail a response, contradict it, or say nothing about its content
(neutral). A response can also state nothing that could be checked (generic). MNLI,
FEVER and VitaminC, FactCC, Dialogue NLI, BEGIN and the annotations of Santhanam et al.
2021 each have their own names for some of these. If a task does not distinguish neutral
from contradicted ("inconsistent", "not fully attributable"), its name counts as
contradiction here, and :mod:`parlai_q2.text.class_map` assigns neutral to it as well.
"""

import re
from types import MappingProxyType
from typing import Mapping, Optional

ENTAILMENT, NEUTRAL = 'entailment', 'neutral'
CONTRADICTION, GENERIC = 'contradiction', 'generic'
FINDINGS = (ENTAILMENT, NEUTRAL, CONTRADICTION, GENERIC)

NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        ENTAILMENT: (
            'entailment',
            'entailed',
            'entail',
            'supports',
            'supported',
            'correct',
            'consistent',
            'factually consistent',
            'fully attributable',
            'attributable',
            'positive',
        ),
        NEUTRAL: ('neutral', 'not enough info', 'nei', 'unsupported'),
        CONTRADICTION: (
            'contradiction',
            'contradicted',
            'contradict',
            'refutes',
            'refuted',
            'incorrect',
            'inconsistent',
            'factually inconsistent',
            'not fully attributable',
            'not attributable',
            'hallucinated',
            'hallucination',
            'negative',
        ),
        GENERIC: ('generic', 'not verifiable', 'non verifiable', 'chit chat'),
    }
)
_FINDING_OF = {name: finding for finding, names in NAMES.items() for name in names}
# The names that transformers gives to classes without one.
_UNNAMED = re.compile(r'label_\d+')


def finding_of(name: str) -> Optional[str]:
    """
    The finding that a class name stands for.

    :param name: in any case, words separated by spaces, hyphens or underscores.
    :return: one of :data:`FINDINGS`; None for an unknown name.
    """
    return _FINDING_OF.get(plain(name))


def plain(name: str) -> str:
    """A name in lower case, with single spaces between its words."""
    return ' '.join(re.split(r'[\s_-]+', name.lower().strip()))


def is_unnamed(name: str) -> bool:
    """
    Whether a name is a default such as ``LABEL_0``, given to a class without a name.
    """
    return _UNNAMED.fullmatch(name.lower()) is not None
