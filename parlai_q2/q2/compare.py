"""
Judges a question by its two answers: Q2's steps 4 and 5.

No answer in the knowledge: 0. Equal after normalisation: 1. Else NLI, with premise
``<question> <knowledge answer>.`` and hypothesis ``<question> <response answer>.``:
entailment 1, contradiction 0, neutral the token F1. Without NLI: the token F1.
"""

from typing import Optional, Sequence

from parlai_q2.models.protocols import NliModel
from parlai_q2.records import Comparison, Question, Span, Verdict
from parlai_q2.text.overlap import token_f1


def judge(
    questions: Sequence[Question],
    answers: Sequence[Optional[Span]],
    nli: Optional[NliModel],
) -> list[Verdict]:
    """
    One verdict a question.

    :param questions: Q questions with their answers in the response.
    :param answers: Q answers from the knowledge, None where it has none.
    :param nli: the comparison model, or None to compare by token F1 alone.
    :return: Q verdicts.
    """
    f1 = [
        token_f1(q.answer.text, a.text) if a else 0.0
        for q, a in zip(questions, answers, strict=True)
    ]
    # As in the released code, equal bags of words need no NLI.
    unequal = [i for i, a in enumerate(answers) if a and a.text.strip() and f1[i] < 1]
    labels: list[Optional[str]] = [None] * len(questions)
    if nli is not None:
        pairs = [nli_pair(questions[i], answers[i]) for i in unequal]
        for i, probabilities in zip(unequal, nli.classify(pairs), strict=True):
            labels[i] = probabilities.label
    return [
        verdict(question, answer, score, label)
        for question, answer, score, label in zip(
            questions, answers, f1, labels, strict=True
        )
    ]


def nli_pair(question: Question, answer: Optional[Span]) -> tuple[str, str]:
    """
    Premise and hypothesis for two unequal answers.
    """
    assert answer is not None
    premise = f'{question.text} {answer.text}.'
    return premise, f'{question.text} {question.answer.text}.'


def verdict(
    question: Question, answer: Optional[Span], f1: float, label: Optional[str]
) -> Verdict:
    """
    The verdict that two answers, their token F1 and an NLI label give.

    :param question: the question and its answer in the response.
    :param answer: its answer in the knowledge, or None.
    :param f1: token F1 of the two answers, in [0, 1].
    :param label: entailment, neutral or contradiction; None where NLI was not asked.
    """
    if answer is None or not answer.text.strip():
        comparison, score = Comparison.NO_ANSWER, 0.0
    elif f1 >= 1:
        comparison, score = Comparison.EXACT, 1.0
    elif label == Comparison.ENTAILMENT:
        comparison, score = Comparison.ENTAILMENT, 1.0
    elif label == Comparison.CONTRADICTION:
        comparison, score = Comparison.CONTRADICTION, 0.0
    elif label == Comparison.NEUTRAL:
        comparison, score = Comparison.NEUTRAL, f1
    else:
        comparison, score = Comparison.F1, f1
    return Verdict(question.text, question.answer, answer, comparison, score, f1)
