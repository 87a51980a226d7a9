"""Presets: YAML files that choose the models for scoring and how they decode."""

from parlai_q2.presets.preset import ModelConfig, Preset, load_preset, preset_names

__all__ = ['ModelConfig', 'Preset', 'load_preset', 'preset_names']
