"""The exact prompts that the shipped sequence-to-sequence models were trained on."""

from typing import Sequence

# The prompt of Q2's question generator, with two spaces before "context" (Honovich et
# al. 2021, released code; mrm8488/t5-base-finetuned-question-generation-ap).
QUESTION_PROMPT = 'answer: {answer}  context: {context}'
# The shipped reply generator reads this many previous turns.
REPLY_TURNS = 2


def question_prompt(answer: str, context: str) -> str:
    """The prompt of the question generator."""
    return QUESTION_PROMPT.format(answer=answer, context=context)


def reply_prompt(history: Sequence[str], knowledge: str) -> str:
    """
    The prompt of the shipped reply generator.

    :param history: the previous turns, oldest first; the last two are used.
    :param knowledge: the sentence to base the reply on; may be empty.
    """
    turns = ' '.join(f'[{i}] {turn}' for i, turn in enumerate(history[-REPLY_TURNS:]))
    return f'respond: {turns} knowledge: {knowledge}'
