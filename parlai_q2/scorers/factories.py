"""
Makes scorers from presets. Model backends are made once for each model and device, so
that two scorers that use one model share it.
"""

from typing import Any

from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import Preset
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.scorers.nli import ConsistencyScorer, NliScorer
from parlai_q2.scorers.overlap import OverlapScorer
from parlai_q2.scorers.q2 import Q2Scorer

_BACKENDS: dict[tuple[str, str], Any] = {}


def _backend(kind: type, preset: Preset, section: str, **options: Any) -> Any:
    config = preset.model(section)
    settings = {
        **config.settings,
        **{k: v for k, v in options.items() if v is not None},
    }
    key = (kind.__name__, repr((config.reference, sorted(settings.items()))))
    if key not in _BACKENDS:
        _BACKENDS[key] = kind(config, **settings)
    return _BACKENDS[key]


def make_q2(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    decoding: str = 'beam',
    device: str = 'cpu',
    batch_size: Any = None,
    **q2_settings: Any,
) -> Q2Scorer:
    """
    Q2. Options are those of :class:`~parlai_q2.q2.settings.Q2Settings`, and
    ``decoding``.
    """
    shared = {'device': device, 'batch_size': batch_size}
    models = Q2Models(
        _backend(
            Seq2SeqQuestionGenerator,
            preset,
            'question_generation',
            decoding=decoding,
            **shared,
        ),
        _backend(SpanQuestionAnswerer, preset, 'question_answering', **shared),
        _backend(SequenceNliModel, preset, 'nli', **shared),
    )
    settings = Q2Settings(**{**preset.q2, **q2_settings})
    return Q2Scorer(models, settings, preset.name, threshold)


def make_q2_f1(preset: Preset, **options: Any) -> Q2Scorer:
    """
    Q2 with answers compared by token F1 alone.
    """
    return make_q2(preset, use_nli=False, **options)


def make_nli(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    device: str = 'cpu',
    batch_size: Any = None,
) -> NliScorer:
    """
    End-to-end NLI.
    """
    model = _backend(
        SequenceNliModel, preset, 'nli', device=device, batch_size=batch_size
    )
    return NliScorer(model, preset.name, threshold)


def make_consistency(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    device: str = 'cpu',
    batch_size: Any = None,
) -> ConsistencyScorer:
    """
    The consistency detector.
    """
    model = _backend(
        SequenceNliModel, preset, 'consistency', device=device, batch_size=batch_size
    )
    return ConsistencyScorer(model, preset.name, threshold)


def make_overlap(preset: Preset, threshold: float = DEFAULT_THRESHOLD) -> OverlapScorer:
    """
    Token F1 of response and knowledge.
    """
    return OverlapScorer('f1', threshold)


def make_precision(
    preset: Preset, threshold: float = DEFAULT_THRESHOLD
) -> OverlapScorer:
    """
    The share of the response's words that the knowledge has.
    """
    return OverlapScorer('precision', threshold)
