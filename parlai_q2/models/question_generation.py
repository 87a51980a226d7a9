"""
Question generation with an encoder-decoder.

Honovich et al. 2021, section 2: the input is ``answer: <span>  context: <response>``.
Decoding is beam search with 5 beams, 5 returned questions and no repeated trigram, or
one greedy question.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Backend, not_finite
from parlai_q2.models.batches import map_unique
from parlai_q2.models.converted.binary import SEQ2SEQ
from parlai_q2.models.converted.engine import (
    ComputeType,
    ConvertedSeq2Seq,
    GenerationSettings,
)
from parlai_q2.models.converted.reader import read_model
from parlai_q2.options import Word
from parlai_q2.presets import ModelConfig
from parlai_q2.signature import unusual

if TYPE_CHECKING:
    from parlai_q2.models.hugging_face import HuggingFaceSeq2Seq

# The prompt of Q2's question generator, with two spaces before "context" (Honovich et
# al. 2021, released code; mrm8488/t5-base-finetuned-question-generation-ap).
QUESTION_PROMPT = 'answer: {answer}  context: {context}'
# mrm8488/t5-base-finetuned-question-generation-ap starts each question with this.
QUESTION_PREFIX = 'question: '
# Usual values, which signatures leave out. Greedy search does not restrict repetition.
USUAL: Mapping[str, tuple[object, ...]] = {
    'qg_no_repeat_ngram': (3, None),
    'qg_new_tokens': (40,),
    'qg_prompt_tokens': (160,),
}


def question_prompt(answer: str, context: str) -> str:
    return QUESTION_PROMPT.format(answer=answer, context=context)


class QuestionDecoding(Word):
    """The ways to decode questions: the best of a beam, or a greedy one."""

    BEAM = 'beam'
    GREEDY = 'greedy'


class Seq2SeqQuestionGenerator(Backend):
    """
    Generates questions about spans with a converted or any Hugging Face
    encoder-decoder.

    :param config: the preset's section. Its settings are ``num_beams``,
        ``num_questions``, ``no_repeat_ngram_size``, ``max_new_tokens``,
        ``max_prompt_tokens``, and those of
        :class:`~parlai_q2.models.backend.Backend`; a batch is of spans.
    :param decoding: one of :class:`QuestionDecoding`, or its text.
    :raises ConfigError: if a setting is invalid.
    """

    # T5's activations are too large for fp16.
    gpu_type = ComputeType.FLOAT32

    def __init__(
        self,
        config: ModelConfig,
        decoding: str = QuestionDecoding.BEAM,
        num_beams: int = 5,
        num_questions: int = 5,
        no_repeat_ngram_size: int = 3,
        max_new_tokens: int = 40,
        max_prompt_tokens: int = 160,
        **shared: Any,
    ):
        QuestionDecoding.check('decoding', decoding)
        if not 1 <= num_questions <= num_beams:
            raise ConfigError(
                f'num_questions ({num_questions}) must be between 1 and num_beams '
                f'({num_beams}).'
            )
        super().__init__(config, **shared)
        self.decoding, self.max_prompt_tokens = decoding, max_prompt_tokens
        self.search = GenerationSettings(1, 1, max_new_tokens)
        if decoding == QuestionDecoding.BEAM:
            self.search = GenerationSettings(
                num_beams, num_questions, max_new_tokens, no_repeat_ngram_size
            )

    @property
    def settings(self) -> JsonObject:
        is_beam, search = self.decoding == QuestionDecoding.BEAM, self.search
        details = {
            'qg_no_repeat_ngram': search.no_repeat_ngram_size if is_beam else None,
            'qg_new_tokens': search.max_new_tokens,
            'qg_prompt_tokens': self.max_prompt_tokens,
        }
        return {
            'qg': self.identity(),
            'qg_decoding': (
                f'{self.decoding}{search.num_beams}x{search.num_return_sequences}'
            ),
            'qg_engine': self.engine,
            **unusual(details, USUAL),
        }

    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        """
        Generate questions that spans answer.

        :param pairs: S pairs (text of the span, text that contains it).
        :return: S lists of questions, best first.
        """
        return map_unique(pairs, self._generate)

    def _load(self) -> 'ConvertedSeq2Seq | HuggingFaceSeq2Seq':
        if folder := self.folder:
            return ConvertedSeq2Seq(
                read_model(folder, SEQ2SEQ),
                self.device,
                self.effective_type,
                self.batch_size,
            )
        from parlai_q2.models.hugging_face import HuggingFaceSeq2Seq

        return HuggingFaceSeq2Seq(self.config, self.device, self.batch_size)

    def _generate(self, pairs: list[tuple[str, str]]) -> list[list[str]]:
        prompts = [question_prompt(answer, context) for answer, context in pairs]
        max_tokens = self.max_prompt_tokens
        questions = []
        for texts in self._loaded().generate(prompts, self.search, max_tokens):
            if texts is None:
                raise not_finite(self.config.model)
            questions.append([_strip_prefix(text) for text in texts])
        return questions


def _strip_prefix(text: str) -> str:
    return text.strip().removeprefix(QUESTION_PREFIX).strip()
