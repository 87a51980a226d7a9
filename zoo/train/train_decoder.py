"""
Trains a short decoder for a question generator, in place of its own: word-level
distillation (Kim and Rush 2016, arXiv 1606.07947), on questions that people wrote and,
as in their sequence-level distillation, on those that the teacher itself writes
(:mod:`parlai_q2.zoo.train.question_rows`).

The student starts from some of the teacher's layers (Shleifer and Rush 2020, arXiv
2010.13002) and keeps its encoder, embeddings and output layer, which stay unchanged.
It learns the teacher's distribution over the next token, and the last hidden states.
"""

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import torch
from torch.nn import functional as F

from parlai_q2.errors import ConfigError
from parlai_q2.io.write import write_text
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.base import said_of
from parlai_q2.models.converted.from_decoder import DECODER, WEIGHTS, decoder_of
from parlai_q2.models.converted.layout import t5
from parlai_q2.models.folder import CHECKSUMS, write_checksums
from parlai_q2.models.int8_weights import stored_form
from parlai_q2.zoo.train.data import moved
from parlai_q2.zoo.train.train_seq2seq import VALID_BATCH, TextJob

# Of the tokens of a batch, the share whose distributions are compared: these cost as
# much as the decoder.
SHARE = 0.35
# A token is kept if questions and their texts have it so often, or it is one character.
LEAST = 3
# Of the decoder, what is the teacher's.
SHARED = 'decoder.embed_tokens.'


class DecoderJob(TextJob):
    """
    Trains a decoder of some of the layers of another.

    :param layers: those that it starts from, by their numbers from 0; the first, which
        has the bias for distances, must be among them.
    :param max_prompt: the most tokens of a prompt, and ``max_output`` of a question.
    """

    def __init__(
        self,
        tokenizer: Any,
        layers: Sequence[int] = (0, 3, 7),
        max_prompt: int = 160,
        max_output: int = 40,
    ):
        super().__init__(tokenizer, max_prompt=max_prompt, max_output=max_output)
        if not layers or layers[0] != 0 or list(layers) != sorted(set(layers)):
            raise ConfigError(f'layers must rise from 0, not {list(layers)}.')
        self.layers = layers

    def student(self, model: Any, rows: Sequence[dict[str, Any]]) -> Any:
        """
        The model with a short decoder; its own is the teacher.

        :param rows: what is trained on, whose tokens the decoder can write.
        """
        if max(self.layers) >= len(model.decoder.block):
            raise ConfigError(f'The decoder has {len(model.decoder.block)} layers.')
        self.kept = torch.tensor(kept_tokens(self.tokenizer, rows))
        self.teacher = copy.deepcopy(model.decoder).eval().requires_grad_(False)
        model.requires_grad_(False)
        chosen = [model.decoder.block[n] for n in self.layers]
        for n, block in enumerate(chosen):
            for attention in block.layer[:2]:  # their places in a cache
                inner = getattr(attention, 'SelfAttention', None)
                (inner or attention.EncDecAttention).layer_idx = n
        model.decoder.block = torch.nn.ModuleList(chosen)
        model.config.num_decoder_layers = len(chosen)
        model.decoder.config.num_layers = len(chosen)
        model.decoder.requires_grad_(True)
        model.decoder.embed_tokens.requires_grad_(False)
        return model

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        """
        The mean divergence from the teacher's distributions, in nats, and the squared
        distance of hidden states as a share of the teacher's length.
        """
        told, said = self._states(model, tensors)
        some = torch.randperm(len(told))[: max(1, int(len(told) * SHARE))]
        distance = ((told - said) ** 2).sum(-1).mean() / (told**2).sum(-1).mean()
        return self._divergence(model, told[some], said[some]) + distance

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """
        On held-out questions the divergence as ``valid``, how often the likeliest
        token is the teacher's as ``agreement``, and the negative divergence as
        ``score``; empty where there are none.
        """
        total = agreed = tokens = 0.0
        for k in range(0, len(self.valid), VALID_BATCH):
            batch = moved(self.collate(self.valid[k : k + VALID_BATCH]), device)
            with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
                told, said = self._states(model, batch)
                total += self._divergence(model, told, said).item() * len(told)
                one, other = (
                    self._logits(model, states).argmax(-1) for states in (told, said)
                )
            agreed += int((one == other).sum())
            tokens += len(told)
        if not tokens:
            return {}
        valid = total / tokens
        return {'valid': valid, 'agreement': agreed / tokens, 'score': -valid}

    def write(self, model: Any, base: str, folder: Path) -> int:
        """
        Write the decoder alone, for :mod:`parlai_q2.models.converted.from_decoder`.

        :param base: the reference of the model that it was made of.
        :return: the size of its weights in bytes.
        """
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CHECKSUMS).unlink(missing_ok=True)
        tensors = {n: t.numpy() for n, t in stored_form(model.state_dict()).items()}
        kept = self.kept.numpy().astype(np.int32)
        whole = t5(tensors, model.config.to_dict())
        data = binary.write(decoder_of(whole, kept))
        (folder / WEIGHTS).write_bytes(data)
        write_text(folder / DECODER, json.dumps(said_of(base), indent=1) + '\n')
        write_checksums(folder, [DECODER, WEIGHTS])
        return len(data)

    def _states(
        self, model: Any, tensors: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The last hidden states of teacher and student, [tokens, M] each."""
        labels = tensors['labels']
        valid = labels != -100
        given = {
            'input_ids': model._shift_right(labels),
            'attention_mask': valid.long(),
            'encoder_attention_mask': tensors['attention_mask'],
            'use_cache': False,
        }
        with torch.no_grad():
            read = model.encoder(
                input_ids=tensors['input_ids'], attention_mask=tensors['attention_mask']
            ).last_hidden_state
            teacher = self.teacher.to(read.device)
            told = teacher(encoder_hidden_states=read, **given).last_hidden_state
        said = model.decoder(encoder_hidden_states=read, **given).last_hidden_state
        return told[valid].float(), said[valid].float()

    def _divergence(
        self, model: Any, told: torch.Tensor, said: torch.Tensor
    ) -> torch.Tensor:
        target = self._logits(model, told).float().log_softmax(-1)
        found = self._logits(model, said).float().log_softmax(-1)
        return F.kl_div(found, target, reduction='batchmean', log_target=True)

    def _logits(self, model: Any, states: torch.Tensor) -> torch.Tensor:
        if model.config.tie_word_embeddings:
            states = states * model.config.d_model**-0.5
        return states @ model.lm_head.weight[self.kept.to(states.device)].T


def kept_tokens(tokenizer: Any, rows: Sequence[dict[str, Any]]) -> list[int]:
    """
    The ids that a decoder should be able to write, in order.

    :param rows: questions ``q`` and the texts ``c`` that they ask about.
    """
    texts = [row['q'] for row in rows] + list({row['c'] for row in rows})
    counts: Counter[int] = Counter()
    for ids in tokenizer(texts, add_special_tokens=False, verbose=False)['input_ids']:
        counts.update(ids)
    kept = {n for n, count in counts.items() if count >= LEAST}
    kept |= {n for t, n in tokenizer.get_vocab().items() if len(t.lstrip('▁')) <= 1}
    special = {tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id}
    return sorted(kept | special)
