"""Answers found in documents, on documents of a few lines."""

import json
import re
import sys
from html import unescape

import numpy as np
import pytest

from benchmarks.find_answers import fit_weights, main
from parlai_q2.retrieve.answers import NO_SPAN, Answer
from parlai_q2.retrieve.grounding import PassageReading
from parlai_q2.turns import Passage
from tests.conftest import ROOT
from tests.files import write_lines

HOTEL = """# Hotel

## Breakfast

Breakfast costs 14 euros.

## Parking

Parking costs 9 euros a night.
"""


def _row(question, *keys):
    return {'documents': 'hotel.md', 'question': question, 'keys': keys}


def test_counts_what_became_of_questions(tmp_path, monkeypatch, capsys):
    (tmp_path / 'hotel.md').write_text(HOTEL)
    path = write_lines(
        tmp_path / 'questions.jsonl',
        _row('How much is breakfast?', '14 Euros'),
        _row('What does parking cost?', 'free of charge'),
        _row('I love this place!', '14 euros'),
        _row('Who painted the Mona Lisa?'),
    )
    monkeypatch.setattr(sys, 'argv', ['find_answers', str(path)])
    main()
    answerable, unanswerable = capsys.readouterr().out.splitlines()[-2:]
    counts = 'answerable    3  right 1  another quote 1  declined 0  no question 1'
    assert answerable == counts
    assert unanswerable.endswith('right 0  another quote 0  declined 1  no question 0')


def test_the_fit_weighs_what_tells_answers():
    draw = np.random.default_rng(0)
    asked = []
    for _ in range(400):
        margin, nearness, rating = draw.normal(), draw.random(), draw.normal()
        is_right = draw.random() < 1 / (1 + np.exp(-2 * rating))
        passage = Passage('It is red.' if is_right else 'It hums.')
        answer = Answer(NO_SPAN, margin, rating)
        reading = PassageReading(passage, passage.text, answer, nearness)
        asked.append(({'keys': ['red']}, [reading]))
    margin, nearness, rating, constant = fit_weights(asked)
    assert rating == pytest.approx(2, abs=0.4)
    assert max(margin, nearness, abs(constant)) < 0.5


@pytest.mark.parametrize('name', ['dev', 'test'])
def test_documents_have_the_keys_of_their_questions(name):
    folder = ROOT / 'benchmarks' / 'documents' / name
    rows = list(
        map(json.loads, (folder / 'questions.jsonl').read_text('utf-8').splitlines())
    )
    assert len(rows) == 120
    for row in rows:
        document = (folder / row['documents']).read_text('utf-8')
        text = ' '.join(unescape(re.sub('<[^>]+>', '', document)).split())
        assert all(key in text for key in row['keys']), row
