"""
Judges a question by its two answers: Q2's steps 4 and 5.

No answer in the knowledge: 0. Equal after normalisation: 1. Else NLI, with premise
``<question> <knowledge answer>.`` and hypothesis ``<question> <response answer>.``:
entailment 1, contradiction 0, neutral the token F1. Without NLI: the token F1.
"""

from typing import Mapping, Optional, Sequence

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
    pairs = pairs_to_compare(questions, answers) if nli is not None else {}
    found = nli.classify(list(pairs.values())) if nli is not None else []
    labels = {i: p.label for i, p in zip(pairs, found, strict=True)}
    return verdicts(questions, answers, labels)


def pairs_to_compare(
    questions: Sequence[Question], answers: Sequence[Optional[Span]]
) -> dict[int, tuple[str, str]]:
    """
    What NLI is asked, by the question's number. As in the released code, equal bags of
    words need no NLI.

    :param questions: Q questions with their answers in the response.
    :param answers: Q answers from the knowledge, None where it has none.
    """
    return {
        i: nli_pair(question, answer)
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True))
        if answer
        and answer.text.strip()
        and token_f1(question.answer.text, answer.text) < 1
    }


def verdicts(
    questions: Sequence[Question],
    answers: Sequence[Optional[Span]],
    labels: Mapping[int, str],
) -> list[Verdict]:
    """
    One verdict a question.

    :param questions: Q questions with their answers in the response.
    :param answers: Q answers from the knowledge, None where it has none.
    :param labels: what NLI says, by the question's number.
    :return: Q verdicts.
    """
    return [
        verdict(
            question,
            answer,
            token_f1(question.answer.text, answer.text) if answer else 0.0,
            labels.get(i),
        )
        for i, (question, answer) in enumerate(zip(questions, answers, strict=True))
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
