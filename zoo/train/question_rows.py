"""
Writes the questions that the shipped generator asks about dialogue turns, for a short
decoder to learn from:

    python -m parlai_q2.zoo.train.question_rows --rows dial.train.jsonl.gz \
      reply.train.jsonl.xz --outfile own_questions.train.jsonl.gz

A turn (``r``) has the spans that Q2 would ask about; of each, the best two of three
beams are rows, with the fields of other questions: ``a`` span, ``c`` turn, ``q``.
"""

import argparse
import random
from typing import Any, Iterator, Optional, Sequence

from parlai.utils import logging

from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig, load_preset
from parlai_q2.q2.ask import spans_to_ask
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.text.spans import informative_spans
from parlai_q2.zoo.train.data import Row, read_rows, write_rows

TEACHER = 'shipped:q2_mini/question_generation'
BEAMS, TAKEN = 3, 2
MOST_WORDS = 60  # of a turn
CHUNK = 400  # turns at a time
SEED = 2  # decides the order of the turns


def turns_of(paths: Sequence[str], most: int = 0) -> list[str]:
    """
    The distinct turns of some files, shuffled.

    :param most: how many to take; 0 for all.
    """
    said = dict.fromkeys(row['r'] for path in paths for row in read_rows(path))
    turns = [turn for turn in said if len(turn.split()) <= MOST_WORDS]
    random.Random(SEED).shuffle(turns)
    return turns[: most or None]


def question_rows(
    turns: Sequence[str], generator: Any, settings: Q2Settings
) -> Iterator[Row]:
    """The generator's questions about each span of some turns."""
    for start in range(0, len(turns), CHUNK):
        chunk = turns[start : start + CHUNK]
        pairs = [
            (span.text, turn)
            for turn, spans in zip(chunk, informative_spans(chunk), strict=True)
            for span in spans_to_ask(spans, settings)
        ]
        found = generator.generate(pairs)
        for (span, turn), questions in zip(pairs, found, strict=True):
            for question in dict.fromkeys(filter(None, questions)):
                yield {'a': span, 'c': turn, 'q': question}
        logging.info(f'{start + len(chunk)} of {len(turns)} turns')


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write a file of rows."""
    parser = argparse.ArgumentParser(description="A generator's own questions")
    parser.add_argument('--rows', nargs='+', required=True, help='files of rows with r')
    parser.add_argument('--outfile', required=True)
    parser.add_argument('--teacher', default=TEACHER)
    parser.add_argument('--most', type=int, default=0, help='turns to take; 0 for all')
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    args = parser.parse_args(argv)
    preset = load_preset('mini')
    section = preset.models['question_generation']
    settings = {**section.settings, 'num_beams': BEAMS, 'num_questions': TAKEN}
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(args.teacher), device=args.device, **settings
    )
    turns = turns_of(args.rows, args.most)
    rows = question_rows(turns, generator, Q2Settings(**preset.q2))
    logging.info(f'{write_rows(args.outfile, rows)} rows: {args.outfile}')


if __name__ == '__main__':
    main()
