"""What the property tests draw from."""

from hypothesis import strategies as st

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
