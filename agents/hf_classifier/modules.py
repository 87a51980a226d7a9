"""
A Hugging Face sequence classifier whose outputs are a task's classes.

Shapes: B examples, L tokens, O outputs of the model, C classes.
"""

import math
from typing import Any

import torch
from torch import nn

from parlai_q2.text.class_map import ClassMap

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

    def __init__(self, hf: Any, classes: ClassMap):
        super().__init__()
        self.hf = hf
        self.class_map = classes

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
