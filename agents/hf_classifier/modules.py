"""
A Hugging Face sequence classifier whose outputs are a task's classes, and its loading.

Shapes: B examples, L tokens, O outputs of the model, C classes.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from parlai_q2.models.loading import NO_CODE, load_model
from parlai_q2.models.nli import Head, check_labels, find_labels, output_names
from parlai_q2.options import Options
from parlai_q2.parlai.model_files import saved_folder
from parlai_q2.presets import ModelConfig
from parlai_q2.text.class_map import ClassMap, is_unnamed

# The log probability of a class that no output counts towards. It is finite, so that
# the loss of an evaluation stays a number.
NEVER = math.log(1e-6)


class HfClassifierModel(nn.Module):
    """
    Scores each class by the outputs that count towards it. In evaluation the likeliest
    of them counts, so that the class of the likeliest output is answered: the papers
    take the most likely of three classes before they merge two (Santhanam et al. 2021).
    In training their probabilities are added up, so that all of them learn. Where each
    output is a class of its own, the scores are the model's logits.
    """

    def __init__(self, hf: nn.Module, classes: ClassMap):
        super().__init__()
        self.hf, self.class_map = hf, classes

    def forward(
        self,
        tokens: torch.Tensor,
        mask: torch.Tensor,
        segments: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """
        :param tokens: [B, L], padded on the right.
        :param mask: [B, L], 1 for tokens and 0 for padding.
        :param segments: [B, L], the text that each token belongs to; None for models
            without segments.
        :return: scores [B, C]; their softmax gives the probabilities of the classes.
        """
        inputs = {'input_ids': tokens, 'attention_mask': mask}
        if segments is not None:
            inputs['token_type_ids'] = segments
        logits: torch.Tensor = self.hf(**inputs).logits.float()  # [B, O]
        if self.class_map.members == tuple((i,) for i in range(logits.shape[1])):
            return logits
        outputs = logits.log_softmax(-1)
        never = torch.full_like(outputs[:, 0], NEVER)
        merge = torch.logsumexp if self.training else torch.amax
        columns = [
            merge(outputs[:, list(members)], -1) if members else never
            for members in self.class_map.members
        ]
        return torch.stack(columns, -1)  # [B, C]


def load_network(
    opt: Options, config: ModelConfig, classes: Sequence[str]
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
            **name_outputs(classes),
        )
    else:
        labels = config.settings.get('labels')
        if labels is not None:
            check_labels(labels)
        model = load_model(
            config.model, AutoModelForSequenceClassification, revision=config.revision
        )
        fields = model.config.to_dict()
        indices = find_labels(labels, fields, config.model)
        names = output_names(fields)
        for label, index in indices.items():
            names[index] = label
        model.config.update(name_outputs(names))
    names = output_names(model.config.to_dict())
    outputs = [None if is_unnamed(name) else name for name in names]
    return model.float().requires_grad_(True), outputs


def name_outputs(names: Sequence[str]) -> dict[str, Any]:
    """The names of outputs in the form of a Hugging Face configuration."""
    return {
        'num_labels': len(names),
        'id2label': dict(enumerate(names)),
        'label2id': {name: index for index, name in enumerate(names)},
    }
