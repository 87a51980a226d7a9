"""Texts are prepared for scorers, and keep their offsets."""

import time

import pytest

from parlai_q2.text.prepare import has_words, prepare, prepare_passage
from parlai_q2.turns import Span

BEES = 'Bees make honey. Bees live in hives.'


@pytest.mark.parametrize(
    'text, read',
    [
        ('don’t – “so” …', 'don\'t - "so" ...'),
        ('of 1939–45, 2010-12-05, 2009-11', 'of 1939-1945, 2010-12-05, 2009-11'),
        ('H₂O, ﬁne, １２, 10² m²', 'H2O, fine, 12, 10² m²'),
        ('m<sup>2</sup> of <b>999</b><br>words', 'm² of 999 words'),
        ('**999** `x` *so* ~~no~~ a * b * c snake_case_name', None),
        ('1. Bees make honey.\n2. Bees live in hives.', BEES),
        ('1. Bees make honey. 2. Bees live in hives.', BEES),
        ('1) Bees make honey.\n2) Bees live in hives.', BEES),
        ('(1) Bees make honey. (2) Bees live in hives.', BEES),
        ('a) Bees make honey.\nb) Bees live in hives.', BEES),
        ('(1) dig, (2) sow and (3) wait', 'dig, sow and wait'),
        ('- Bees make honey.\n- Bees live in hives.', BEES),
        ('First, Bees make honey. Second, Bees live in hives.', BEES),
        ('Firſt, Bees make honey. ſecond, Bees live in hives.', BEES),
        ('١. Bees make honey. ٢. Bees live in hives.', BEES),
        ('Bees make honey [1]. Bees live in hives. [2]', BEES),
        ('## Answer\n\nBees make honey. Bees live in hives.', BEES),
        ('Here it is:\n\n* **Bees make honey.**\n* **Bees live in hives.**', BEES),
        ('See [our page](/faq).', 'See our page.'),
        ('It is \x1b[1;31mred\x1b[0m.', 'It is red.'),
        ('It was 1. Then 5. First, it rained.', 'It was 1. Then 5. First, it rained.'),
        ('', ''),
        ('## 1. Opened in 1903', 'Opened in 1903'),
        ('1. Bees make honey. Bees live in hives.', BEES),
        ('(1) Bees make honey. Bees live in hives.', BEES),
        ('Here it is:\nStep 1: Bees make honey. Bees live in hives.', BEES),
        ('2. Bees live in hives.', '2. Bees live in hives.'),
        ('1. 5 metres', '1. 5 metres'),
    ],
)
def test_markup_goes_and_equal_characters_become_one(text, read):
    if read is None:
        read = '999 x so no a * b * c snake_case_name'
    assert ' '.join(prepare(text).text.split()) == read


@pytest.mark.parametrize('prepare_text', [prepare, prepare_passage])
@pytest.mark.parametrize(
    'text, read',
    [
        ('It was made\nby Anna Keller. It\r\n  is old.', None),
        ('It was made,\nas all know,\nby Anna.', None),
        ('It is kept in Leeds and\nDublin. We do not\naccept dogs.', None),
        ('It opens at\n10:00 in winter.', None),
        ('Wi-Fi is on\nThe door is open', 'Wi-Fi is on\nThe door is open'),
        ('Log in, and\n2. go on', 'Log in, and\n2. go on'),
        (
            '- It was made\n- in 1950.\n- It is old.',
            'It was made\nin 1950.\nIt is old.',
        ),
        ('a) It was made.\nb) by Anna.', 'It was made.\nby Anna.'),
        ('It was made\n\nby Anna.', 'It was made\n\nby Anna.'),
        ('It was made\nBy Anna.', 'It was made\nBy Anna.'),
        ('# It was all made here\nby Anna.', 'It was all made here\nby Anna.'),
    ],
)
def test_a_line_break_inside_a_sentence_does_not_end_it(prepare_text, text, read):
    prepared = prepare_text(text)
    assert prepared.text == (' '.join(text.split()) if read is None else read)
    if read is None:
        # Its offsets are those of the text with the line break.
        whole = Span(prepared.text, 0, len(prepared.text))
        assert prepared.locate(whole) == Span(text, 0, len(text))


STATEMENTS = [
    'The owner of R-11 is Ivo Marek.',
    'The state of R-11 is open.',
    'The owner of R-12 is Bea Okoye.',
    'The state of R-12 is closed.',
]


@pytest.mark.parametrize(
    'text',
    [
        'R-11\nowner: Ivo Marek\nstate: open\n\nR-12\nowner: Bea Okoye\nstate: closed',
        '## R-11\n- **owner**: Ivo Marek\n- **state**: open\n\n## R-12\n'
        '- owner: Bea Okoye\n- state: closed',
        '| Risk | Owner | State |\n|---|---|---|\n| R-11 | Ivo Marek | open |\n'
        '| R-12 | Bea Okoye | closed |',
        'risk,owner,state\nR-11,Ivo Marek,open\nR-12,Bea Okoye,closed',
        'Risk | Owner | State\nR-11 | Ivo Marek | open\nR-12 | Bea Okoye | closed',
        'risk,owner,state\nR-10,"Abe, Ann",-\nR-11,Ivo Marek,open\n'
        'R-12,"Bea Okoye",closed',
        'risk\towner\tstate\nR-11\tIvo Marek\topen\nR-12\tBea Okoye\tclosed',
        '[{"name": "R-11", "owner": "Ivo Marek", "state": "open"},\n'
        ' {"name": "R-12", "owner": "Bea Okoye", "state": "closed"}]',
    ],
)
def test_records_are_read_as_sentences_with_their_names(text):
    prepared = prepare_passage(text)
    lines = [line for line in prepared.text.splitlines() if line in STATEMENTS]
    assert lines == STATEMENTS
    start = prepared.text.index('Bea Okoye')
    located = prepared.locate(Span('Bea Okoye', start, start + len('Bea Okoye')))
    assert located.text == 'Bea Okoye' == text[located.start : located.end]


@pytest.mark.parametrize(
    'text',
    [
        'Anna: Hi, how are you?\nBen: I am fine.\nAnna: Good.',
        'Bees, wasps and ants have wings.\nThey fly, and they sting.',
        'Note: it is old.',
        'Home | About | Contact\nBlog | Shop | Help\nTerms | Privacy | Imprint',
        '# Needed\n\n- flour, sifted\n- butter, melted\n- sugar, white\n',
        'Our rooms:\nDouble, sea view\nSingle, garden view\nSuite, sea view',
        'Price | 9 euros\nColour | red\nSize | large',
        '{"broken": ',
        '[1]\n',
        '',
    ],
)
def test_prose_is_not_read_as_records(text):
    assert 'The ' not in prepare_passage(text).text


def test_rows_of_two_columns_keep_the_name_of_their_list():
    text = prepare_passage('Opening hours:\nMonday | 9-17\nTuesday | closed').text
    assert text.splitlines() == [
        'Opening hours: Monday | 9-17.',
        'Opening hours: Tuesday | closed.',
    ]


@pytest.mark.parametrize(
    'prepare_text, text',
    [
        (prepare_passage, 'a,b\n' + 'c,-\n' * 4000),
        (prepare, 'and so on and the\n' * 20_000),
        (prepare_passage, f'a\n{" " * 9**5}-'),
    ],
)
def test_long_texts_are_read_in_little_time(prepare_text, text):
    start = time.process_time()
    prepare_text(text)
    assert time.process_time() - start < 5


def test_cells_in_quotes_and_without_a_value():
    text = prepare_passage('name,rooms,hosts\nR-1,-,"Abe, Ann"\nR-2,3,Bo').text
    assert text.splitlines() == [
        'The hosts of R-1 is Abe, Ann.',
        'The rooms of R-2 is 3.',
        'The hosts of R-2 is Bo.',
    ]


def test_a_table_without_a_rule_may_stand_below_a_heading_and_count_in_its_head():
    text = prepare_passage(
        'Fees\nCheck | Adults | Under 18\nA | £48 | free\nB | £9 | £5'
    )
    assert text.text.splitlines() == [
        'Fees',
        'The adults of A is £48.',
        'The under 18 of A is free.',
        'The adults of B is £9.',
        'The under 18 of B is £5.',
    ]


def test_an_opening_time_keeps_the_name_of_its_list():
    text = 'Opening hours\nMon-Fri 9-17\nSat 10-14'
    assert prepare_passage(text).text.splitlines() == [
        'Opening hours: Mon-Fri 9-17.',
        'Opening hours: Sat 10-14.',
    ]


@pytest.mark.parametrize(
    'text',
    [
        '# ' * 500,
        '1. ' * 500,
        '[' * 9999,
        '**' * 999,
        '<' * 999,
        '|\n' * 99,
        '[' + '{"a":[' * 900 + ']}' * 900 + ']',
    ],
)
def test_odd_markup_is_read_without_an_error(text):
    assert len(prepare(text).text) <= len(text)
    prepare_passage(text)


@pytest.mark.parametrize('text, expected', [('.', 0), (':)', 0), ('a a', 0), ('4', 1)])
def test_what_has_words(text, expected):
    assert has_words(text) == expected
