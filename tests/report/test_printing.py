"""A printed page has the rows of all pages, in a real browser."""

import pytest

from parlai_q2.report import write_report
from tests.report.browser import OPEN_ROWS
from tests.report.samples import reranked, scored, simple

BEFORE, AFTER = (
    f"window.dispatchEvent(new Event('{n}print'))" for n in ('before', 'after')
)
RECORDS = "[...document.querySelectorAll('tr.response .id')].map((e) => e.innerText)"
# What is on the paper, as the page has it while it is printed.
SEE = f"""addEventListener('beforeprint', () => {{
  window.seen = {{
    records: {RECORDS},
    status: document.getElementById('status').textContent,
    open: document.querySelectorAll('{OPEN_ROWS}').length,
    folded: document.querySelectorAll('details:not([open])').length,
  }};
}})"""


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """A page of 60 records, the first reranked."""
    records = [reranked(id='r0'), *(simple(n, n / 60) for n in range(1, 59)), scored()]
    return write_report(records, tmp_path_factory.mktemp('print') / 'page.html')


def test_all_rows_that_fit_are_printed_in_their_order(opened):
    opened.choose('label', 'inconsistent')
    opened.click('th[data-order="Record"] button')
    opened.click('#next')
    on_screen = opened.js(RECORDS)
    assert opened.text('#status') == '26 to 31 of 31 (of 60 in all)'
    opened.js(SEE)
    assert len(opened.call('Page.printToPDF')['data']) > 10_000
    seen = opened.js('seen')
    expected = ['madonna', *(f'r{n}' for n in range(30, 0, -1))]
    assert seen['records'] == expected
    assert seen['status'] == '1 to 31 of 31 (of 60 in all)'
    assert (seen['open'], seen['folded']) == (0, 0)
    # The screen is as it was.
    assert opened.js(RECORDS) == on_screen == expected[25:]
    assert opened.text('#status') == '26 to 31 of 31 (of 60 in all)'
    assert opened.count('details[open]') == 0


def test_of_thousands_it_is_said_how_many_are_not_printed(browser, tmp_path):
    records = (simple(n) for n in range(1200))
    browser.goto(write_report(records, tmp_path / 'page.html'))
    browser.click('#next')
    browser.js(BEFORE)
    assert browser.js(RECORDS) == [f'r{n}' for n in range(25, 1025)]
    assert browser.text('#status') == (
        '26 to 1,025 of 1,200; the other 200 are not printed'
    )
    browser.js(AFTER)
    assert browser.text('#status') == '26 to 50 of 1,200'
    browser.js("document.getElementById('search').value = 'r11'")
    browser.choose('order', 'Record up')
    browser.js(BEFORE)
    assert browser.text('#status').startswith('1 to 111 of 111 ')
    browser.js(AFTER)
