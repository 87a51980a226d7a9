"""What holds of text functions whatever they are given."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from parlai_q2.text.normalize import STOP_WORDS, normalize, tokens
from parlai_q2.text.overlap import token_f1, token_overlap
from parlai_q2.text.sentences import sentences, windows
from parlai_q2.text.spans import informative_spans

# Every code point but lone surrogates, which no decoded file holds.
TEXT = st.text(st.characters(exclude_categories=['Cs']), max_size=120)

# Text in which sentences, marks, stop words and odd spaces are frequent.
_PIECES = st.sampled_from(
    ['the', 'An', 'our', 'in', 'It', 'u', '.', '!', '?', ',', '"', ')', '\n', ' ']
    + ['  ', '\t', '\u00a0', '\u200b', '🐼', 'Zürich', 'naïve', '1969', "don't", 'Mr.']
    + ['a-b', '\u202e', '\0', 'İ', 'ß', 'e\u0301']
)
PROSE = st.lists(_PIECES, max_size=30).map(''.join)
ANY_TEXT = TEXT | PROSE


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_normalised_text_has_no_stop_word_no_mark_and_single_spaces(text):
    normal = normalize(text)
    assert not set(normal.split(' ')) & set(STOP_WORDS)
    assert normal == ' '.join(normal.split())


@settings(deadline=None)
@given(ANY_TEXT)
def test_case_and_surrounding_marks_do_not_matter(text):
    assert normalize(f'  "{text}" ! ') == normalize(text)
    assert tokens(f'The {text}.') == tokens(text)


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_overlap_is_in_range_and_f1_is_symmetric(a, b):
    overlap = token_overlap(a, b)
    assert all(0 <= figure <= 1 for figure in overlap)
    assert token_f1(a, b) == token_f1(b, a)
    assert token_overlap(b, a) == (overlap.recall, overlap.precision, overlap.f1)


@settings(deadline=None)
@given(ANY_TEXT)
def test_sentences_slice_back_and_lose_no_word(text):
    spans = sentences(text)
    for sentence in spans:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ''
    assert [s.start for s in spans] == sorted(s.start for s in spans)
    assert ''.join(''.join(s.text.split()) for s in spans) == ''.join(text.split())


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 12))
@example('0' * 41, 1)  # such a word counts as two
def test_windows_lose_no_word_and_are_as_short_as_asked(text, words):
    spans = windows(text, words)
    for window in spans:
        assert text[window.start : window.end] == window.text
        assert 1 <= len(window.text.split()) <= words
    assert ''.join(''.join(w.text.split()) for w in spans) == ''.join(text.split())


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_TEXT, max_size=4))
def test_spans_slice_back_and_do_not_depend_on_their_company(texts):
    together = informative_spans(texts)
    for text, spans in zip(texts, together, strict=True):
        for span in spans:
            assert text[span.start : span.end] == span.text
            assert span.text.strip()
    assert together == [informative_spans([text])[0] for text in texts]
