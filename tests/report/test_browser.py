"""The page in a real browser: what a person sees, clicks and hears."""

import time

import pytest

from parlai_q2.claims import Claim, Label, Score, Status
from parlai_q2.report import write_report
from tests.report.browser import OPEN_ROWS
from tests.report.contrast import faint
from tests.report.samples import HOSTILE, answer, marks, reranked, scored, simple

FIRST_MARK = 'tr.response mark.contradicted'


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """A page with 30 records: evidence, a reranked turn, hostile and very long text."""
    records = [
        scored(q2_label='inconsistent'),
        reranked(q2_label='consistent'),
        scored(id=HOSTILE, response=HOSTILE, knowledge=HOSTILE, history=[HOSTILE] * 2),
        simple(3, 0.5, response='long \U0001f600 ' * 7000, fallback=True),
        simple(4, 0.4, response='مرحبا بالعالم', label='not_verifiable'),
        *[simple(n, n / 30) for n in range(5, 30)],
    ]
    path = tmp_path_factory.mktemp('report') / 'page.html'
    return write_report(records, path, title='Evidence <b>')


def test_spans_are_marked_and_rows_are_paged(opened):
    assert opened.count('tr.response') == 25
    assert opened.text('#status') == '1 to 25 of 30'
    assert (
        opened.js(f'document.querySelector("{FIRST_MARK}").firstChild.data') == '1985'
    )
    opened.click('#next')
    assert opened.text('#status') == '26 to 30 of 30'
    assert opened.count('tr.response') == 5
    opened.click('#previous')
    assert opened.text('#status') == '1 to 25 of 30'


def test_a_click_on_a_span_shows_its_evidence(opened):
    assert opened.count(OPEN_ROWS) == 0
    opened.click(FIRST_MARK)
    assert opened.count(OPEN_ROWS) == 1
    picked = opened.text('tr.picked')
    for word in ('When was Madonna born?', '1985', 'August 16, 1958', 'contradiction'):
        assert word in picked
    assert '0.00' in picked
    assert opened.count('tr.picked') == 1
    assert opened.js("document.activeElement.classList.contains('picked')")


@pytest.mark.parametrize('key', ['Enter', ' '])
def test_the_keyboard_does_the_same(opened, key):
    # From the search field, past five lists and the button, headings, to the first row.
    opened.js("document.querySelector('.toggle').focus()")
    opened.press('Tab')
    opened.press('Tab')
    assert opened.js('document.activeElement.textContent') == '1985'
    opened.press(key)
    assert 'When was Madonna born?' in opened.text('tr.picked')
    opened.press('Escape')
    assert opened.count(OPEN_ROWS) == 0
    assert opened.js("document.activeElement.getAttribute('aria-expanded')") == 'false'


def test_a_screen_reader_hears_what_colour_shows(opened):
    mark = opened.js(
        f'(() => {{ const m = document.querySelector("{FIRST_MARK}"); return '
        "[m.getAttribute('role'), m.tabIndex, m.title]; })()"
    )
    assert mark == ['button', 0, 'contradicted: When was Madonna born? (contradiction)']
    tree = opened.call('Accessibility.getFullAXTree')['nodes']
    names = {node.get('name', {}).get('value') for node in tree}
    assert {'Responses by score', 'Evidence for record madonna', 'Pages'} <= names
    opened.click('#open-all')
    # A landmark for each passage would hide those of the page.
    assert opened.count('.passage[role=group]') == opened.count('.passage') > 25


def test_marks_without_questions_are_told_in_the_same_words(browser, tmp_path):
    browser.goto(write_report([marks('Madonna', '1985')], tmp_path / 'page.html'))
    assert 'Questions' not in browser.text('#columns')
    browser.click('.toggle')
    assert [line.split('\t') for line in browser.texts('.evidence tbody tr')] == [
        ['Madonna', 'Madonna: Madonna sang.', 'supported', '0.90'],
        ['1985', '(nothing)', 'not in the knowledge', '0.10'],
    ]
    assert browser.count('.detail .evidence') == 1
    assert browser.complaints() == []


def test_a_reranked_turn_shows_before_and_after_and_all_candidates(opened):
    opened.click('tr.response:nth-of-type(3) .toggle')
    assert 'reranked +0.67' in opened.text('.badge')
    before, after = opened.texts('.choice')
    assert 'first candidate 0.33' in before
    assert '1985' in before
    assert 'chosen 1.00' in after
    assert 'highest score' in after
    assert not opened.js("document.querySelector('.detail details').open")
    opened.click('.detail summary')
    head = opened.js("document.querySelector('.candidates th').textContent")
    assert head == 'Place', 'a screen reader is told what the first column is'
    table = opened.text('table.candidates')
    assert 'beam, nucleus' in table
    assert '-1.25' in table
    assert 'delayedbeam' in table


def test_a_mark_of_the_response_leads_to_its_own_line_alone(browser, tmp_path):
    record = scored()
    row = {**record, 'text': record['response'], 'chosen': True, 'first': True}
    browser.goto(write_report([{**record, 'rerank': [row]}], tmp_path / 'page.html'))
    browser.click('.toggle')
    browser.click('.detail summary')
    browser.click('.candidates .toggle')
    browser.click(FIRST_MARK)
    assert browser.count('.evidence tbody tr') == 6
    assert browser.count('tr.picked') == 1
    assert browser.count('.candidates tr.picked') == 0


@pytest.mark.parametrize('before, more', [(490, 615), (480, 605)])
def test_what_a_row_leaves_out_is_counted(browser, tmp_path, before, more):
    response = f'{"a" * before}WRONG{"b" * 600}'
    claim = Claim(answer(response, 'WRONG'), 0.1, Status.UNSUPPORTED)
    score = Score(0.1, Label.INCONSISTENT, (claim,)).to_dict()
    record = simple(1, response=response) | score
    browser.goto(write_report([record], tmp_path / 'page.html'))
    assert browser.text('td.said').endswith(f' … {more} more')


def test_a_difference_that_rounds_to_zero_has_no_sign(browser, tmp_path):
    record = reranked()
    for row, score in zip(record['rerank'], (0.997, 1.0), strict=False):
        row.update(score=score, generator_score=-0.001)
    browser.goto(write_report([record], tmp_path / 'page.html'))
    assert browser.texts('.badge') == ['reranked 0.00']
    browser.click('.toggle')
    browser.click('.detail summary')
    assert '-0.00' not in browser.text('table.candidates')


def test_an_abstention_is_marked_and_a_decline_is_no_loss(browser, tmp_path):
    decline = reranked(id='decline')
    decline['rerank'][0] |= {'label': 'generic', 'score': 0.04}
    withheld = reranked(id='withheld', response="I'm not sure about that.")
    browser.goto(write_report([decline, withheld], tmp_path / 'page.html'))
    assert browser.texts('.badge') == ['abstained']
    assert 'Abstained\n50.0 %' in browser.text('.overview')
    assert 'Reranked' not in browser.text('.overview')
    assert browser.count_choices(
        ('evidence', 'abstained'), ('evidence', 'changed')
    ) == {('evidence', 'abstained'): 1, ('evidence', 'changed'): 1}
    browser.click('tr.response:nth-of-type(3) .toggle')
    (best,) = browser.texts('.choice')
    assert best.startswith('Withheld: best candidate 1.00')
    browser.click('.detail summary')
    assert '1 withheld' in browser.text('table.candidates')


def test_the_lists_filter(opened):
    expected = {
        ('label', 'not_verifiable'): 1,
        ('class', 'consistent'): 1,
        ('evidence', 'contradicted'): 2,
        ('evidence', 'fallback'): 1,
        ('evidence', 'changed'): 1,
        ('bin', '9'): 4,
    }
    assert opened.count_choices(*expected) == expected


def test_hostile_text_is_read_not_run(opened):
    assert opened.js('document.title') == 'Evidence <b>'
    assert '<script>document.title="taken"</script>' in opened.text('#rows')
    opened.click('#open-all')
    assert opened.count(OPEN_ROWS) == 25
    assert opened.js('document.title') == 'Evidence <b>'
    assert opened.count('#rows script, #rows b b, #rows img') == 0


@pytest.mark.parametrize('width, scheme', [(320, 'light'), (768, 'dark')])
def test_it_fits_the_screen_and_shows_ink_on_paper(opened, tmp_path, width, scheme):
    opened.size(width, 800)
    opened.prefer(scheme)
    opened.click('#open-all')
    assert opened.js('document.documentElement.scrollWidth') <= width
    dark = opened.js('getComputedStyle(document.body).backgroundColor') != (
        'rgb(255, 255, 255)'
    )
    assert dark == (scheme == 'dark')
    assert faint(opened) == []
    assert len(opened.screenshot(tmp_path / 'page.png')) > 10_000


def test_colour_is_never_the_only_sign(opened):
    styles = {
        kind: opened.js(
            f"getComputedStyle(document.querySelector('mark.{kind}')).textDecorationStyle"
        )
        for kind in ('supported', 'unsupported', 'contradicted')
    }
    assert len(set(styles.values())) == 3


def test_thousands_of_records_stay_quick(browser, tmp_path):
    one = scored()
    records = ({**one, 'id': f'n{n}', 'score': n % 11 / 10} for n in range(4000))
    path = write_report(records, tmp_path / 'big.html')
    assert browser.goto(path) < 10
    start = time.monotonic()
    browser.click('th[data-order="Score"] button')
    browser.js("document.getElementById('search').focus()")
    browser.type('n3999')
    browser.wait_for("document.getElementById('status').textContent.includes('of 1 ')")
    assert time.monotonic() - start < 5
    assert browser.complaints() == []


VALUES = """
['search', 'label', 'bin', 'order', 'rows-per-page', 'page']
    .map((id) => document.getElementById(id).value)
"""
AT_FIRST = ['', '', '', 'Record up', '25', '1']


def test_the_address_keeps_the_view_and_back_undoes_a_step(opened, page):
    opened.choose('label', 'inconsistent')
    opened.click('th[data-order="Score"] button')
    opened.click('th[data-order="Score"] button')
    hash_of_view = '#label=inconsistent&order=Score+down'
    assert opened.js('location.hash') == hash_of_view
    opened.js("document.getElementById('search').focus()")
    for letters, count in (('Resp', '11'), ('onse 15', '1')):
        opened.type(letters)
        opened.wait_for(
            f"document.getElementById('status').textContent.includes('of {count} ')"
        )
    address, first = opened.js('location.href'), opened.text('tr.response')
    opened.goto('about:blank')
    opened.goto(address)
    assert opened.text('tr.response') == first
    values = ['Response 15', 'inconsistent', '', 'Score down', '25', '1']
    assert opened.js(VALUES) == values
    # All letters of a search are one step.
    opened.goto(page)
    opened.choose('label', 'consistent')
    opened.click('.column[data-bin="9"]')
    opened.js('history.back()')
    opened.wait_for("location.hash === '#label=consistent'")
    opened.js('history.back()')
    opened.wait_for("location.hash === ''")
    assert opened.js(VALUES) == AT_FIRST


@pytest.mark.parametrize(
    'fragment, values',
    [
        ('label=nonsense&bin=99&order=__proto__+up&rows-per-page=-5', AT_FIRST),
        ('toString=1&constructor=label&%ff=&&status=x&page=1e999', AT_FIRST),
        ('page=99', [*AT_FIRST[:5], '2']),
        ('search=%3Cimg src=x onerror=alert(1)%3E', ['<img src=x onerror=alert(1)>']),
    ],
)
def test_an_address_chooses_only_what_the_controls_offer(
    opened, page, fragment, values
):
    opened.goto('about:blank')
    opened.goto(f'{page.as_uri()}#{fragment}')
    assert opened.js(VALUES)[: len(values)] == values
    assert opened.count('img') == 0
