"""The page of two runs in a real browser."""

import pytest

from parlai_q2.report.comparison import write_comparison
from tests.report.runs import entries, rescored, two_runs
from tests.report.samples import HOSTILE, marks, reranked, scored, simple


def written(folder, before, after, **kwargs):
    return write_comparison(
        entries(*before), entries(*after), folder / 'page.html', **kwargs
    )


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """A page of 44 pairs, with hostile and very long text."""
    before, after = two_runs(40)
    hostile = {'id': HOSTILE, 'response': HOSTILE, 'knowledge': HOSTILE}
    for run, record in ((before, scored), (after, rescored)):
        run.append(record(**hostile, history=[HOSTILE] * 2, label='not_verifiable'))
    long = {'response': 'long \U0001f600 ' * 7000, 'fallback': True}
    before += [simple(41, 0.5, **long), simple(42, 0.4, response='مرحبا بالعالم')]
    after += [simple(41, 0.7, **long), simple(42, 0.6, response='مرحبا بالعالم')]
    return written(tmp_path_factory.mktemp('compare'), before, after, names=('a', 'b'))


def test_other_labels_come_first_and_then_the_greatest_change(opened):
    # Four of 40, the long one and the Arabic one have another label; eight of 40 and
    # the hostile one another score only.
    assert opened.text('#status') == '1 to 15 of 15 (of 43 in all)'
    scores = opened.texts('.change > span:first-child')
    assert scores[:6] == ['+0.33'] * 4 + ['+0.20'] * 2
    assert scores[6] == '+0.33'
    assert set(scores[7:]) == {'+0.10', '−0.10'}
    assert opened.count('.change .badge') == 6


def test_the_lists_filter(opened):
    expected = {
        ('moved', 'flip'): 6,
        ('moved', 'lower'): 4,
        ('class', 'inconsistent'): 4,
    }
    assert opened.count_choices(*expected) == expected


def test_a_row_opens_to_both_runs_and_their_evidence(opened):
    opened.click('.toggle')
    before, after = opened.texts('.choice')
    assert 'Before: a 0.33' in before
    assert 'After: b 0.67' in after
    expected = (
        ('Who was born in 1985?', 'exact'),
        ('When was Madonna born?', 'August 16, 1958'),
        ('Where was Madonna born?',),
        ('Who was born in 1985?', 'exact'),
        ('When was Madonna born?', '(no answer)'),
        ('Who is a singer?',),
    )
    for line, parts in zip(opened.texts('.evidence tbody tr'), expected, strict=True):
        assert all(part in line for part in parts), line
    assert 'id r0 · annotation inconsistent' in opened.text('.detail')


def test_a_mark_leads_to_its_line_in_the_second_run(browser, tmp_path):
    before, after = marks('in 1985', 'Madonna'), marks('1985 in Canada', 'Madonna')
    browser.goto(written(tmp_path, [before], [{**after, 'score': 0.2}]))
    browser.click('td.said .unsupported')
    assert browser.texts('tr.picked td:first-child') == ['1985 in Canada']
    assert browser.complaints() == []


def test_the_replies_of_two_systems_are_read_in_the_row_and_named_in_words(
    browser, tmp_path
):
    before = marks('in 1985', id='1')
    after = marks('Canada', id='1', response=f'{before["response"]} Or not.')
    browser.goto(written(tmp_path, [before], [{**after, 'score': 0.2}]))
    cell_text = browser.text('td.said')
    assert (
        cell_text.index('First') < cell_text.index('1985') < cell_text.index('Second')
    )
    assert 'Or not.' in cell_text
    assert 'Before' not in browser.text('body')
    browser.click('td.said .one-of-two:last-child .unsupported')
    assert browser.texts('tr.picked td:first-child') == ['Canada']
    assert browser.complaints() == []


def test_long_replies_of_two_systems_can_both_be_read(browser, tmp_path):
    before, after = ([simple(1, response=f'{"so " * 200}{n}.')] for n in ('one', 'two'))
    browser.goto(written(tmp_path, before, after))
    browser.click('.toggle')
    assert [text[-4:] for text in browser.texts('.choice .text')] == ['one.', 'two.']


def test_a_withheld_reply_is_no_change(browser, tmp_path):
    before = [reranked(id=name, score=0.9) for name in 'ab']
    after = [reranked(id='a'), reranked(id='b', response="I'm not sure about that.")]
    browser.goto(written(tmp_path, before, after))
    assert browser.text('#status') == '1 to 1 of 1 (of 2 in all)'
    browser.choose('moved', 'lower')
    assert browser.text('#status') == 'None of 2 responses match.'
    browser.choose('moved', 'withheld')
    assert browser.texts('td.change') == ['no reply']
