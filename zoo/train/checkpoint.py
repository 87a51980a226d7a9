"""
What a training run needs to resume: one file in the output folder, always replaced as a
whole, with trained weights, optimizer, torch's random state, the log, and what
identifies the run. It is read with torch's ``weights_only``, which runs no code.
"""

from pathlib import Path
from typing import Any, NamedTuple, Union

import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import drop_unfinished, whole_file
from parlai_q2.models.references import ENDINGS, resolve

NAME = 'checkpoint.pt'


class State(NamedTuple):
    """Finished steps, the log, the losses since its last line, the seconds spent."""

    step: int
    log: list[dict[str, Any]]
    recent: list[float]
    seconds: float


class Checkpoint:
    """
    The checkpoint of one run.

    :param folder: the output folder; it is created.
    :param settings: what identifies the run, JSON-safe. A checkpoint with other
        settings is refused.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]):
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.settings = folder / NAME, settings

    def write(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: State
    ) -> None:
        """Save a run's state over the previous one."""
        cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
        saved = {
            'settings': self.settings,
            'weights': _trained(model),
            'optimizer': optimizer.state_dict(),
            'random': torch.get_rng_state(),
            'random_cuda': cuda,
            **state._asdict(),
        }
        with whole_file(self.path) as unfinished:
            torch.save(saved, unfinished)

    def read(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, device: str
    ) -> State:
        """
        Restore a model and an optimizer to the saved state; step 0 where nothing was
        saved.

        :raises ConfigError: when a run with other settings saved the checkpoint.
        :raises ModelError: when the checkpoint cannot be read.
        """
        if not self.path.exists():
            return State(0, [], [], 0.0)
        try:
            saved = torch.load(self.path, map_location=device, weights_only=True)
        except Exception as e:
            raise ModelError(
                f'Cannot read the checkpoint {self.path}: {e}. Delete it to start over.'
            ) from e
        if saved['settings'] != self.settings:
            changed = sorted(
                name
                for name in {**saved['settings'], **self.settings}
                if saved['settings'].get(name) != self.settings.get(name)
            )
            raise ConfigError(
                f'{self.path} belongs to a run with another {", ".join(changed)}. '
                'Give the same settings to continue that run, or delete the file '
                'to start over.'
            )
        model.load_state_dict(saved['weights'], strict=False)
        optimizer.load_state_dict(saved['optimizer'])
        torch.set_rng_state(saved['random'].cpu())
        if saved['random_cuda'] is not None:
            torch.cuda.set_rng_state(saved['random_cuda'].cpu())
        return State(*(saved[name] for name in State._fields))


def drop_checkpoint(folder: Path) -> None:
    """Delete a folder's checkpoint, once everything made from its run is written."""
    path = folder / NAME
    path.unlink(missing_ok=True)
    drop_unfinished(path)


def _trained(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {n: p.data for n, p in model.named_parameters() if p.requires_grad}


def model_identity(reference: str) -> Union[str, dict[str, str]]:
    """The SHA-256 of each of an initial model's files; a hub model's name."""
    place = resolve(reference)
    if not isinstance(place, Path):
        return reference
    return {
        path.name: file_sha256(path)
        for path in sorted(place.iterdir())
        if path.suffix in ENDINGS and path.is_file()
    }


def check_apart(written: Path, source: Union[Path, str]) -> None:
    """Raise ConfigError where a run would overwrite the folder that it starts from."""
    if isinstance(source, Path) and source.resolve() == written.resolve():
        raise ConfigError(
            f'Training starts from {source}, which would be overwritten. Choose '
            'another --outdir.'
        )
