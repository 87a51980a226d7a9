"""
Loads and saves a classifier's weights, configuration and tokenizer.

The folder beside a trained model (see :mod:`parlai_q2.parlai.model_files`) is a
complete Hugging Face model with ``classifier.yaml``, which says how pairs are read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.agents.hf_classifier.options import CLASSIFIER_FILE, classifier_text
from parlai_q2.models.loading import NO_CODE, load_model, load_tokenizer
from parlai_q2.models.nli import (
    Head,
    PairInput,
    check_labels,
    find_labels,
    output_names,
)
from parlai_q2.parlai.model_files import SUFFIX, saved_folder
from parlai_q2.presets import ModelConfig
from parlai_q2.text.class_map import is_unnamed


def load_network(
    opt: Mapping[str, Any], config: ModelConfig, classes: Sequence[str]
) -> tuple[Any, list[str | None]]:
    """
    Load the Hugging Face model, ready for training, and the names of its outputs.

    :param classes: the names of a new head's outputs.
    :return: a sequence classifier in fp32, with random weights where ParlAI will read
        them from a model file; and a name for each output, None for one to leave out.
    :raises ConfigError: when nothing says what its outputs mean.
    """
    from transformers import AutoConfig, AutoModelForSequenceClassification

    folder = saved_folder(opt)
    if folder is not None:
        model = AutoModelForSequenceClassification.from_config(
            AutoConfig.from_pretrained(folder, **NO_CODE)
        )
    elif config.settings.get('head', Head.TRAINED) == Head.NEW:
        model = load_model(
            config.model,
            AutoModelForSequenceClassification,
            revision=config.revision,
            ignore_mismatched_sizes=True,
            **names_of(classes),
        )
    else:
        labels = config.settings.get('labels')
        if labels is not None:
            check_labels(labels)
        model = load_model(
            config.model, AutoModelForSequenceClassification, revision=config.revision
        )
        indices = find_labels(labels, model.config, config.model)
        names = output_names(model.config)
        for label, index in indices.items():
            names[index] = label
        model.config.update(names_of(names))
    outputs = [
        None if is_unnamed(name) else name for name in output_names(model.config)
    ]
    return model.float().requires_grad_(True), outputs


def load_hf_tokenizer(opt: Mapping[str, Any], config: ModelConfig) -> Any:
    folder = saved_folder(opt)
    if folder is not None:
        return load_tokenizer(str(folder))
    return load_tokenizer(config.model, config.revision)


def longest_input(model: Any, tokenizer: Any) -> int:
    """
    The number of tokens a model can read, special tokens included.

    RoBERTa has positions that it does not use; its tokenizer knows the right number.
    """
    positions = getattr(model.config, 'max_position_embeddings', None)
    return int(min(filter(None, (positions, tokenizer.model_max_length))))


def save_folder(model_file: str, model: Any, tokenizer: Any, form: PairInput) -> None:
    folder = Path(model_file + SUFFIX)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    text = classifier_text(Path(model_file).name, folder, form)
    (folder / CLASSIFIER_FILE).write_text(text, encoding='utf-8')


def names_of(names: Sequence[str]) -> dict[str, Any]:
    """The names of outputs in the form of a Hugging Face configuration."""
    return {
        'num_labels': len(names),
        'id2label': dict(enumerate(names)),
        'label2id': {name: index for index, name in enumerate(names)},
    }
