"""Rows for distilling a detector: what it reads of replies."""

import random

from parlai_q2.zoo.train.distil_rows import rows_of

PASSAGE = 'The museum opened in 1903. It was designed by Anna Keller.'


def test_a_row_is_a_sentence_of_a_reply_as_the_detector_reads_it():
    reply = 'Nice! It opened in nineteen hundred and three.'
    rows = list(rows_of([PASSAGE], reply, random.Random(1)))
    assert {row['h'] for row in rows} == {'nice!', 'it opened in 1903.'}
    assert PASSAGE.lower() in {row['p'] for row in rows}


def test_the_best_sentence_is_sometimes_read_alone():
    premises = {
        row['p']
        for seed in range(20)
        for row in rows_of([PASSAGE], 'It opened in 1903.', random.Random(seed))
    }
    assert premises == {PASSAGE.lower(), 'the museum opened in 1903.'}
