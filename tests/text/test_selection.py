"""Sentences are found by the words they share, the rare ones first."""

import pytest

from parlai_q2.text.selection import SentenceIndex, stems
from parlai_q2.text.sentences import LONGEST, pieces
from parlai_q2.turns import Span

LAKE = (
    'Lake Baikal is in Siberia. It is 1642 metres deep. In winter the lake freezes. '
    'Only one river, the Angara, flows out. Omul is a fish of the lake.'
)


def texts(index, chosen):
    return [index.sentences[i].text for i in chosen]


def test_function_words_do_not_count_and_words_are_cut():
    assert stems('It was the flowing of rivers') == {'flowi', 'river'}


@pytest.mark.parametrize(
    'statement, best, why',
    [
        ('It is 1642 metres deep.', 'It is 1642 metres deep.', 'the same'),
        ('The rivers flow out.', 'Only one river, the Angara, flows out.', 'stems'),
        ('the lake fish', 'Omul is a fish of the lake.', 'the rare word decides'),
        ('so what', 'Lake Baikal is in Siberia.', 'nothing matches: the first'),
    ],
)
def test_the_sentence_that_shares_the_most(statement, best, why):
    index = SentenceIndex(LAKE)
    assert texts(index, index.best(statement, 1)) == [best], why


@pytest.mark.parametrize(
    'statement, expected',
    [
        ('It is 1642 metres deep.', [1]),
        ('It is 1642 metres deep, and the Angara flows out.', [1, 3]),
        ('so what', []),
    ],
)
def test_what_a_statement_may_rest_on_together(statement, expected):
    assert SentenceIndex(LAKE).together(statement, 3) == expected


@pytest.mark.parametrize(
    'response, max_words, expected, why',
    [
        ('It is deep. Bees sing. It is 1642.', 2, [1], 'most words are new'),
        ('It is deep. Bees sing. It is 1642.', 5, [0, 1], 'then the first'),
        ('It is deep. It is deep. Bees sing.', 9, [0, 2], 'each sentence once'),
        ('Bees sing songs.', 1, [0], 'one in any case'),
        (' ', 9, [], 'nothing'),
    ],
)
def test_what_the_knowledge_covers_least(response, max_words, expected, why):
    index = SentenceIndex(response)
    assert index.least_covered(SentenceIndex(LAKE), max_words) == expected, why


def test_what_is_found_in_joined_sentences_is_located_in_the_text():
    index = SentenceIndex(LAKE)
    chosen = [1, 3]
    joined = index.joined(chosen)
    for word in ('1642 metres', 'Angara'):
        start = joined.index(word)
        passage, span = index.located(chosen, start, start + len(word))
        assert passage == 0
        assert span.text == LAKE[span.start : span.end] == word
    later = SentenceIndex('Bees have five eyes.', LAKE)
    start = later.joined([4]).index('Angara')
    assert later.located([4], start, start + 6) == (1, Span('Angara', *span[1:]))
    # Over the end of a sentence: what lies in the first one.
    start = joined.index('deep')
    assert index.located(chosen, start, len(joined))[1].text == 'deep.'


@pytest.mark.parametrize(
    'passages',
    [
        ('It is deep. Very.', 'Bees see'),
        ('no end mark', '" Dr. Lee left. ', '', ' ', '5. It is'),
        ('u . s .', 'Mr . Lee', 'No. 7 . 8', 'a\n\nb', '\rc.'),
        (LAKE, LAKE, 'word ' * 150),
    ],
)
def test_passages_have_the_sentences_of_their_joined_text(passages):
    index, whole = SentenceIndex(*passages), SentenceIndex('\n'.join(passages))
    assert (index.text, index.words) == (whole.text, whole.words)
    assert [s.text for s in index.sentences] == [s.text for s in whole.sentences]
    placed = [*zip(index.passages, index.sentences)]
    assert placed == [index.located((), s.start, s.end) for s in whole.sentences]
    for number, span in placed:
        assert passages[number][span.start : span.end] == span.text


def test_what_goes_beyond_a_passage_is_cut_at_its_end():
    index = SentenceIndex('Bees.', '', 'Ants. Wasps.')
    assert index.text == index.joined(()) == 'Bees.\n\nAnts. Wasps.'
    assert index.located((), 0, 11) == (0, Span('Bees.', 0, 5))
    assert index.located((), 7, 19) == (2, Span('Ants. Wasps.', 0, 12))
    # A token of some models begins with the white space before it.
    assert index.located((), 6, 12) == (2, Span('Ants.', 0, 5))
    # Nothing behind the end.
    assert index.located((), 19, 19) == (2, Span('', 12, 12))


def test_pieces_are_short_and_cover_every_word():
    text = 'short one. ' + 'word ' * 150 + '. ' + '漢' * 5000
    spans = pieces(text)
    assert all(text[p.start : p.end] == p.text for p in spans)
    assert all(len(p.text.split()) <= LONGEST for p in spans)
    assert ''.join(''.join(p.text for p in spans).split()) == ''.join(text.split())
    assert max(len(p.text) for p in spans) <= LONGEST * 41
    empty = SentenceIndex(' \n')
    assert (empty.best('bees', 3), empty.together('bees', 3)) == ([], [])
