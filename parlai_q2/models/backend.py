"""What the backends of models share: settings, batches, and loading on first use."""

from functools import partial
from typing import TYPE_CHECKING, Any, Iterator, Optional

from parlai_q2.models.device import is_cpu
from parlai_q2.models.engine.batching import length_step, padded_batches
from parlai_q2.models.engine.kernels import AUTO, checked, limited_to
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.loading import FLOAT32, effective_arithmetic
from parlai_q2.models.references import identified
from parlai_q2.presets import ModelConfig

if TYPE_CHECKING:
    import torch

    from parlai_q2.models.encoders import PairEncoder


class Backend:
    """
    A model of a preset, loaded when it is first needed.

    :param config: the preset's section.
    :param batch_size: inputs in a call of the model; on a GPU ``gpu_batch_size``, if
        given.
    :param arithmetic: ``int8`` or ``float32``; a GPU always computes in fp32.
    :param kernel: see :mod:`parlai_q2.models.engine.kernels`.
    """

    def __init__(
        self,
        config: ModelConfig,
        device: str = 'cpu',
        batch_size: int = 32,
        gpu_batch_size: Optional[int] = None,
        arithmetic: str = FLOAT32,
        kernel: str = AUTO,
    ):
        self.config, self.device = config, device
        self.batch_size = batch_size
        if gpu_batch_size and not is_cpu(device):
            self.batch_size = gpu_batch_size
        self.kernel = checked(kernel, 'kernel')
        self.arithmetic = effective_arithmetic(arithmetic, device)
        # A loaded model keeps its identity even if the folder's weights change later.
        self.identity = Lazy(partial(identified, config))
        self._loaded: Lazy[Any] = Lazy(self._load)

    def _load(self) -> Any:
        raise NotImplementedError

    def _encoder(self, auto_class: str) -> 'PairEncoder':
        from parlai_q2.models.encoders import load_encoder

        name, revision = self.config.model, self.config.revision
        with limited_to(self.kernel):
            return load_encoder(
                name, auto_class, self.device, revision, self.arithmetic
            )

    def _batches(
        self, tokenizer: Any, encoded: Any
    ) -> tuple[list[list[int]], Iterator[dict[str, 'torch.Tensor']]]:
        step = length_step(self.device)
        return padded_batches(tokenizer, encoded, self.batch_size, step)
