"""Reading an answer off the logits, against positions worked out by hand."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from parlai_q2.models.question_answering import (
    MAX_WINDOWS,
    SpanQuestionAnswerer,
    SpanReading,
    better,
    choose_windows,
)
from parlai_q2.presets import ModelConfig

# Positions:  0      1  2     3    4    5    6
#             [CLS]  q  [SEP] red  hot  1983 [SEP]
IN_TEXT = [False, False, False, True, True, True, False]
OFFSETS = [(0, 0), (0, 1), (0, 0), (0, 3), (4, 7), (8, 12), (0, 0)]


def logits(**at):
    values = np.full(7, -5.0, np.float32)
    for position, value in at.items():
        values[int(position[1:])] = value
    return values


def read(start, end, reading='argmax', threshold=0.0, longest=21):
    answerer = SpanQuestionAnswerer(
        ModelConfig('unused'),
        reading=reading,
        no_answer_threshold=threshold,
        max_answer_tokens=longest,
    )
    return answerer.read(start, end, 0, IN_TEXT, OFFSETS)


@pytest.mark.parametrize(
    'start, end, expected, why',
    [
        (logits(p3=4), logits(p4=3), (0, 7), 'likeliest start to likeliest end'),
        (logits(p5=4), logits(p5=3), (8, 12), 'one token'),
        (logits(p4=4), logits(p3=3), None, 'the end is before the start'),
        (logits(p3=4), logits(p0=9, p4=3), None, 'the end is [CLS]'),
        (logits(p1=4), logits(p4=3), None, 'the start is in the question'),
        (logits(p3=4), logits(p6=3), None, 'the end is past the text'),
    ],
)
def test_argmax_takes_start_and_end_independently(start, end, expected, why):
    assert read(start, end).span == expected, why


def test_joint_takes_the_best_legal_pair():
    start, end = logits(p4=4, p3=3), logits(p3=3.5, p5=1)
    # Independent maxima are start 4, end 3: not legal. (3, 3) = 6.5 beats (4, 5) = 5.
    assert read(start, end).span is None
    assert read(start, end, 'joint').span == (0, 3)


def test_joint_keeps_to_the_longest_answer():
    start, end = logits(p3=4), logits(p5=4, p3=0)
    assert read(start, end, 'joint').span == (0, 12)
    assert read(start, end, 'joint', longest=2).span == (0, 3)


@pytest.mark.parametrize(
    'threshold, expected', [(0.0, None), (0.9, None), (1.1, (0, 3))]
)
def test_joint_needs_to_beat_no_answer_by_the_threshold(threshold, expected):
    start, end = logits(p0=2, p3=2), logits(p0=3, p3=2)  # null 5, best 4: margin -1
    reading = read(start, end, 'joint', threshold)
    assert reading.span == expected
    assert reading.margin == pytest.approx(-1)


@pytest.mark.parametrize(
    'first, other',
    [
        (SpanReading((0, 1), -3.0), SpanReading(None, 9.0)),
        (SpanReading((0, 1), 2.0), SpanReading((2, 3), 1.0)),
        (SpanReading(None, -1.0), SpanReading(None, -2.0)),
    ],
)
def test_answers_beat_no_answer_then_the_margin_decides(first, other):
    assert better(first, other)
    assert not better(other, first)


@pytest.mark.parametrize('reading', ['argmax', 'joint'])
def test_no_answer_without_positions_in_the_text(reading):
    answerer = SpanQuestionAnswerer(ModelConfig('unused'), reading=reading)
    nowhere = [False] * 7
    found = answerer.read(logits(p3=4), logits(p4=3), 0, nowhere, OFFSETS)
    assert found == SpanReading(None, float('-inf'))


def _windows(text, size):
    """Windows of so many words."""
    words = [*re.finditer(r'\S+', text)]
    return [
        SimpleNamespace(
            sequence_ids=[None, 0, None, *[1] * size],
            offsets=[(0, 0), (0, 4), (0, 0), *(w.span() for w in words[i : i + size])],
        )
        for i in range(0, len(words), size)
    ]


def test_reads_the_matching_windows_of_a_very_long_text():
    sentences = [f'Room {n} has the number {n}.' for n in range(300)]
    sentences[250] = 'The museum opened late.'
    text = ' '.join(sentences)
    windows = _windows(text, 6)
    read = choose_windows(windows, 'When did the museum open?', text)
    places = [windows.index(window) for window in read]
    assert len(read) == MAX_WINDOWS
    assert places == sorted(places)
    first = windows[places[-1]].offsets[3][0]
    assert 'museum' in text[first : windows[places[-1]].offsets[-1][1]]
    assert places[:-1] == [*range(MAX_WINDOWS - 1)]


def test_reads_the_first_windows_if_none_match():
    text = 'One two three four. ' * 50
    windows = _windows(text, 4)
    assert choose_windows(windows, 'Why?', text) == windows[:MAX_WINDOWS]


def test_all_windows_of_other_texts_are_read():
    text = 'One two three four. ' * MAX_WINDOWS
    windows = _windows(text, 4)
    assert choose_windows(windows, 'Where are four?', text) == windows
