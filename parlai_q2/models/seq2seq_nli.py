"""
A sequence-to-sequence model for inference, such as MiniCheck (Tang et al. 2024, arXiv
2404.10774) and TrueTeacher (Gekhman et al. 2023, arXiv 2305.11171): asked whether a
text supports a statement, it answers with one word, whose probability is the support.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Backend, Engine
from parlai_q2.models.batches import (
    length_batches,
    length_step,
    map_unique,
    padded,
    read_batches,
)
from parlai_q2.models.device import inference
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.models.tokens import most_tokens
from parlai_q2.presets import ModelConfig, Section
from parlai_q2.text.sentences import cut_to_fit, windows

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PREMISE, HYPOTHESIS = '{premise}', '{hypothesis}'
_NAMES = re.compile(f'{PREMISE}|{HYPOTHESIS}')


class Seq2SeqNliModel(Backend, NliModel):
    """
    Gives the probability of the word that means "supported".

    It reads texts as they are written, and long knowledge in windows of sentences, of
    which the most supporting one counts.

    :param prompt: the prompt, with ``{premise}`` and ``{hypothesis}`` in it.
    :param supported: the word that means that the premise supports the hypothesis.
    :param unsupported: the word for the opposite: the two words' probabilities are then
        taken to sum to 1. None compares the first word with the whole vocabulary.
    :param max_tokens: the limit for a prompt; premises are cut to fit.
    :param window_words: the most words of a premise that are read at once.
    :raises ConfigError: if the prompt lacks one of its places.
    """

    reads_documents = True

    def __init__(
        self,
        config: ModelConfig,
        prompt: str,
        supported: str,
        unsupported: str | None = None,
        max_tokens: int = 2048,
        window_words: int = 500,
        batch_size: int = 8,
        gpu_batch_size: int | None = None,
        device: str = 'cpu',
        role: Section = Section.DETECTOR,
    ):
        if not (PREMISE in prompt and HYPOTHESIS in prompt):
            raise ConfigError(
                f'The prompt of {config.model} must have {PREMISE} and {HYPOTHESIS} in '
                f'it: {prompt!r}.'
            )
        super().__init__(
            config, device, batch_size, gpu_batch_size, Engine.TRANSFORMERS
        )
        self.role, self.prompt, self.words = role, prompt, (supported, unsupported)
        self.max_tokens, self.window_words = max_tokens, window_words

    @property
    def settings(self) -> JsonObject:
        prompt = self.prompt.encode('unicode_escape').decode()
        return {
            self.role: self.identity(),
            f'{self.role}_engine': self.engine,
            f'{self.role}_prompt': prompt,
            f'{self.role}_words': '/'.join(word or '*' for word in self.words),
            f'{self.role}_max_tokens': self.max_tokens,
            f'{self.role}_window_words': self.window_words,
        }

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        """
        For pairs (premise, hypothesis): supported is ``entailment``, else ``neutral``.
        """
        return map_unique(pairs, self._classify)

    def _classify(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        pieces: list[tuple[int, str, str]] = []
        for i, (whole, hypothesis) in enumerate(pairs):
            windows = self._windows(whole, hypothesis)
            pieces += [(i, premise, hypothesis) for premise in windows]
        best = [0.0] * len(pairs)
        prompts = [self._fill_prompt(*texts) for _, *texts in pieces]
        for (i, _, _), value in zip(pieces, self._support(prompts), strict=True):
            best[i] = max(best[i], value)
        return [NliProbabilities(value, 1 - value, 0.0) for value in best]

    def _fill_prompt(self, premise: str, hypothesis: str) -> str:
        # In one pass, as a text may have such a name in it, too.
        texts = {PREMISE: premise, HYPOTHESIS: hypothesis}
        return _NAMES.sub(lambda name: texts[name[0]], self.prompt)

    def _windows(self, premise: str, hypothesis: str) -> list[str]:
        parts = [premise]
        if len(premise.split()) > self.window_words:
            parts = [w.text for w in windows(premise, self.window_words)] or parts
        return cut_to_fit(parts, lambda part: self._fits(part, hypothesis))

    def _fits(self, premise: str, hypothesis: str) -> bool:
        prompt = self._fill_prompt(premise, hypothesis)
        if most_tokens(prompt) <= self.max_tokens:
            return True
        ids = self._loaded()[1](prompt, verbose=False)['input_ids']
        return len(ids) <= self.max_tokens

    def _support(self, prompts: list[str]) -> list[float]:
        import torch

        model, tokenizer, (yes, no) = self._loaded()
        start = model.config.decoder_start_token_id
        step, padding = length_step(self.device), tokenizer.pad_token_id

        def read(rows: Sequence[tuple[list[int], list[int]]]) -> list[float]:
            ids, masks = zip(*rows)
            output = model(
                input_ids=padded(ids, padding, step).to(self.device),
                attention_mask=padded(masks, 0, step).to(self.device),
                decoder_input_ids=torch.full((len(ids), 1), start, device=self.device),
            )
            logits = output.logits[:, 0].float()  # [B, vocabulary]
            if no is None:
                values = logits.softmax(-1)[:, yes]
            else:
                values = logits[:, [no, yes]].softmax(-1)[:, 1]
            return list(values.tolist())

        encoded = tokenizer(prompts, truncation=True, max_length=self.max_tokens)
        rows = list(zip(encoded['input_ids'], encoded['attention_mask'], strict=True))
        lengths = [len(ids) for ids, _ in rows]
        batches = length_batches(lengths, self.batch_size, step)
        with inference(self.device):
            return read_batches(read, rows, batches, self)

    def _load(
        self,
    ) -> tuple['PreTrainedModel', 'PreTrainedTokenizerBase', tuple[int, int | None]]:
        from parlai_q2.models.loading import load_seq2seq

        model, tokenizer = load_seq2seq(
            self.config.model, self.device, self.config.revision
        )
        supported, unsupported = self.words
        yes = self._token(tokenizer, supported)
        no = None if unsupported is None else self._token(tokenizer, unsupported)
        if yes == no:
            raise ConfigError(
                f'The words {self.words} of {self.config.model} begin with the same '
                'token, so they cannot be told apart.'
            )
        return model, tokenizer, (yes, no)

    def _token(self, tokenizer: 'PreTrainedTokenizerBase', word: str) -> int:
        ids = tokenizer(word, add_special_tokens=False)['input_ids']
        if not ids or ids[0] == tokenizer.unk_token_id:
            raise ConfigError(
                f'{self.config.model} does not know the word {word!r}. Correct it in '
                "the preset's section."
            )
        return int(ids[0])
