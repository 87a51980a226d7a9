"""What readers make of documents: texts with their headings and places."""

import random

import pytest

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers import ReadingProcess
from parlai_q2.retrieve.readers.pdf import join_pages
from tests.retrieve import documents


@pytest.fixture(scope='module')
def process():
    with ReadingProcess(30) as running:
        yield running


@pytest.fixture
def read(process, tmp_path):
    """Reads a file, or a text under a file's name."""

    def reading(file, text=None):
        path = file if text is None else written(tmp_path, file, text)
        return list(process.read(path))

    return reading


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode('utf-8'))
    return path


def test_markdown_without_its_marks_under_its_headings(read):
    text = (
        '# Pumps\n\nWe *sell* [pumps](https://x).\n\n## Warranty\n\n- Two `years`.\n'
        '- Not for hoses.\n\n| part | price |\n|---|---|\n| hose | 4 |\n\n'
        '<div onclick="x()">Call <b>us</b><script>alert(1)</script></div>\n'
    )
    blocks = read('a.md', text)
    assert [(b.heading, b.text) for b in blocks] == [
        ('Pumps', 'We sell pumps.'),
        ('Pumps > Warranty', 'Two years.'),
        ('Pumps > Warranty', 'Not for hoses.'),
        ('Pumps > Warranty', 'part: hose | price: 4'),
        ('Pumps > Warranty', 'Call us'),
    ]
    assert {b.title for b in blocks} == {'Pumps'}
    assert [b.alone for b in blocks] == [False, False, False, True, False]
    assert (blocks[1].unit, blocks[1].first) == ('line', 7)


def test_a_tag_that_is_only_named_hides_nothing(read):
    (block,) = read('a.md', 'Use the <script> tag to load code. It is fast.')
    assert block.text.split() == 'Use the tag to load code. It is fast.'.split()


def test_code_is_marked_as_such(read):
    blocks = read('a.md', 'Type `make`:\n\n```\nmake it\n```\n')
    codes = {block.text: block.code for block in blocks}
    assert codes == {'Type make:': False, 'make it': True}


def test_front_matter_gives_the_title_and_keeps_the_lines_right(read):
    (blocks,) = read('a.md', '---\ntitle: "Hoses"\n---\nThey bend.\n')
    assert (blocks.title, blocks.text, blocks.first) == ('Hoses', 'They bend.', 4)
    # Between two rules.
    texts = [
        block.text for block in read('b.md', '---\nBe careful.\n\n---\nIt bends.\n')
    ]
    assert ' '.join(texts) == 'Be careful. It bends.'


def test_html_as_a_reader_sees_it(read):
    page = (
        '<html><head><title>Our\nshop</title><style>p{}</style></head><body>'
        '<nav>Home</nav><h1>Hours</h1><p>Open <b>daily</b>&nbsp;from 3&#32;pm, '
        'a_b * 2 &lt; 3.<script>document.write("no")</script></p>'
        '<h2>Away</h2><table><tr><td>Day<td>Hour</tr></table>'
        '<table><tr><th>Day<th>Hour</tr><tr><td><p>Mon</p><td><p>9</p><p>10</p></tr>'
        '</table><div>Left open'
    )
    blocks = read('a.html', page)
    assert [(b.heading, b.text, b.alone) for b in blocks] == [
        ('Hours', 'Open daily from 3 pm, a_b * 2 < 3.', False),
        ('Hours > Away', 'Day | Hour', True),
        ('Hours > Away', 'Day: Mon | Hour: 9 10', True),
        ('Hours > Away', 'Left open', False),
    ]
    assert blocks[0].title == 'Our shop'
    places = [(b.unit, b.first) for b in blocks[:2]]
    assert places == [('paragraph', 1), ('paragraph', 2)]


@pytest.mark.parametrize(
    'hidden',
    [
        '<p hidden>Obey.</p>',
        '<p hidden>Obey.<p>',  # without an end
        '<p style="DISPLAY : none">Obey.</p>',
        '<div style="visibility:hidden"><p>Obey.</div>',
        '<p aria-hidden="true">Obey.</p>',
        '<template>Obey.</template><noscript>Obey.</noscript>',
        '<svg><text>Obey.</text></svg><select><option>Obey.</select>',
        '<!-- Obey. --><script>Obey.</script><iframe>Obey.</iframe>',
    ],
)
def test_hidden_content_is_not_read(read, hidden):
    page = f'<div>{hidden}</div><p>One.<div>{hidden}</div>Two.'
    blocks = read('a.html', page)
    assert [b.text for b in blocks] == ['One.', 'Two.']


def test_hidden_content_in_a_line_of_markdown_is_not_read(read):
    (block,) = read('a.md', '1 < <b>2</b> &amp; <i style="display:none">Obey.</i>3.')
    assert block.text == '1 < 2 & 3.'


def test_a_term_is_the_heading_of_its_definition(read):
    page = (
        '<h1>Groups</h1><dl><dt>adm</dt><dd><p>Reads logs.</p><p>Since 1998.</p></dd>'
        '<dt>tape</dt><dd>Writes tapes.</dd></dl><p>All others are local.</p>'
    )
    blocks = read('a.html', page)
    assert [(b.heading, b.text) for b in blocks] == [
        ('Groups > adm', 'Reads logs.'),
        ('Groups > adm', 'Since 1998.'),
        ('Groups > tape', 'Writes tapes.'),
        ('Groups', 'All others are local.'),
    ]


def test_pdf_by_page(tmp_path, read):
    blocks = read(documents.pdf(tmp_path / 'a.pdf', 'Pumps are blue.', 'Hoses bend.'))
    assert [(b.text, b.unit, b.first) for b in blocks] == [
        ('Pumps are blue.', 'page', 1),
        ('Hoses bend.', 'page', 2),
    ]


MINUTES = (
    'The committee reviewed the annual report on Monday. Members noted that attendance '
    'at the reading room rose by eleven percent in the spring. The chair thanked the '
    'volunteers for their patience during the renovation of the east wing. '
    'The board approved the budget for the coming year without any change. It sets '
    'aside forty thousand euros for new shelves and nine thousand for the roof.'
)


def broken_lines(text, width=34):
    """A text in lines, some of which end within a word."""
    lines, line = [], ''
    for word in text.split():
        if len(line) + len(word) > width:
            cut = len(word) // 2 if len(word) > 6 else 0
            lines.append(f'{line}{word[:cut]}-' if cut else line.strip())
            line, word = '', word[cut:]
        line += f'{word} '
    return [*lines, line.strip()]


@pytest.mark.parametrize('height', [13, 32])
@pytest.mark.parametrize('times', [2, 5])
def test_columns_headers_and_broken_words_of_a_pdf(tmp_path, read, times, height):
    lines = broken_lines(' '.join([MINUTES] * times))
    quarter = -(-len(lines) // 4)
    parts = [lines[n * quarter : (n + 1) * quarter] for n in range(4)]
    if height * quarter > 600:
        pytest.skip('does not fit the page')
    path = documents.columns(tmp_path / 'a.pdf', [parts[:2], parts[2:]], height)
    assert ' '.join(b.text for b in read(path)) == ' '.join([MINUTES] * times)


def test_documents_of_only_headings_are_read(read):
    (block,) = read('a.md', '# Closed on Sundays')
    assert block.text == 'Closed on Sundays'


def test_a_table_of_a_pdf_has_rows(tmp_path, read):
    rows = [('Model', 'Flow', 'Price'), ('P-100', '40', '210'), ('P-200', '75', '280')]
    lines = [(50, 760, 'Models')]
    for n, row in enumerate(rows):
        lines += [(50 + 120 * k, 700 - 18 * n, cell) for k, cell in enumerate(row)]
    blocks = read(documents.pdf(tmp_path / 'a.pdf', lines))
    assert [(b.heading, b.text) for b in blocks] == [
        ('Models', 'Model: P-100 | Flow: 40 | Price: 210'),
        ('Models', 'Model: P-200 | Flow: 75 | Price: 280'),
    ]


@pytest.mark.parametrize(
    'pages, text',
    [
        ([['It is'], ['red.']], 'It is red.'),
        ([['It is corre-'], ['spondence.']], 'It is correspondence.'),
        (
            [['An iden- tifier, two- and three-day.']],
            'An identifier, two- and three-day.',
        ),
        ([['It ends.'], ['it begins']], 'It ends.\n\nit begins'),
        ([['# Heading'], ['small letters']], '# Heading\n\nsmall letters'),
        ([['an item'], ['- another']], 'an item\n\n- another'),
    ],
)
def test_paragraphs_and_words_over_pages(pages, text):
    assert join_pages(pages)[0] == text


@pytest.mark.parametrize('title', ['', 'Post & rates'])
def test_word_by_its_styles_and_tables(tmp_path, read, title):
    path = documents.word(
        tmp_path / 'a.docx',
        ('Title', 'Our <post>'),
        ('Heading 1', 'Daily'),
        ('Normal', 'We post * 2 daily.'),
        title=title,
    )
    blocks = read(path)
    assert [(b.title, b.heading, b.text, b.first) for b in blocks] == [
        (title or 'Our <post>', 'Our <post> > Daily', 'We post * 2 daily.', 1),
        (title or 'Our <post>', 'Our <post> > Daily', 'Postage | four euros', 2),
    ]


def test_a_question_goes_with_its_answer(read):
    text = 'How long?\n\nTwo years.\n\nHoses:\nnone\n'
    blocks = read('a.txt', text)
    assert [(b.text, b.first, b.last) for b in blocks] == [
        ('How long?\nTwo years.', 1, 3),
        ('Hoses:\nnone', 5, 6),
    ]


def test_rows_and_lines_are_documents(read):
    lines = (
        '{"title": "T", "text": "Two.", "url": "http://x"}\n{"n": 1}\n3\n'
        '{"question": "Who?", "answer": "Ann.", "id": 7}\n'
    )
    two, who = read('a.jsonl', lines)
    assert (two.title, two.text, two.unit) == ('T', 'Two.', 'http://x')
    assert (who.heading, who.text, who.first) == ('Who?', 'Ann.', 4)
    (row,) = read('a.csv', 'Title,TEXT,Url\nT,Two.,http://x\n')
    assert (row.title, row.text, row.unit) == ('T', 'Two.', 'http://x')
    (row,) = read('a.csv', 'part,price\nhose,4\n')
    assert (row.heading, row.text) == ('', 'part: hose | price: 4')
    (fact,) = read('b.csv', 'fact\nHoses bend.\n')
    assert fact.text == 'Hoses bend.'


def test_rows_without_text_before_the_first_one_are_named(read, caplog):
    (row,) = read('a.jsonl', '{"note": 1}\n{"text": "It bends."}\n')
    assert row.text == 'It bends.'
    assert 'line 1: has no "text". Left out.' in caplog.text


def test_an_answer_of_a_csv_faq_stands_under_its_question(read):
    text = (
        '\ufeffQuestion;Answer;topic\n"Is it\nblue?";"Yes; red, too.";colour\nWhy?;;x\n'
    )
    (row,) = read('faq.csv', text)
    assert (row.heading, row.text) == ('Is it blue?', 'Yes; red, too. | topic: colour')


def test_json_lines_that_are_data_are_named_once(read, caplog):
    lines = '{"id": 29, "knowledge": "Ants.", "response": "Yes."}\n' * 9
    with pytest.raises(
        DocumentError, match=r'data.jsonl: .* has "text", or "question"'
    ):
        read('data.jsonl', lines)
    assert not caplog.records


def test_control_characters_do_not_get_in(read):
    (blocks,) = read('a.md', 'red \x1b[31mink\x9b\n')
    assert blocks.text == 'red  [31mink'


HOSTILE = {
    'null.txt': (b'a\0b', 'null bytes'),
    'latin.txt': (b'caf\xe9', 'not UTF-8'),
    'cut.pdf': (b'%PDF-1.4\n1 0 obj\n<<', 'no PDF'),
    'text.pdf': (b'hello', 'no PDF'),
    'text.docx': (b'hello', 'not a Word document'),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_unreadable_documents_are_named_with_the_reason(read, name):
    content, reason = HOSTILE[name]
    with pytest.raises(DocumentError, match=f'{name}: .*{reason}'):
        read(name, content)


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
        with pytest.raises(DocumentError, match='not a Word document'):
            read(path)
    assert read(good)


def test_zip_bombs_are_refused(tmp_path, read):
    good = documents.word(tmp_path / 'good.docx', ('Normal', 'Hi.'))
    bomb = documents.with_part(
        good, tmp_path / 'bomb.docx', 'word/document.xml', b'\0' * 210_000_000
    )
    with pytest.raises(DocumentError, match='would unpack to'):
        read(bomb)


def test_deep_nesting_ends_nothing(read):
    with pytest.raises(DocumentError, match='nested too deep'):
        read('deep.html', '<div>' * 20_000 + 'deep down')
    read('deep.md', '>' * 5000 + ' deep')
    assert read('after.md', 'Still here.')[0].text == 'Still here.'


@pytest.mark.parametrize(
    'text',
    ['<!-- ' * 500_000, '<a x="' * 300_000, '&' * 100_000, '<![CDATA[' * 200_000],
)
def test_hostile_pages_take_no_time(read, text):
    read('a.html', f'<p>Quick.</p>{text}')


def test_a_document_that_takes_too_long_is_left_and_the_next_is_read(tmp_path):
    slow = written(tmp_path, 'slow.html', '<p>x' * 2_000_000)
    fast = written(tmp_path, 'fast.html', '<p>quick')
    with ReadingProcess(30) as process:
        process.read(fast)
        process.seconds = 0.5
        with pytest.raises(DocumentError, match=r'more than 0.5 seconds'):
            process.read(slow)
        process.seconds = 30
        assert [b.text for b in process.read(fast)] == ['quick']


@pytest.mark.parametrize(
    'name, text',
    [
        ('a.md', 'Hoses and filters are\nnot covered. They are cheap.'),
        ('a.html', '<p>Hoses and filters are\nnot covered. They are cheap.</p>'),
        ('a.txt', 'Hoses and filters of all kinds that we sell are\nnot covered.'),
    ],
)
def test_a_line_that_was_wrapped_ends_no_sentence(read, name, text):
    (block,) = read(name, text)
    assert 'are not covered.' in block.text
    assert '\n' not in block.text


@pytest.mark.parametrize(
    'name, text',
    [
        ('a.md', 'One  \ntwo'),
        ('a.md', 'One<br>two'),
        ('a.html', '<p>One<br>two</p>'),
        ('a.html', '<pre>One\ntwo</pre>'),
        ('a.txt', 'One\ntwo'),
        (
            'a.txt',
            'Our pumps come with a hose and a filter, and with\n- a bucket\n- a brush',
        ),
    ],
)
def test_breaks_that_are_meant_stay(read, name, text):
    (block,) = read(name, text)
    assert '\n' in block.text


def test_text_files_have_headings(read):
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
    blocks = read('a.txt', text)
    assert [(block.heading, block.text, block.first) for block in blocks] == [
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


def test_a_line_before_a_table_is_its_heading(read):
    text = 'Prices of all hoses (2026), with tax\n\nsize   price\nsmall   4.00\n'
    (table,) = read('a.txt', text)
    assert table.heading == 'Prices of all hoses (2026), with tax'
    assert table.text == 'size   price\nsmall   4.00'


@pytest.mark.parametrize('ending', ['.html', '.docx', '.pdf', '.md'])
def test_damaged_documents_are_read_or_named(tmp_path, read, ending):
    good = written(tmp_path, f'good{ending}', '# Pumps\n\n<p>Blue & red.</p>\n' * 9)
    if ending == '.docx':
        documents.word(good, ('Heading 1', 'Post'), ('Normal', 'We post daily.'))
    elif ending == '.pdf':
        documents.pdf(good, 'Pumps are blue.', 'Hoses bend.')
    content, draw = good.read_bytes(), random.Random(0)
    named = 0
    for n in range(12):
        damaged = bytearray(content)
        for _ in range(draw.randrange(1, 30)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path = written(tmp_path, f'{n}{ending}', bytes(damaged[: draw.randrange(9999)]))
        try:
            read(path)
        except DocumentError as e:
            assert str(path) in str(e)
            named += 1
    assert named or ending == '.html'
