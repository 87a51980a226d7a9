"""
The experiment's settings, from a YAML file; settings that it leaves out have defaults.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Optional

import yaml

from parlai_q2.errors import ConfigError, UnknownNameError

DEFAULTS = Path(__file__).with_name('settings.yaml')
KINDS = ('entity', 'number', 'sentence')
UNFILTERED, RANDOM, FILTERED = 'unfiltered', 'random', 'filtered'
CONTROL, CLEAN = 'control', 'clean'
CONDITIONS = (UNFILTERED, RANDOM, FILTERED, CONTROL, CLEAN)


@dataclass(frozen=True)
class Settings:
    """
    What determines the figures; ``settings.yaml`` explains each setting.

    :raises ConfigError: for values out of range.
    """

    turns: int
    held_out: int
    contexts: int
    knowledge_words: int
    reply_words: int
    text_words: int
    rate: float
    kinds: tuple[str, ...]
    data_seed: int
    scorer: str
    compared: tuple[str, ...]
    compared_turns: int
    judges: tuple[str, ...]
    conditions: tuple[str, ...]
    seeds: tuple[int, ...]
    base: str
    rank: int
    steps: int
    batch_size: int
    learning_rate: float
    top_p: float
    reply_tokens: int
    rounds: int

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(f'rate must be between 0 and 1, not {self.rate}.')
        for name, given, known in (
            ('kind of injection', self.kinds, KINDS),
            ('condition', self.conditions, CONDITIONS),
        ):
            for word in given:
                if word not in known:
                    raise UnknownNameError(name, word, known)
        if not 0 < self.contexts <= self.held_out:
            raise ConfigError(
                f'contexts must be from 1 to held_out, which is {self.held_out}; '
                f'it is {self.contexts}.'
            )
        if UNFILTERED not in self.conditions:
            raise ConfigError(
                f'conditions must include {UNFILTERED}, which all the others are '
                'compared with.'
            )

    def to_dict(self) -> dict[str, Any]:
        """
        JSON-safe values.
        """
        said = asdict(self).items()
        return {k: list(v) if isinstance(v, tuple) else v for k, v in said}


def read_settings(path: Optional[Path] = None) -> Settings:
    """
    Read the settings from a file.

    :param path: a YAML file; None for the defaults.
    :raises ConfigError: when the file cannot be read, or a value is not valid.
    :raises UnknownNameError: for an unknown setting.
    """
    found = _read(DEFAULTS)
    names = [field.name for field in fields(Settings)]
    for name, value in (_read(path) if path else {}).items():
        if name not in names:
            raise UnknownNameError('setting', str(name), names)
        if not isinstance(value, type(found[name])):
            raise ConfigError(
                f'{path}: {name} must be of the same type as {found[name]!r}, not '
                f'{value!r}.'
            )
        found[name] = value
    given: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in found.items()
    }
    return Settings(**given)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding='utf-8')) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as e:
        raise ConfigError(f'Cannot read the settings {path}: {e}') from e
    if not isinstance(found, dict):
        raise ConfigError(f'{path} must contain names and values, not {found!r}.')
    return found
