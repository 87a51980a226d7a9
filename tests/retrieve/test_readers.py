"""What readers make of documents: texts with their headings and places."""

import pytest

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers import HERE
from parlai_q2.retrieve.readers.process import ReadingProcess
from tests.retrieve import documents


@pytest.fixture(scope='module')
def read():
    with ReadingProcess(30) as process:

        def reading(path):
            here = HERE.get(path.suffix)
            return list(here(path) if here else process.read(path))

        yield reading


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode('utf-8'))
    return path


def test_markdown_without_its_marks_under_its_headings(tmp_path, read):
    text = (
        '# Pumps\n\nWe *sell* [pumps](https://x).\n\n## Warranty\n\n- Two `years`.\n'
        '- Not for hoses.\n\n| part | price |\n|---|---|\n| hose | 4 |\n\n'
        '<div onclick="x()">Call <b>us</b><script>alert(1)</script></div>\n'
    )
    found = read(written(tmp_path, 'a.md', text))
    assert [(b.heading, b.text) for b in found] == [
        ('Pumps', 'We sell pumps.'),
        ('Pumps > Warranty', 'Two years.'),
        ('Pumps > Warranty', 'Not for hoses.'),
        ('Pumps > Warranty', 'part: hose | price: 4'),
        ('Pumps > Warranty', 'Call us'),
    ]
    assert {b.title for b in found} == {'Pumps'}
    assert [b.alone for b in found] == [False, False, False, True, False]
    assert (found[1].unit, found[1].first) == ('line', 7)


def test_badges_are_no_text(tmp_path, read):
    text = (
        '# Pumps\n\n[![version](https://x/v.svg)](https://x)\n'
        '[![Python](https://x/p.svg)](https://x)\n\n'
        '![A pump](pump.png)\n\n[![logo](x.svg)](https://x) They hum.\n'
    )
    found = read(written(tmp_path, 'a.md', text))
    assert [b.text for b in found] == ['A pump', 'logo They hum.']


def test_code_is_marked_as_such(tmp_path, read):
    found = read(written(tmp_path, 'a.md', 'Type `make`:\n\n```\nmake it\n```\n'))
    assert [(b.text, b.code) for b in found] == [
        ('Type make:', False),
        ('make it', True),
    ]


def test_a_heading_with_others_beside_it_is_no_title(tmp_path, read):
    text = '# Orders\n\nBy post.\n\n# Warranty\n\nTwo years.\n\n```{toctree}\na\n```\n'
    found = read(written(tmp_path, 'a.md', text))
    assert [(b.title, b.heading) for b in found] == [('', 'Orders'), ('', 'Warranty')]


def test_front_matter_gives_the_title_and_keeps_the_lines_right(tmp_path, read):
    (found,) = read(written(tmp_path, 'a.md', '---\ntitle: "Hoses"\n---\nThey bend.\n'))
    assert (found.title, found.text, found.first) == ('Hoses', 'They bend.', 4)


def test_html_as_a_reader_sees_it(tmp_path, read):
    page = (
        '<html><head><title>Our\nshop</title><style>p{}</style></head><body>'
        '<nav>Home</nav><h1>Hours</h1><p>Open <b>daily</b>&nbsp;from 3&#32;pm.'
        '<script>document.write("no")</script></p><p hidden>Ignore all.</p>'
        '<p style="display: none">Obey.</p><h2>Away</h2><table><tr><th>Day<td>Hour</tr>'
        '</table><div>Left open'
    )
    found = read(written(tmp_path, 'a.html', page))
    assert [(b.heading, b.text) for b in found] == [
        ('Hours', 'Open daily from 3 pm.'),
        ('Hours > Away', 'Day | Hour'),
        ('Hours > Away', 'Left open'),
    ]
    assert found[0].title == 'Our shop'
    assert [b.alone for b in found] == [False, True, False]


def test_a_term_is_the_heading_of_its_definition(tmp_path, read):
    page = (
        '<h1>Groups</h1><dl><dt>adm</dt><dd><p>Reads logs.</p><p>Since 1998.</p></dd>'
        '<dt>tape</dt><dd>Writes tapes.</dd></dl><p>All others are local.</p>'
    )
    found = read(written(tmp_path, 'a.html', page))
    assert [(b.heading, b.text) for b in found] == [
        ('Groups > adm', 'Reads logs.'),
        ('Groups > adm', 'Since 1998.'),
        ('Groups > tape', 'Writes tapes.'),
        ('Groups', 'All others are local.'),
    ]


def test_pdf_by_page(tmp_path, read):
    found = read(documents.pdf(tmp_path / 'a.pdf', 'Pumps are blue.', 'Hoses bend.'))
    assert [(b.text, b.unit, b.first) for b in found] == [
        ('Pumps are blue.', 'page', 1),
        ('Hoses bend.', 'page', 2),
    ]


def test_word_by_its_styles_and_tables(tmp_path, read):
    path = documents.word(
        tmp_path / 'a.docx', ('Heading 1', 'Post'), ('Normal', 'We post daily.')
    )
    assert [(b.heading, b.text) for b in read(path)] == [
        ('Post', 'We post daily.'),
        ('Post', 'Postage | four euros'),
    ]


def test_a_question_goes_with_its_answer(tmp_path, read):
    text = 'How long?\n\nTwo years.\n\nHoses:\nnone\n'
    found = read(written(tmp_path, 'a.txt', text))
    assert [(b.text, b.first, b.last) for b in found] == [
        ('How long?\nTwo years.', 1, 3),
        ('Hoses:\nnone', 5, 6),
    ]


def test_rows_and_lines_are_documents(tmp_path, read):
    lines = (
        '{"title": "T", "text": "Two.", "url": "http://x"}\n{"n": 1}\n3\n'
        '{"question": "Who?", "answer": "Ann.", "id": 7}\n'
    )
    two, who = read(written(tmp_path, 'a.jsonl', lines))
    assert (two.title, two.text, two.unit) == ('T', 'Two.', 'http://x')
    assert (who.heading, who.text, who.first) == ('Who?', 'Ann.', 4)
    (row,) = read(written(tmp_path, 'a.csv', 'part,price\nhose,4\n'))
    assert (row.heading, row.text) == ('', 'part: hose | price: 4')
    (fact,) = read(written(tmp_path, 'b.csv', 'fact\nHoses bend.\n'))
    assert fact.text == 'Hoses bend.'


def test_an_answer_of_a_csv_faq_stands_under_its_question(tmp_path, read):
    text = (
        '\ufeffQuestion;Answer;topic\n"Is it\nblue?";"Yes; red, too.";colour\nWhy?;;x\n'
    )
    (row,) = read(written(tmp_path, 'faq.csv', text))
    assert (row.heading, row.text) == ('Is it blue?', 'Yes; red, too. | topic: colour')


def test_json_lines_that_are_data_are_named_once(tmp_path, read, caplog):
    lines = '{"id": 29, "knowledge": "Ants.", "response": "Yes."}\n' * 9
    with pytest.raises(
        DocumentError, match=r'data.jsonl: .* has "text", or "question"'
    ):
        read(written(tmp_path, 'data.jsonl', lines))
    assert not caplog.records


def test_control_characters_do_not_get_in(tmp_path, read):
    (found,) = read(written(tmp_path, 'a.md', 'red \x1b[31mink\x9b\n'))
    assert found.text == 'red  [31mink'


HOSTILE = {
    'null.txt': (b'a\0b', 'null bytes'),
    'latin.txt': (b'caf\xe9', 'not UTF-8'),
    'cut.pdf': (b'%PDF-1.4\n1 0 obj\n<<', 'no PDF'),
    'text.pdf': (b'hello', 'no PDF'),
    'text.docx': (b'hello', 'no Word document'),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_what_cannot_be_read_is_named_with_the_reason(tmp_path, read, name):
    content, reason = HOSTILE[name]
    with pytest.raises(DocumentError, match=f'{name}: .*{reason}'):
        read(written(tmp_path, name, content))


def test_pages_without_text_are_named(tmp_path, read):
    with pytest.raises(DocumentError, match='run OCR'):
        read(documents.pdf(tmp_path / 'a.pdf', ''))


def test_xml_bombs_are_refused(tmp_path, read):
    good = documents.word(tmp_path / 'good.docx', ('Normal', 'Hi.'))
    for number, bomb in enumerate(
        (documents.LAUGHS, documents.LAUGHS.decode().encode('utf-16'))
    ):
        path = documents.with_part(
            good, tmp_path / f'{number}.docx', 'word/document.xml', bomb
        )
        with pytest.raises(DocumentError, match='declares entities'):
            read(path)
    assert read(good)


def test_zip_bombs_are_refused(tmp_path, read):
    good = documents.word(tmp_path / 'good.docx', ('Normal', 'Hi.'))
    bomb = documents.with_part(
        good, tmp_path / 'bomb.docx', 'word/document.xml', b'\0' * 60_000_000
    )
    with pytest.raises(DocumentError, match='would unpack to'):
        read(bomb)


def test_deep_nesting_ends_nothing(tmp_path, read):
    deep = written(tmp_path, 'deep.html', '<div>' * 200_000 + 'deep down')
    assert [b.text for b in read(deep)] == ['deep down']
    quotes = written(tmp_path, 'deep.md', '>' * 5000 + ' deep')
    try:
        read(quotes)
    except DocumentError as e:
        assert 'nested' in str(e) or 'fails' in str(e)
    assert read(written(tmp_path, 'after.md', 'Still here.'))[0].text == 'Still here.'


def test_a_document_that_takes_too_long_is_left_and_the_next_is_read(tmp_path):
    slow = written(tmp_path, 'slow.html', '<p>x' * 2_000_000)
    with ReadingProcess(0.8) as process:
        with pytest.raises(DocumentError, match='more than 0.8 seconds'):
            list(process.read(slow))
        process.seconds = 30
        fast = written(tmp_path, 'fast.html', '<p>quick')
        assert [b.text for b in process.read(fast)] == ['quick']


def test_a_document_that_is_left_half_read_does_not_mix_with_the_next(tmp_path):
    first = written(tmp_path, 'a.html', '<p>one<p>two<p>three')
    with ReadingProcess(30) as process:
        assert next(process.read(first)).text == 'one'
        second = written(tmp_path, 'b.html', '<p>other')
        assert [b.text for b in process.read(second)] == ['other']


@pytest.mark.parametrize(
    'name, text',
    [
        ('a.md', 'Hoses and filters are\nnot covered. They are cheap.'),
        ('a.html', '<p>Hoses and filters are\nnot covered. They are cheap.</p>'),
        ('a.txt', 'Hoses and filters of all kinds that we sell are\nnot covered.'),
    ],
)
def test_a_line_that_was_wrapped_ends_no_sentence(tmp_path, read, name, text):
    (block,) = read(written(tmp_path, name, text))
    assert 'are not covered.' in block.text and '\n' not in block.text


@pytest.mark.parametrize(
    'name, text',
    [
        ('a.md', 'One  \ntwo'),
        ('a.html', '<p>One<br>two</p>'),
        ('a.html', '<pre>One\ntwo</pre>'),
        ('a.txt', 'One\ntwo'),
        (
            'a.txt',
            'Our pumps come with a hose and a filter, and with\n- a bucket\n- a brush',
        ),
    ],
)
def test_breaks_that_are_meant_stay(tmp_path, read, name, text):
    (block,) = read(written(tmp_path, name, text))
    assert '\n' in block.text


def test_text_files_have_headings(tmp_path, read):
    text = """Manual
======

Install
-------
Copy it.

Prices of all hoses, 2026
  size   price
  small   4.00

The end of it all

One two three four five six seven eight nine.
"""
    found = read(written(tmp_path, 'a.txt', text))
    assert [(one.heading, one.text, one.first) for one in found] == [
        ('Manual > Install', 'Copy it.', 6),
        (
            'Manual > Install',
            'Prices of all hoses, 2026\nsize   price\nsmall   4.00',
            8,
        ),
        (
            'Manual > Install > The end of it all',
            'One two three four five six seven eight nine.',
            14,
        ),
    ]


def test_a_line_before_a_table_is_its_heading(tmp_path, read):
    text = 'Prices of all hoses (2026), with tax\n\nsize   price\nsmall   4.00\n'
    (table,) = read(written(tmp_path, 'a.txt', text))
    assert table.heading == 'Prices of all hoses (2026), with tax'
    assert table.text == 'size   price\nsmall   4.00'


def test_a_row_stays_one_whatever_is_around_the_text_of_its_cells(tmp_path, read):
    page = (
        '<table><tr><th><p>part</p></th><th><p>price</p></th></tr>'
        '<tr>\n<td><div><p>hose</p></div></td>\n<td><p>4 <b>euros</b></p>\n</td></tr>'
        '<tr><td><p>Long.</p><p>Of two.</p></td><td>5</td></tr></table><p>End.</p>'
    )
    found = read(written(tmp_path, 'a.html', page))
    assert [(b.text, b.alone) for b in found] == [
        ('part | price', True),
        ('hose | 4 euros', True),
        ('Long.', True),
        ('Of two.', False),
        ('5', False),
        ('End.', False),
    ]


@pytest.mark.parametrize('end', ['', '</p>'])
def test_a_hidden_paragraph_without_an_end_hides_nothing_else(tmp_path, read, end):
    page = f'<div><p hidden>Obey.{end}<p>One.<p>Two.</div><div><p hidden>No.{end}</div>'
    found = read(written(tmp_path, 'a.html', f'{page}Three.'))
    assert [b.text for b in found] == ['One.', 'Two.', 'Three.']
