import pytest

from parlai_q2.claims import Status
from parlai_q2.report.spans import Mark, TextPiece, clip, cut
from parlai_q2.turns import Span

TEXT = 'Madonna sang in 1985.'
GOOD, DOUBT, BAD = Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED


def span(start, end):
    return Span(TEXT[max(start, 0) : end], start, end)


@pytest.mark.parametrize(
    'spans, expected',
    [
        ([], [(TEXT, None, ())]),
        ([(0, 7, GOOD)], [('Madonna', GOOD, (0,)), (' sang in 1985.', None, ())]),
        # Nested: the graver status shows, whichever comes first.
        (
            [(0, 12, GOOD), (0, 7, BAD)],
            [('Madonna', BAD, (0, 1)), (' sang', GOOD, (0,)), (' in 1985.', None, ())],
        ),
        # Overlapping.
        (
            [(0, 12, DOUBT), (8, 20, BAD)],
            [
                ('Madonna ', DOUBT, (0,)),
                ('sang', BAD, (0, 1)),
                (' in 1985', BAD, (1,)),
                ('.', None, ()),
            ],
        ),
        # Beyond the text, before it, empty, backwards.
        ([(16, 999, BAD)], [('Madonna sang in ', None, ()), ('1985.', BAD, (0,))]),
        ([(-5, 7, GOOD)], [('Madonna', GOOD, (0,)), (' sang in 1985.', None, ())]),
        ([(12, 7, BAD)], [(TEXT, None, ())]),
        # Chit-chat is not marked.
        ([(0, 7, Status.GENERIC)], [(TEXT, None, ())]),
    ],
)
def test_a_text_is_cut_at_its_spans(spans, expected):
    marks = [Mark(span(s, e), status, n) for n, (s, e, status) in enumerate(spans)]
    pieces = cut(TEXT, marks)
    assert [(p.text, p.status, p.claims) for p in pieces] == expected


def test_a_clipped_text_keeps_its_marks_and_says_what_it_left_out():
    pieces = [
        TextPiece('w ' * 500),
        TextPiece('1985', BAD, (0,)),
        TextPiece(' w' * 500),
    ]
    clipped = clip(pieces, limit=100, context=10)
    assert TextPiece('1985', BAD, (0,)) in clipped
    text = ''.join(p.text for p in clipped)
    assert len(text) < 100
    assert text.count('characters ...]') == 2
    assert '[... 992 characters ...]' in text
