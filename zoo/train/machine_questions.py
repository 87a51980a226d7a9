"""
Makes question-answering rows whose questions come from the question generator.

    python -m parlai_q2.zoo.train.machine_questions --rows qa.train.jsonl.xz \\
      --most 1500 --outfile qa_machine.train.jsonl

People's questions are well formed. Those that Q2 puts to its reader come from a small
model ("Where is the method of skiing?"). The texts (field ``c``) are taken as
responses, and the questions kept are those that the metric itself keeps (Honovich et
al. 2021, section 2). Every row of ``q``, ``c``, ``s``, ``a`` and ``src`` is therefore
answerable. :mod:`parlai_q2.zoo.train.hard_questions` makes unanswerable rows from
these.
"""

import argparse
import random
from typing import Any, Iterator, Optional, Sequence

from parlai.utils import logging

from parlai_q2.models.protocols import QuestionAnswerer, QuestionGenerator
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import load_preset
from parlai_q2.q2.ask import valid_questions
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.text.spans import informative_spans
from parlai_q2.zoo.train.data import read_rows, write_rows

SOURCE = 'machine'
MOST_WORDS = 40  # of a text: responses are short


def machine_rows(
    texts: Sequence[str],
    generator: QuestionGenerator,
    answerer: QuestionAnswerer,
    settings: Q2Settings,
) -> Iterator[dict[str, Any]]:
    """
    The questions that Q2 would ask about texts.

    :param texts: the texts.
    :param generator: asks about spans.
    :param answerer: answers the questions from the texts; a question that it does not
        answer with the span is left out.
    :param settings: which spans and questions are kept.
    :return: rows, in the texts' order; none for a text without questions.
    """
    asked = valid_questions(texts, informative_spans, generator, answerer, settings)
    for text, questions in zip(texts, asked, strict=True):
        for one in questions:
            span = one.answer
            yield {
                'q': one.text,
                'c': text,
                's': span.start,
                'a': span.text,
                'src': SOURCE,
            }


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write the rows and log how many there are.
    """
    parser = argparse.ArgumentParser(description='Questions as Q2 asks them')
    parser.add_argument(
        '--rows', required=True, help='file of records whose c is a text'
    )
    parser.add_argument(
        '--sources', default='', help='comma-separated src values: take only their rows'
    )
    parser.add_argument(
        '--most', type=int, default=1500, help='number of texts to ask about'
    )
    parser.add_argument('--preset', default='mini')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    texts = dict.fromkeys(
        row['c']
        for row in read_rows(args.rows, args.sources)
        if len(row['c'].split()) <= MOST_WORDS and row['c'] != row['c'].lower()
    )
    chosen = list(texts)
    random.Random(args.seed).shuffle(chosen)
    preset = load_preset(args.preset)
    asking, answering = (
        preset.model(f'question_{part}') for part in ('generation', 'answering')
    )
    rows = machine_rows(
        chosen[: args.most],
        # One greedy question a span: five times as fast, and as odd as those from
        # beams.
        Seq2SeqQuestionGenerator(asking, 'greedy', **asking.settings),
        SpanQuestionAnswerer(answering, **answering.settings),
        Q2Settings(**preset.q2),
    )
    count = write_rows(args.outfile, rows)
    logging.info(f'{count} questions about {min(len(chosen), args.most)} texts')


if __name__ == '__main__':
    main()
