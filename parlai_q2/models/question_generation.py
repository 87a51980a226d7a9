"""
Question generation with an encoder-decoder.

Honovich et al. 2021, section 2: the input is ``answer: <span>  context: <response>``.
Decoding is beam search with 5 beams, 5 returned questions and no repeated trigram, or
one greedy question.
"""

import copy
import math
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.backend import Backend
from parlai_q2.models.engine.batching import (
    length_batches,
    length_step,
    map_unique,
    pad,
)
from parlai_q2.models.engine.kernels import limited_to
from parlai_q2.models.folder import blaming, folder_config, folder_generation
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.loading import (
    INT8,
    int8_folder,
    load_seq2seq,
    load_tokenizer,
    not_int8,
)
from parlai_q2.models.prompts import question_prompt
from parlai_q2.presets import ModelConfig
from parlai_q2.signature import unusual

if TYPE_CHECKING:
    from parlai_q2.models.engine.t5.beams import BeamSettings
    from parlai_q2.models.engine.t5.search import T5Search

DECODINGS = ('beam', 'greedy')
# mrm8488/t5-base-finetuned-question-generation-ap starts each question with this.
QUESTION_PREFIX = 'question: '
# Usual values, which signatures leave out. Greedy search does not restrict repetition.
USUAL: Mapping[str, tuple[Any, ...]] = {
    'qg_no_repeat_ngram': (3, None),
    'qg_new_tokens': (40,),
    'qg_prompt_tokens': (160,),
}


class Seq2SeqQuestionGenerator(Backend):
    """
    Generates questions about spans with any Hugging Face encoder-decoder.

    :param config: the preset's section. Its settings are ``num_beams``,
        ``num_questions``, ``no_repeat_ngram_size``, ``max_new_tokens``,
        ``max_prompt_tokens``, and those of
        :class:`~parlai_q2.models.backend.Backend`; a batch is of spans.
    :param decoding: ``beam`` or ``greedy``.
    :raises ConfigError: if a setting is invalid.
    """

    def __init__(
        self,
        config: ModelConfig,
        decoding: str = 'beam',
        num_beams: int = 5,
        num_questions: int = 5,
        no_repeat_ngram_size: int = 3,
        max_new_tokens: int = 40,
        max_prompt_tokens: int = 160,
        **shared: Any,
    ):
        if decoding not in DECODINGS:
            raise ConfigError(f'decoding must be beam or greedy, not {decoding!r}.')
        if not 1 <= num_questions <= num_beams:
            raise ConfigError(
                f'num_questions ({num_questions}) must be between 1 and num_beams '
                f'({num_beams}).'
            )
        super().__init__(config, **shared)
        self.decoding = decoding
        self.num_beams = 1 if decoding == 'greedy' else num_beams
        self.num_questions = 1 if decoding == 'greedy' else num_questions
        self.no_repeat_ngram_size = no_repeat_ngram_size if decoding == 'beam' else 0
        self.max_new_tokens, self.max_prompt_tokens = max_new_tokens, max_prompt_tokens
        # The project's own search; None if the model has settings that it lacks.
        self.searcher: Lazy[Optional[T5Search]] = Lazy(self._make_search)
        self._tokenizer = Lazy(self._load_tokenizer)

    @property
    def settings(self) -> dict[str, Any]:
        details = {
            'qg_no_repeat_ngram': (
                self.no_repeat_ngram_size if self.decoding == 'beam' else None
            ),
            'qg_new_tokens': self.max_new_tokens,
            'qg_prompt_tokens': self.max_prompt_tokens,
        }
        return {
            'qg': self.identity(),
            'qg_decoding': f'{self.decoding}{self.num_beams}x{self.num_questions}',
            'qg_arithmetic': self.arithmetic,
            **unusual(details, USUAL),
        }

    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        return map_unique(pairs, self._generate)

    def generating(self) -> 'Seq2SeqQuestionGenerator':
        """The same generator, which in fp32 asks the model's own ``generate``."""
        other = copy.copy(self)
        if self.arithmetic != INT8:
            other.searcher = Lazy(lambda: None)
        return other

    def _load(self) -> tuple[Any, Any]:
        return load_seq2seq(self.config.model, self.device, self.config.revision)

    def _load_tokenizer(self) -> Any:
        if self.arithmetic != INT8:
            return self._loaded()[1]
        return load_tokenizer(self.config.model, self.config.revision)

    def _make_search(self) -> Optional['T5Search']:
        from parlai_q2.models.engine.t5.search import T5Search, searchable

        if self.arithmetic == INT8:
            with limited_to(self.kernel):
                return T5Search(self._stored())
        model, _ = self._loaded()
        return T5Search(model) if searchable(model) else None

    def _stored(self) -> Any:
        from parlai_q2.models.engine.stored import StoredModel
        from parlai_q2.models.engine.t5.search import known_settings
        from parlai_q2.models.engine.t5.stored import computable, stored_t5

        folder = int8_folder(self.config.model)
        if folder is None:
            raise not_int8(self.config.model)
        config = folder_config(folder)
        generation = folder_generation(folder, config)
        with blaming(folder):
            if not (computable(config) and known_settings(generation)):
                raise not_int8(self.config.model)
            return stored_t5(StoredModel(folder))

    def _prompt_ids(
        self, tokenizer: Any, pairs: Sequence[tuple[str, str]]
    ) -> list[list]:
        prompts = [question_prompt(a, c) for a, c in pairs]
        # Not verbose: prompts are truncated below, so a length warning is irrelevant.
        ids = tokenizer(prompts, add_special_tokens=False, verbose=False)['input_ids']
        # Every T5 prompt ends with one end token. The authors' prompt carries a literal
        # "</s>", and their tokenizer (transformers 3.2.0, T5Tokenizer) adds none then.
        return [i[: self.max_prompt_tokens - 1] + [tokenizer.eos_token_id] for i in ids]

    def _generate(self, pairs: list[tuple[str, str]]) -> list[list[str]]:
        tokenizer = self._tokenizer()
        ids = self._prompt_ids(tokenizer, pairs)
        if (search := self.searcher()) is not None:
            found = self._searched(search, ids)
        else:
            found = self._generated(self._loaded()[0], tokenizer, ids)
        texts = iter(
            tokenizer.batch_decode(
                [tokens for of_span in found for tokens in of_span],
                skip_special_tokens=True,
            )
        )
        return [
            [next(texts).strip().removeprefix(QUESTION_PREFIX).strip() for _ in of_span]
            for of_span in found
        ]

    def _searched(
        self, search: 'T5Search', ids: list[list[int]]
    ) -> list[list[list[int]]]:
        from parlai_q2.models.encoders import not_finite

        settings = self._beam_settings(search.generation)
        found = search.search(ids, settings, self.batch_size)
        if any(math.isnan(f.score) for row in found for f in row):
            raise not_finite(self.config.model)
        return [[f.tokens for f in row[: self.num_questions]] for row in found]

    def _beam_settings(self, generation: Any) -> 'BeamSettings':
        from parlai_q2.models.engine.t5.beams import BeamSettings

        # Unset values are None in transformers 5, and were the default before.
        penalty = generation.length_penalty
        return BeamSettings(
            start=generation.decoder_start_token_id,
            end=generation.eos_token_id,
            num_beams=self.num_beams,
            max_new_tokens=self.max_new_tokens,
            no_repeat_ngram_size=self.no_repeat_ngram_size,
            length_penalty=1.0 if penalty is None else penalty,
        )

    def _generated(
        self, model: Any, tokenizer: Any, ids: list[list[int]]
    ) -> list[list[list[int]]]:
        from parlai_q2.models.device import inference
        from parlai_q2.models.encoders import not_finite

        def finite(_: Any, scores: Any) -> Any:
            if bool(scores.isnan().any()):
                raise not_finite(self.config.model)
            return scores

        inputs = {'input_ids': ids, 'attention_mask': [[1] * len(i) for i in ids]}
        found: list[list[list[int]]] = [[] for _ in ids]
        step = length_step(self.device)
        for batch in length_batches([len(i) for i in ids], self.batch_size, step):
            tensors = pad(inputs, batch, {'input_ids': tokenizer.pad_token_id}, step)
            with inference(self.device):
                output = model.generate(
                    **{k: t.to(self.device) for k, t in tensors.items()},
                    num_beams=self.num_beams,
                    num_return_sequences=self.num_questions,
                    no_repeat_ngram_size=self.no_repeat_ngram_size,
                    early_stopping=self.num_beams > 1,
                    max_new_tokens=self.max_new_tokens,
                    do_sample=False,
                    logits_processor=[finite],
                )
            rows = output.view(len(batch), self.num_questions, -1).tolist()
            for i, of_span in zip(batch, rows, strict=True):
                found[i] = of_span
        return found
