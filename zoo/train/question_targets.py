"""
Chooses the questions that the generator should learn to ask.

    python -m parlai_q2.zoo.train.question_targets --rows qg.train.jsonl.xz \\
      --outfile qg_specific.train.jsonl

People who see the text ask "What is it?"; a generator that has learnt this asks
questions that any knowledge answers. From rows of ``a`` (answer), ``c`` (text) and
``q`` (question), this keeps those whose question can be understood by itself.
"""

import argparse
import re
from typing import Any, Optional, Sequence

from parlai.utils import logging

from parlai_q2.text.content_words import content_words
from parlai_q2.text.spans import DROPPED_PRONOUNS
from parlai_q2.text.vague import QUESTION_NOUNS
from parlai_q2.zoo.train.data import read_rows, write_rows

# The least number of content words shared with the text, besides the answer's. One is
# enough unless the question depends on a pronoun.
LEAST_SHARED, LEAST_WITH_PRONOUN = 1, 2
_PRONOUN = re.compile(
    r'\b(?:it|its|he|him|his|she|her|they|them|their|this|these|those)\b', re.IGNORECASE
)
_FIRST_WORDS = re.compile(
    r'\b(?:what|who|whom|whose|which|when|where|why|how)\b', re.IGNORECASE
)


def specific(row: dict[str, Any]) -> bool:
    """
    Whether a question names what it asks about.

    :param row: ``a``, ``c`` and ``q``.
    :return: False where the question shares no content word with the text apart from
        the answer's, or only one and has a pronoun; where it has none of the words that
        questions about a span begin with; where its answer is a pronoun, or is
        contained in it.

    >>> text = 'Sephora was founded in 1969 by Dominique Mandonnaud.'
    >>> specific({'a': '1969', 'c': text, 'q': 'When was Sephora founded?'})
    True
    >>> specific({'a': 'Sephora', 'c': text, 'q': 'What is it?'})
    False
    """
    question, answer = row['q'].lower(), row['a'].lower()
    told = set(content_words(answer))
    asked = set(content_words(question)) - QUESTION_NOUNS
    shared = (asked & set(content_words(row['c'].lower()))) - told
    least = LEAST_WITH_PRONOUN if _PRONOUN.search(question) else LEAST_SHARED
    return (
        len(shared) >= least
        and _FIRST_WORDS.search(question) is not None
        and answer not in DROPPED_PRONOUNS['all']
        and not (told and told <= asked)
    )


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write the rows that are kept.
    """
    parser = argparse.ArgumentParser(description='Questions that stand by themselves')
    parser.add_argument('--rows', required=True, help='file of rows with a, c and q')
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    rows = read_rows(args.rows)
    kept = write_rows(args.outfile, (row for row in rows if specific(row)))
    logging.info(f'{kept} of {len(rows)} rows: {args.outfile}')


if __name__ == '__main__':
    main()
