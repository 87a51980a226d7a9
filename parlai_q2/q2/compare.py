"""
Judges a question by its two answers: Q2's steps 4 and 5.

If the knowledge has no answer, the score is 0. If the answers are equal after
normalisation, it is 1. Otherwise NLI decides, with premise ``<question> <knowledge
answer>.`` and hypothesis ``<question> <response answer>.``: entailment scores 1,
contradiction 0, and neutral the token F1 of the answers. Without NLI the score is the
token F1.

With soft comparison, which is not in the paper, the score is the probability of
entailment plus half that of neutral and generic. Comparison by value, which is not in
the paper either, decides first where both answers are amounts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parlai_q2.claims import (
    NOT_VERIFIABLE_VALUE,
    STANCES,
    Claim,
    Comparison,
    Evidence,
    Stance,
    Status,
)
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.text.agreement import conflicts
from parlai_q2.text.overlap import token_f1
from parlai_q2.text.restate import restate
from parlai_q2.turns import Span

STATUSES = {
    Comparison.EXACT: Status.SUPPORTED,
    Comparison.ENTAILMENT: Status.SUPPORTED,
    Comparison.NO_ANSWER: Status.UNSUPPORTED,
    Comparison.CONTRADICTION: Status.CONTRADICTED,
}
# Where NLI did not decide, answers with more token F1 than this agree (the paper's
# threshold in Table 3).
AGREE = 0.5


@dataclass(frozen=True)
class Question:
    """A question and its answer, a span of the response."""

    text: str
    answer: Span


def judge(
    questions: Sequence[Question],
    answers: Sequence[Evidence | None],
    nli: NliModel | None,
    soft: bool = False,
    by_value: bool = False,
) -> list[Claim]:
    """
    Judge each of Q questions by its answer in the response and that in the knowledge.

    :param answers: the answers in the knowledge; None if it has none.
    :param nli: the model that compares answers, or None to use token F1 alone.
    :param soft: score by the NLI probabilities instead of the likeliest class.
    :param by_value: compare amounts by their values.
    """
    pairs = pairs_to_compare(questions, answers) if nli is not None else {}
    probabilities = nli.classify(list(pairs.values())) if nli is not None else []
    compared = dict(zip(pairs, probabilities, strict=True))
    return make_claims(questions, answers, compared, soft, by_value)


def pairs_to_compare(
    questions: Sequence[Question], answers: Sequence[Evidence | None]
) -> dict[int, tuple[str, str]]:
    """
    The (premise, hypothesis) pairs that need NLI, by question index. As in the released
    code, answers with equal bags of words need none.
    """
    return {
        i: (
            f'{question.text} {answer.span.text}.',
            f'{question.text} {question.answer.text}.',
        )
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True))
        if answer
        and answer.span.text.strip()
        and token_f1(question.answer.text, answer.span.text) < 1
    }


def make_claims(
    questions: Sequence[Question],
    answers: Sequence[Evidence | None],
    compared: Mapping[int, NliProbabilities],
    soft: bool = False,
    by_value: bool = False,
) -> list[Claim]:
    """As :func:`judge`, given the NLI probabilities by question index."""
    return [
        _claim(question, answer, compared.get(i), soft, by_value)
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True))
    ]


def _claim(
    question: Question,
    answer: Evidence | None,
    nli: NliProbabilities | None,
    soft: bool,
    by_value: bool,
) -> Claim:
    claimed, reference = question.answer.text, answer.span.text if answer else ''
    f1 = token_f1(claimed, reference) if answer else 0.0
    if not reference.strip():
        comparison, score = Comparison.NO_ANSWER, 0.0
    elif f1 >= 1:
        comparison, score = Comparison.EXACT, 1.0
    elif by_value and (verdict := compare_values(reference, claimed)):
        comparison = verdict
        score = float(verdict == Comparison.ENTAILMENT)
    elif nli is None:
        comparison, score = Comparison.F1, f1
    else:
        comparison = Comparison(nli.label)
        score = nli.expected(NOT_VERIFIABLE_VALUE) if soft else hard_score(nli, f1)
    status = STATUSES.get(comparison)
    if status is None:  # neutral, or compared by tokens alone
        status = Status.SUPPORTED if f1 > AGREE else Status.UNSUPPORTED
    stance = STANCES.get(status, Stance.NEITHER)
    evidence = () if answer is None else (answer._replace(stance=stance),)
    return Claim(
        question.answer,
        support=score,
        status=status,
        evidence=evidence,
        question=question.text,
        comparison=comparison,
        f1=f1,
    )


def compare_values(reference: str, claimed: str) -> Comparison | None:
    """
    ``entailment`` for two amounts of one value, ``contradiction`` for one that the
    reference lacks in a unit that it measures, None for anything else.
    """
    if conflicts(reference, claimed):
        return Comparison.CONTRADICTION
    is_equal = token_f1(restate(reference, claimed), reference) >= 1
    return Comparison.ENTAILMENT if is_equal else None


def hard_score(nli: NliProbabilities, neutral: float) -> float:
    """The likeliest class's value: 1, ``neutral`` in [0, 1], or 0 for contradiction."""
    return {
        Comparison.ENTAILMENT: 1.0,
        Comparison.NEUTRAL: neutral,
        Comparison.CONTRADICTION: 0.0,
    }[Comparison(nli.label)]
