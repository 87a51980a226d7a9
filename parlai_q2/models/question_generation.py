"""
Question generation with an encoder-decoder.

Honovich et al. 2021, section 2: input ``answer: <span>  context: <response>``, beam
search of 5 with 5 returned and no repeated trigram; or one greedy question.
"""

from typing import Any, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.batching import length_batches, map_unique, pad
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.loading import FLOAT32, effective_arithmetic, load_seq2seq
from parlai_q2.models.prompts import question_prompt
from parlai_q2.presets import ModelConfig

DECODINGS = ('beam', 'greedy')
# What mrm8488/t5-base-finetuned-question-generation-ap writes before each question.
QUESTION_PREFIX = 'question: '


class Seq2SeqQuestionGenerator:
    """
    Asks for spans with any Hugging Face encoder-decoder.

    :param config: the preset's section. Settings: ``num_beams``, ``num_questions``,
        ``no_repeat_ngram_size``, ``max_new_tokens``, ``max_prompt_tokens``,
        ``literal_eos`` (the prompt ends with the characters ``</s>``, as the paper's
        model was trained), ``batch_size``, ``arithmetic`` (``int8`` or
        ``float32``).
    :param decoding: ``beam`` or ``greedy``.
    :param device: a torch device name.
    """

    def __init__(
        self,
        config: ModelConfig,
        decoding: str = 'beam',
        device: str = 'cpu',
        num_beams: int = 5,
        num_questions: int = 5,
        no_repeat_ngram_size: int = 3,
        max_new_tokens: int = 40,
        max_prompt_tokens: int = 160,
        literal_eos: bool = False,
        batch_size: int = 32,
        arithmetic: str = FLOAT32,
    ):
        if decoding not in DECODINGS:
            raise ConfigError(f'decoding is beam or greedy, not {decoding!r}.')
        if not 1 <= num_questions <= num_beams:
            raise ConfigError(
                f'num_questions ({num_questions}) must be between 1 and num_beams '
                f'({num_beams}).'
            )
        self.config, self.decoding, self.device = config, decoding, device
        self.num_beams = 1 if decoding == 'greedy' else num_beams
        self.num_questions = 1 if decoding == 'greedy' else num_questions
        self.no_repeat_ngram_size = no_repeat_ngram_size if decoding == 'beam' else 0
        self.max_new_tokens, self.max_prompt_tokens = max_new_tokens, max_prompt_tokens
        self.literal_eos, self.batch_size = literal_eos, batch_size
        self.arithmetic = effective_arithmetic(arithmetic, device)
        self._loaded = Lazy(self._load)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            'qg': self.config.reference,
            'qg_decoding': f'{self.decoding}{self.num_beams}x{self.num_questions}',
            'qg_arithmetic': self.arithmetic,
        }

    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        return map_unique(pairs, self._generate)

    def _load(self) -> tuple[Any, Any]:
        return load_seq2seq(
            self.config.model, self.device, self.config.revision, self.arithmetic
        )

    def _prompt_ids(
        self, tokenizer: Any, pairs: Sequence[tuple[str, str]]
    ) -> list[list]:
        end = '</s>' if self.literal_eos else ''
        prompts = [question_prompt(a, c) + (f' {end}' if end else '') for a, c in pairs]
        ids = tokenizer(prompts, add_special_tokens=False)['input_ids']
        # Every T5 prompt ends with the end token, whether its tokenizer adds one or
        # not.
        return [i[: self.max_prompt_tokens - 1] + [tokenizer.eos_token_id] for i in ids]

    def _generate(self, pairs: list[tuple[str, str]]) -> list[list[str]]:
        import torch

        model, tokenizer = self._loaded()
        ids = self._prompt_ids(tokenizer, pairs)
        inputs = {'input_ids': ids, 'attention_mask': [[1] * len(i) for i in ids]}
        questions: list[list[str]] = [[] for _ in pairs]
        for batch in length_batches([len(i) for i in ids], self.batch_size):
            tensors = pad(inputs, batch, {'input_ids': tokenizer.pad_token_id})
            with torch.inference_mode():
                output = model.generate(
                    **{k: t.to(self.device) for k, t in tensors.items()},
                    num_beams=self.num_beams,
                    num_return_sequences=self.num_questions,
                    no_repeat_ngram_size=self.no_repeat_ngram_size,
                    early_stopping=self.num_beams > 1,
                    max_new_tokens=self.max_new_tokens,
                    do_sample=False,
                )
            texts = tokenizer.batch_decode(output, skip_special_tokens=True)
            for row, i in enumerate(batch):
                first = row * self.num_questions
                questions[i] = [
                    t.strip().removeprefix(QUESTION_PREFIX).strip()
                    for t in texts[first : first + self.num_questions]
                ]
        return questions
