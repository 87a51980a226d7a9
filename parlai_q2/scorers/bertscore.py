"""
BERTScore of a response against its knowledge (Zhang et al. 2020, arXiv 1904.09675), one
of the Q2 paper's baselines.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.errors import ConfigError
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.model_files import identified, resolve
from parlai_q2.models.tokens import most_tokens
from parlai_q2.packages import check_package, import_package
from parlai_q2.presets import ModelConfig, Preset, load_preset
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.turns import Example

_PACKAGE = ('bert_score', 'bert-score', 'bertscore', 'The scorer "bertscore"')

ENGLISH = 'en'
# RoBERTa numbers positions from its padding index + 1, so two positions are never used.
UNUSED_POSITIONS = 2


class BertScorer(Scorer):
    """
    BERTScore by the bert-score package, with the knowledge as the reference. Like the
    Q2 paper's code, it reads the knowledge in lower case, and the response as it is.

    The value is the F-measure, clipped to [0, 1]. ``Score.parts`` has ``precision``,
    ``recall`` and ``f1`` as the package computes them; after rescaling they can be
    negative. A text that is too long for the model is truncated at its end.

    If the package has a baseline for the model, as for the paper's, the score of
    unrelated sentences is mapped to 0; it has none for a folder.

    :param num_layers: the layer whose embeddings are compared.
    :param batch_size: texts embedded in one call. With 1, a score does not depend on
        what else is scored, bit for bit; in larger batches the seventh digit may.
    :raises MissingPackageError: if bert-score is not installed.
    """

    name = 'bertscore'
    has_models = True

    def __init__(
        self,
        config: ModelConfig,
        num_layers: int,
        batch_size: int = 1,
        device: str = 'cpu',
        threshold: float = Scorer.threshold,
    ):
        check_package(*_PACKAGE)
        if config.revision:
            raise ConfigError(
                'bert-score cannot fetch a revision of a model. Leave "revision" out, '
                'or name a folder with that revision of the model.'
            )
        super().__init__(threshold)
        self.config, self.model = config, config.model
        self.num_layers, self.batch_size, self.device = num_layers, batch_size, device
        self._loaded = Lazy(self._load)

    @classmethod
    def from_preset(
        cls,
        preset: Preset,
        threshold: float = Scorer.threshold,
        device: str = 'cpu',
        batch_size: Any = None,
    ) -> 'BertScorer':
        """
        The preset's section ``bertscore`` names the model and the layer; if there is no
        such section, those of the preset ``paper`` are used.
        """
        if cls.name not in preset.models:
            preset = load_preset('paper')
        config = preset.model(cls.name)
        settings = dict(config.settings)
        if settings.get('num_layers') is None:
            raise ConfigError(
                f'bertscore of the preset {preset.name!r} must give num_layers: from 1 '
                f'to the number of layers that {config.model!r} has.'
            )
        if batch_size is not None:
            settings['batch_size'] = batch_size
        return cls(config, **settings, device=device, threshold=threshold)

    @property
    def settings(self) -> dict[str, object]:
        return {
            'model': identified(self.config),
            'num_layers': self.num_layers,
            'rescaled': 'yes' if self.rescaled else 'no',
            'idf': 'no',
            'case': 'knowledge_lower',
            'bert_score': version('bert-score'),
            'transformers': version('transformers'),
        }

    @property
    def rescaled(self) -> bool:
        """Whether the baseline is mapped to 0."""
        package = Path(str(import_package(*_PACKAGE).__file__)).parent
        return (package / 'rescale_baseline' / ENGLISH / f'{self.model}.tsv').is_file()

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        if not examples:
            return []
        measures = self._loaded().score(
            [e.response for e in examples],
            [e.knowledge_text.lower() for e in examples],
            batch_size=self.batch_size,
        )
        # The package puts 0 for a NaN among the F-measures, but not among the others.
        if not all(bool(tensor.isfinite().all()) for tensor in measures):
            from parlai_q2.models.backend import not_finite

            raise not_finite(self.model)
        scores = []
        for row in zip(*(tensor.tolist() for tensor in measures), strict=True):
            parts = dict(zip(('precision', 'recall', 'f1'), row, strict=True))
            value = min(1.0, max(0.0, parts['f1']))
            label = label_of(value, self.threshold)
            scores.append(Score(value, label, parts=parts))
        return scores

    def unread(self, example: Example) -> float:
        tokenizer = self._loaded()._tokenizer
        most = tokenizer.model_max_length
        counts = [
            len(tokenizer(text, verbose=False)['input_ids'])
            for text in (example.knowledge_text, example.response)
            if most_tokens(text) > most
        ]
        return float(max(0.0, 1 - most / max(counts, default=most)))

    def _load(self) -> Any:
        from parlai_q2.models.loading import check_words, not_loaded

        package = import_package(*_PACKAGE)
        place = resolve(self.model)
        check_words(self.model)
        try:
            scorer = package.BERTScorer(
                model_type=str(place),
                num_layers=self.num_layers,
                device=self.device,
                lang=ENGLISH,
                rescale_with_baseline=self.rescaled,
            )
        except AssertionError as e:
            # The package asserts nothing but the number of layers.
            raise ConfigError(
                f'num_layers is {self.num_layers}, which {self.model!r} does not have: '
                f'{e}'
            ) from e
        # Tokenizers raise the last two if files are missing.
        except (OSError, ValueError, AttributeError, TypeError) as e:
            raise not_loaded(self.model, place, e) from e
        _limit_length(scorer)
        return scorer


def _limit_length(scorer: Any) -> None:
    """Truncate texts to what the model can read if its tokenizer sets no limit."""
    tokenizer = scorer._tokenizer
    positions = getattr(scorer._model.config, 'max_position_embeddings', None)
    if positions and tokenizer.model_max_length > positions:
        tokenizer.model_max_length = positions - UNUSED_POSITIONS
