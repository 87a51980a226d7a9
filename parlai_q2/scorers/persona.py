"""
Q2 for consistency with a persona (Honovich et al. 2021, the set-up of Table 6).

Persona sentences are about the speakers, so the filter of personal questions is off. An
utterance says more than its persona does, so little support is enough: a response is
inconsistent up to a score of 0.1, which goes with the paper's hard verdicts. A neutral
end-to-end verdict counts as inconsistent, as neutral pairs do::

    scorer = load_scorer('q2', **Q2_OPTIONS)
"""

from dataclasses import replace
from typing import Any, Mapping, Union

from parlai_q2.presets import Preset, load_preset
from parlai_q2.scorers.registry import DEFAULT_PRESET

THRESHOLD = 0.1
SETTINGS = {'personal_filter': False, 'neutral_fallback': 0.0, 'soft_nli': False}
# Options of load_scorer for q2 and q2_f1.
Q2_OPTIONS = {'threshold': THRESHOLD, **SETTINGS}
SCORERS = ('q2', 'q2_f1')


def persona_preset(preset: Union[str, Preset]) -> Preset:
    """
    A preset with Q2's settings for personas.

    :param preset: its name or path, or a preset.
    :return: the same models; the settings of the metric are those of this set.
    """
    found = load_preset(preset) if isinstance(preset, str) else preset
    return replace(found, q2={**found.q2, **SETTINGS})


def scorer_options(opt: Mapping[str, Any]) -> dict[str, Any]:
    """
    What is other in ParlAI options for this set.

    :param opt: the options of a teacher.
    :return: options in their places; none where the scorer is no Q2. A threshold that
        the user gave stays.
    """
    if opt.get('scorer', SCORERS[0]) not in SCORERS:
        return {}
    changed: dict[str, Any] = {
        'preset': persona_preset(opt.get('preset', DEFAULT_PRESET))
    }
    if opt.get('scorer_threshold') is None:
        changed['scorer_threshold'] = THRESHOLD
    return changed
