"""Rows for distilling a detector: what it reads of replies, with a teacher's logits."""

import math
import random

import pytest

from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.zoo.train.distil_rows import add_logits, rows_of

PASSAGE = 'The museum opened in 1903. It was designed by Anna Keller.'


class EntailsShort:
    def classify(self, pairs):
        return [
            NliProbabilities(float(len(text) < 20), float(len(text) >= 20), 0.0)
            for _, text in pairs
        ]


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


def test_rows_get_the_logits_of_their_own_texts():
    rows = [{'p': 'x', 'h': 'a long text that is not'}, {'p': 'x', 'h': 'short'}]
    add_logits(rows, EntailsShort())
    likeliest = [row['teacher'].index(max(row['teacher'])) for row in rows]
    assert likeliest == [1, 0]
    assert rows[1]['teacher'][1] == pytest.approx(math.log(1e-5))
