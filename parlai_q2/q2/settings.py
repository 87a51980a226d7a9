"""The settings of the Q2 metric."""

from dataclasses import dataclass, fields

from parlai_q2.claims import NOT_VERIFIABLE_VALUE
from parlai_q2.errors import ConfigError
from parlai_q2.options import Word

# The weight of the direct reading of a sentence relative to its questions, whose
# answers paraphrased knowledge often lacks. Chosen on development data.
SENTENCE_WEIGHT = 2 / 3


class Variant(Word):
    """The valid questions of a span that count: the first, in beam order, or all."""

    SINGLE = 'single'
    MULTI = 'multi'


@dataclass(frozen=True)
class Q2Settings:
    """
    Settings of the metric; the defaults are the paper's.

    :param variant: one of :class:`Variant`.
    :param use_nli: compare unequal answers by NLI, otherwise by token F1 alone.
    :param soft_nli: score by the NLI probabilities instead of the likeliest class:
        P(entailment) + P(neutral) / 2, or ``neutral_fallback`` instead of the half for
        a response without questions. Generic counts as neutral.
    :param by_value: compare answers that are amounts by their values first: half an
        hour is 30 minutes, 42 miles are not 42 kilometres. Not in the paper.
    :param personal_filter: drop questions about the speakers; turn it off for persona
        data.
    :param nli_fallback: without NLI, too, score a response without questions by
        end-to-end NLI, as the released code does; otherwise by token F1.
    :param lower_answers: compare the knowledge's answers in lower case, as the released
        code gets them from its question answerer, whose tokenizer knows no other.
    :param neutral_fallback: the value of a neutral end-to-end verdict: 0.5, or 0 for
        Dialogue NLI, where neutral counts as inconsistent.
    :param max_context_words: what the question generator reads around a span.
    :param knowledge_words: of knowledge of more words than this, read only the
        sentences that match a question best; 0, as in the paper, reads all of it.
    :param skip_uninformative: skip spans that are personal pronouns alone, or equal to
        an earlier one after normalisation, and questions that have lost the response's
        content ("What is it?"). With ``personal_filter``, skip also what is about
        clauses about the speaker ("I love cats."); a response of such clauses is
        generic. Not in the paper, whose personal filter reads questions alone.
    :param in_context: with NLI, compare answers in context, too; see
        :mod:`parlai_q2.scorers.q2`. Not in the paper.
    """

    variant: str = Variant.SINGLE
    use_nli: bool = True
    soft_nli: bool = False
    by_value: bool = False
    personal_filter: bool = True
    nli_fallback: bool = False
    lower_answers: bool = False
    neutral_fallback: float = NOT_VERIFIABLE_VALUE
    max_context_words: int = 90
    knowledge_words: int = 0
    skip_uninformative: bool = False
    in_context: bool = False

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self) if isinstance(f.default, bool)):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(
                    f'{name} must be true or false, not {getattr(self, name)!r}.'
                )
        for name, least in (('max_context_words', 1), ('knowledge_words', 0)):
            size = getattr(self, name)
            if type(size) is not int or size < least:
                raise ConfigError(
                    f'{name} must be a whole number of at least {least}, not {size!r}.'
                )
        Variant.check('variant', self.variant)
        fallback = self.neutral_fallback
        if type(fallback) not in (int, float) or not 0 <= fallback <= 1:
            raise ConfigError(f'neutral_fallback must be in [0, 1], not {fallback!r}.')

    def describe(self) -> dict[str, object]:
        """The settings as signatures print them; one can have several names there."""
        by_nli = 'soft_nli' if self.soft_nli else 'nli'
        skips = self.skip_uninformative
        return {
            'variant': self.variant,
            'comparison': by_nli if self.use_nli else 'f1',
            'by_value': 'on' if self.by_value else None,
            'personal_filter': 'on' if self.personal_filter else 'off',
            'neutral_fallback': f'{self.neutral_fallback:g}',
            'context_words': self.max_context_words,
            'knowledge_words': self.knowledge_words,
            'drop_pronouns': 'personal' if skips else 'none',
            'duplicate_spans': 'off' if skips else 'on',
            'vague_questions': 'off' if skips else 'on',
            'in_context': (
                f'{SENTENCE_WEIGHT:.2f}' if self.in_context and self.use_nli else None
            ),
            'first_person': 'off' if skips else None,
            'passive_subjects': None,
            'f1_fallback': 'nli' if self.nli_fallback else None,
            'answers': 'lower_case' if self.lower_answers else None,
        }
