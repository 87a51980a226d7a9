"""
Q2 in other settings, for the comparisons of Tables 8 and 9 of Honovich et al. 2021.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from parlai_q2.presets import Preset, load_preset
from parlai_q2.scorers import Scorer, load_scorer


class Variant(NamedTuple):
    """
    One setting of Q2.

    :param name: names the difference from Q2 as published.
    :param options: options of the scorer.
    :param question_generation: settings that replace those of the preset's question
        generation.
    """

    name: str
    options: dict[str, Any] = {}
    question_generation: dict[str, Any] = {}


# "-top-n" and "-filter personal" are the paper's ablations. Fewer beams stand in for
# the cheaper models of its Table 8, whose weights do not ship. To evaluate smaller
# models, name their preset as a scorer of its own: q2@PRESET.
VARIANTS = (
    Variant('beam 2', question_generation={'num_beams': 2, 'num_questions': 2}),
    Variant('greedy questions (-top-n)', {'decoding': 'greedy'}),
    Variant('personal questions kept', {'personal_filter': False}),
    Variant('all valid questions (multi)', {'variant': 'multi'}),
)


def load_variant(variant: Variant, preset: str, **options: Any) -> Scorer:
    """
    Build Q2 in one setting; its models are loaded when it first scores.

    :param variant: the setting.
    :param preset: the preset that it changes.
    :param options: options that every scorer takes, such as ``device``.
    """
    loaded: Preset = load_preset(preset)
    if variant.question_generation:
        generation = loaded.model('question_generation')
        settings = {**generation.settings, **variant.question_generation}
        models = {
            **loaded.models,
            'question_generation': replace(generation, settings=settings),
        }
        loaded = replace(loaded, models=models)
    return load_scorer('q2', loaded, **variant.options, **options)
