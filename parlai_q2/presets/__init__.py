"""
Presets: which models score, and how they decode, as YAML files.
"""

from parlai_q2.presets.preset import ModelConfig, Preset, load_preset, preset_names

__all__ = ['ModelConfig', 'Preset', 'load_preset', 'preset_names']
