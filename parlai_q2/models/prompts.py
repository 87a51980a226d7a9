"""
The exact texts that the shipped sequence-to-sequence models were trained on.
"""

from typing import Sequence

# Q2's question generator: two spaces before "context" (Honovich et al. 2021, released
# code; the prompt of mrm8488/t5-base-finetuned-question-generation-ap).
QUESTION_PROMPT = 'answer: {answer}  context: {context}'
# The shipped reply generator sees this many turns before its own.
REPLY_TURNS = 2


def question_prompt(answer: str, context: str) -> str:
    """
    What the question generator reads.

    :param answer: the span to ask for.
    :param context: the response that the span stands in.
    """
    return QUESTION_PROMPT.format(answer=answer, context=context)


def reply_prompt(history: Sequence[str], knowledge: str) -> str:
    """
    What the shipped reply generator reads.

    :param history: the turns before, oldest first; the last two are used.
    :param knowledge: the sentence to reply with; may be empty.
    """
    turns = ' '.join(f'[{i}] {turn}' for i, turn in enumerate(history[-REPLY_TURNS:]))
    return f'respond: {turns} knowledge: {knowledge}'
