"""
Creates scorers from presets. Scorers that use the same model with the same device and
settings share it: it is loaded only once, even if their batch sizes differ.
"""

from typing import Any, Optional

from parlai_q2.errors import ConfigError
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.models.references import identified
from parlai_q2.presets import ModelConfig, Preset
from parlai_q2.presets.preset import overlaid
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.scorers.bertscore import DEFAULT_MODEL, BertScorer
from parlai_q2.scorers.bleu import BleuScorer
from parlai_q2.scorers.consistency import ConsistencyScorer, Pooling
from parlai_q2.scorers.grounded import GroundedScorer
from parlai_q2.scorers.nli import NliScorer
from parlai_q2.scorers.overlap import (
    ContentOverlapScorer,
    OverlapScorer,
    RougeLScorer,
)
from parlai_q2.scorers.q2 import CHUNK, Q2Scorer

BERTSCORE, DETECTOR = 'bertscore', 'detector'
BATCH_SIZES = ('batch_size', 'gpu_batch_size')

# The first of all backends that differ only in batch size; the others share its model.
_BACKENDS: dict[tuple[str, str], Any] = {}


def _backend(kind: type, preset: Preset, section: str, **options: Any) -> Any:
    config = preset.model(section)
    asked_for = {k: v for k, v in options.items() if v is not None}
    settings = overlaid(config.settings, asked_for)
    for name in BATCH_SIZES:
        size = settings.get(name, 1)
        if not isinstance(size, int) or size < 1:
            raise ConfigError(
                f'{section} of the preset {preset.name!r} has a {name} of '
                f'{size!r}; it must be a whole number of at least 1.'
            )
    role = {'role': section} if section == DETECTOR else {}
    made = kind(config, **settings, **role)
    for name in BATCH_SIZES:
        settings.pop(name, None)
    key = (kind.__name__, repr((identified(config), sorted(settings.items()))))
    share_loaded(made, _BACKENDS.setdefault(key, made))
    return made


def share_loaded(backend: Any, other: Any) -> None:
    """
    Let a backend share the model that another has loaded or will load.

    :param backend: changed in place; it keeps its own settings.
    :param other: a backend of the same class, model, device and arithmetic.
    """
    for name, value in vars(other).items():
        if isinstance(value, Lazy):
            setattr(backend, name, value)


def forget_backends() -> None:
    """
    Stop sharing loaded models with later scorers; existing scorers keep theirs.
    """
    _BACKENDS.clear()


def make_q2(
    preset: Preset,
    threshold: Optional[float] = None,
    decoding: str = 'beam',
    device: str = 'cpu',
    batch_size: Any = None,
    **q2_settings: Any,
) -> Q2Scorer:
    """
    Q2. Its options are ``decoding`` and those of
    :class:`~parlai_q2.q2.settings.Q2Settings`.
    """
    shared = {'device': device, 'batch_size': batch_size}
    generator = _backend(
        Seq2SeqQuestionGenerator,
        preset,
        'question_generation',
        decoding=decoding,
        **shared,
    )
    models = Q2Models(
        generator,
        _backend(SpanQuestionAnswerer, preset, 'question_answering', **shared),
        _backend(SequenceNliModel, preset, 'nli', **shared),
    )
    settings = Q2Settings(**{**preset.q2, **q2_settings})
    at_once = max(CHUNK, generator.batch_size)
    return Q2Scorer(models, settings, preset.name, threshold, at_once)


def make_q2_f1(preset: Preset, **options: Any) -> Q2Scorer:
    """
    Q2 without NLI: answers are compared by token F1 alone.
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
    **pooling: Any,
) -> ConsistencyScorer:
    """
    The consistency detector. Its options are those of
    :class:`~parlai_q2.scorers.consistency.Pooling`.
    """
    model = _backend(
        SequenceNliModel, preset, DETECTOR, device=device, batch_size=batch_size
    )
    return ConsistencyScorer(model, preset.name, threshold, Pooling(**pooling))


def make_grounded(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    device: str = 'cpu',
    batch_size: Any = None,
    coefficients: Optional[str] = None,
    **q2_options: Any,
) -> GroundedScorer:
    """
    The calibrated combination of Q2, the detector and word overlap. Its options are
    those of :func:`make_q2` and ``coefficients``, a file to use instead of the shipped
    coefficients.
    """
    shared = {'device': device, 'batch_size': batch_size}
    return GroundedScorer(
        _backend(SequenceNliModel, preset, DETECTOR, **shared),
        make_q2(preset, **shared, **q2_options),
        preset.name,
        threshold,
        coefficients,
    )


def make_grounded_fast(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    device: str = 'cpu',
    batch_size: Any = None,
    coefficients: Optional[str] = None,
) -> GroundedScorer:
    """
    As :func:`make_grounded`, but without Q2: faster, with no questions as evidence.
    """
    model = _backend(
        SequenceNliModel, preset, DETECTOR, device=device, batch_size=batch_size
    )
    return GroundedScorer(model, None, preset.name, threshold, coefficients)


def make_overlap(preset: Preset, threshold: float = DEFAULT_THRESHOLD) -> OverlapScorer:
    """
    Token F1 of response and knowledge.
    """
    return OverlapScorer('f1', threshold)


def make_precision(
    preset: Preset, threshold: float = DEFAULT_THRESHOLD
) -> OverlapScorer:
    """
    The share of the response's words that occur in the knowledge.
    """
    return OverlapScorer('precision', threshold)


def make_content_overlap(
    preset: Preset, threshold: float = DEFAULT_THRESHOLD
) -> ContentOverlapScorer:
    """
    F1 of the content words of response and knowledge: the paper's "Overlap".
    """
    return ContentOverlapScorer('f1', threshold)


def make_rouge_l(preset: Preset, threshold: float = DEFAULT_THRESHOLD) -> RougeLScorer:
    """
    ROUGE-L.
    """
    return RougeLScorer('f1', threshold)


def make_bleu(
    preset: Preset, threshold: float = DEFAULT_THRESHOLD, **options: Any
) -> BleuScorer:
    """
    Sentence BLEU. Its options are those of :class:`~parlai_q2.scorers.bleu.BleuScorer`.
    """
    return BleuScorer(threshold, **options)


def make_bertscore(
    preset: Preset,
    threshold: float = DEFAULT_THRESHOLD,
    model: Optional[str] = None,
    device: str = 'cpu',
    batch_size: Any = None,
    **options: Any,
) -> BertScorer:
    """
    BERTScore. Its options are those of
    :class:`~parlai_q2.scorers.bertscore.BertScorer` and ``model``, which replaces the
    preset's section ``bertscore``. If neither is given, the model is roberta-large.
    """
    settings: dict[str, Any] = {}
    if model is not None:
        config = ModelConfig(model)
    elif BERTSCORE in preset.models:
        config = preset.model(BERTSCORE)
        settings.update(config.settings)
    else:
        config = ModelConfig(DEFAULT_MODEL)
    if batch_size is not None:
        options['batch_size'] = batch_size
    return BertScorer(
        config, **{**settings, **options}, device=device, threshold=threshold
    )
