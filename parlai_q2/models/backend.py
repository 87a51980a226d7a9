"""The common base of model backends: settings, the engine, and loading on first use."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.converted.binary import ENCODER
from parlai_q2.models.converted.engine import (
    ComputeType,
    ConvertedEncoder,
    can_use,
    effective_type,
)
from parlai_q2.models.converted.reader import (
    read_model,
    stored_folder,
    tokenizer_folder,
)
from parlai_q2.models.device import check_device, is_cpu
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.model_files import identified
from parlai_q2.models.tokens import Tokens, read_tokens
from parlai_q2.options import Word
from parlai_q2.presets import ModelConfig

if TYPE_CHECKING:
    from parlai_q2.models.hugging_face import HuggingFaceEncoder

    Encoder = ConvertedEncoder | HuggingFaceEncoder
else:
    Encoder = Any


class Engine(Word):
    """The libraries that run models."""

    AUTO = 'auto'  # the first engine that can run the model
    CTRANSLATE2 = 'ctranslate2'
    TRANSFORMERS = 'transformers'


class Backend:
    """
    A model of a preset, loaded when it is first needed.

    :param config: the preset's section.
    :param batch_size: inputs in a call of the model; on a GPU ``gpu_batch_size``, if
        given.
    :param engine: ``ctranslate2`` or ``transformers``; ``auto`` is CTranslate2 for the
        models that it can run, on a device that it can use.
    :param compute_type: the type in which CTranslate2 computes: ``int8``, ``float16``
        (on a GPU) or ``float32``; ``auto`` is int8 on a CPU that supports it, and
        :attr:`gpu_type` on a GPU. transformers computes in fp32.
    """

    gpu_type: str = ComputeType.FLOAT16

    def __init__(
        self,
        config: ModelConfig,
        device: str = 'cpu',
        batch_size: int = 32,
        gpu_batch_size: int | None = None,
        engine: str = Engine.AUTO,
        compute_type: str = ComputeType.AUTO,
    ):
        self.config, self.device = config, device
        self.batch_size = batch_size
        if gpu_batch_size and not is_cpu(device):
            self.batch_size = gpu_batch_size
        Engine.check('engine', engine)
        ComputeType.check('compute_type', compute_type)
        self.asked, self.compute_type = engine, compute_type
        # A loaded model keeps its identity even if the folder's weights change later.
        self.identity = Lazy(partial(identified, config))
        self._loaded: Lazy[Any] = Lazy(self._load)

    def share(self, other: 'Backend') -> None:
        """Share the model that another backend of this class loads, or has loaded."""
        for name, value in vars(other).items():
            if isinstance(value, Lazy):
                setattr(self, name, value)

    @property
    def engine(self) -> str:
        """
        The library that runs the model, its numeric type, and the kind of device if
        that is not the CPU: ``ctranslate2-int8``, ``transformers-float32-cuda``.
        """
        label = f'{Engine.TRANSFORMERS}-{ComputeType.FLOAT32}'
        if self.folder:
            label = f'{Engine.CTRANSLATE2}-{self.effective_type}'
        return label if is_cpu(self.device) else f'{label}-{self.device.split(":")[0]}'

    @property
    def effective_type(self) -> str:
        """The numeric type in which CTranslate2 computes."""
        return effective_type(self.compute_type, self.device, self.gpu_type)

    @property
    def folder(self) -> Path | None:
        """The folder of the model if CTranslate2 runs it, else None."""
        folder = stored_folder(self.config.model)
        if self.asked == Engine.CTRANSLATE2 and folder is None:
            raise ConfigError(
                f'CTranslate2 cannot run {self.config.model!r}: it is no folder that '
                'ct2-transformers-converter wrote.'
            )
        is_wanted = self.asked == Engine.CTRANSLATE2 or (
            self.asked == Engine.AUTO and folder is not None and can_use(self.device)
        )
        return folder if is_wanted else None

    def _load(self) -> Any:
        raise NotImplementedError

    def _tokens(self) -> Tokens:
        """The tokenizer, without loading the model."""
        if folder := self.folder:
            return read_tokens(tokenizer_folder(folder))
        from parlai_q2.models.loading import load_tokenizer

        check_device(self.device)
        name = self.config.model
        tokenizer = load_tokenizer(name, self.config.revision)
        return Tokens.of_transformers(tokenizer, name)

    def _open_encoder(self, auto_class: str) -> 'Encoder':
        """
        Load an encoder.

        :param auto_class: the name of a class of transformers, such as
            ``AutoModelForQuestionAnswering``.
        """
        if folder := self.folder:
            return ConvertedEncoder(
                read_model(folder, ENCODER),
                self.device,
                self.effective_type,
                self.batch_size,
            )
        from parlai_q2.models.hugging_face import HuggingFaceEncoder

        return HuggingFaceEncoder(self.config, auto_class, self.device, self.batch_size)


def not_finite(model: str) -> ModelError:
    """The error for a model whose results are not finite."""
    return ModelError(
        f'{model} computes values that are not numbers (NaN or infinity). Its weights '
        'are damaged; fetch or train the model again.'
    )
