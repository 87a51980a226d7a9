"""
Q2 for consistency with a persona (Honovich et al. 2021, the set-up of Table 6).

Persona sentences are about the speakers, so the personal filter is off. An utterance
says more than the persona does, so little support is enough: a response is inconsistent
if its score is at most 0.1. This threshold is for the paper's hard verdicts. A neutral
end-to-end verdict counts as inconsistent, because neutral pairs do::

    scorer = load_scorer('q2', **Q2_OPTIONS)
"""

from dataclasses import replace
from typing import Any

from parlai_q2.options import Options
from parlai_q2.presets import as_preset
from parlai_q2.scorers.registry import DEFAULT_PRESET

THRESHOLD = 0.1
SETTINGS = {
    'personal_filter': False,
    'neutral_fallback': 0.0,
    'soft_nli': False,
    'in_context': False,
}
# Options to pass to load_scorer for q2 and q2_f1.
Q2_OPTIONS = {'threshold': THRESHOLD, **SETTINGS}
SCORERS = ('q2', 'q2_f1')


def scorer_options(opt: Options) -> dict[str, Any]:
    """
    The options of a teacher to change for persona data; none if the scorer is not Q2. A
    threshold that the user gave is not changed.
    """
    if (opt.get('measure') or SCORERS[0]) not in SCORERS:
        return {}
    preset = opt.get('measure_preset') or opt.get('preset', DEFAULT_PRESET)
    loaded = as_preset(preset)
    changed: dict[str, Any] = {
        'measure_preset': replace(loaded, q2={**loaded.q2, **SETTINGS})
    }
    if opt.get('measure_threshold') is None:
        changed['measure_threshold'] = THRESHOLD
    return changed
