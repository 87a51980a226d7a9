"""What is looked at stands in the page's address, in a real browser."""

from urllib.parse import quote

import pytest

from parlai_q2.report import write_report
from tests.report.browser import Browser
from tests.report.samples import scored, simple

# A label that an address has to quote.
ODD = 'a & b=c #d%20 <i>é'
CONTROLS = ('search', 'label', 'bin', 'order', 'rows-per-page', 'page')
VALUES = f'{list(CONTROLS)}.map((id) => document.getElementById(id).value)'
AT_FIRST = ['', '', '', 'Record up', '25', '1']


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """A page of 60 records."""
    records = [scored(), simple(1, 0.5, label=ODD)]
    records += [simple(n, n / 60) for n in range(2, 60)]
    return write_report(records, tmp_path_factory.mktemp('address') / 'page.html')


def go(browser: Browser, address: str) -> None:
    """Open an address in a page that was not there before."""
    browser.goto('about:blank')
    browser.goto(address)


def at(browser: Browser) -> str:
    return browser.js('location.hash')


def back(browser: Browser, expected: str) -> None:
    browser.js('history.back()')
    browser.wait_for(f"location.hash === '{expected}'")


def test_a_view_is_the_same_where_its_address_is_opened(browser, page):
    browser.goto(page)
    browser.choose('label', 'inconsistent')
    browser.click('th[data-order="Score"] button')
    browser.click('th[data-order="Score"] button')
    browser.click('#next')
    assert at(browser) == '#label=inconsistent&order=Score+down&page=2'
    address, status = browser.js('location.href'), browser.text('#status')
    first = browser.text('tr.response')
    assert status == '26 to 30 of 30 (of 60 in all)'
    go(browser, address)
    assert browser.text('#status') == status
    assert browser.text('tr.response') == first
    assert browser.js(VALUES) == ['', 'inconsistent', '', 'Score down', '25', '2']
    assert browser.js('location.href') == address
    assert browser.complaints() == []


def test_back_undoes_a_step_and_all_letters_of_a_search_are_one(browser, page):
    go(browser, page.as_uri())
    browser.choose('label', 'inconsistent')
    browser.js("document.getElementById('search').focus()")
    for letters, count in (('Resp', 'of 29 '), ('onse 17', 'of 1 ')):
        browser.type(letters)
        browser.wait_for(
            f"document.getElementById('status').textContent.includes('{count}')"
        )
    assert at(browser) == '#search=Response+17&label=inconsistent'
    browser.click('.column[data-bin="2"]')
    assert at(browser) == '#search=Response+17&label=inconsistent&bin=2'
    back(browser, '#search=Response+17&label=inconsistent')
    back(browser, '#label=inconsistent')
    assert browser.text('#status') == '1 to 25 of 30 (of 60 in all)'
    back(browser, '')
    assert browser.text('#status') == '1 to 25 of 60'
    assert browser.js(VALUES) == AT_FIRST
    browser.js('history.forward()')
    browser.wait_for("location.hash === '#label=inconsistent'")
    assert browser.text('#status') == '1 to 25 of 30 (of 60 in all)'


@pytest.mark.parametrize(
    'fragment, values',
    [
        ('label=nonsense&bin=99&order=__proto__+up&rows-per-page=-5', AT_FIRST),
        ('toString=1&constructor=label&status=x&page=1e999', AT_FIRST),
        ('%ff&=&&page=NaN&order=', AT_FIRST),
        ('page=99', [*AT_FIRST[:5], '3']),
    ],
)
def test_an_address_chooses_only_what_the_controls_offer(
    browser, page, fragment, values
):
    go(browser, f'{page.as_uri()}#{fragment}')
    assert browser.js(VALUES) == values
    assert browser.count('tr.response') >= 10
    assert browser.complaints() == []


def test_a_search_in_an_address_is_text(browser, page):
    query = '"><img src=x onerror=alert(1)>'
    go(browser, f'{page.as_uri()}#search={quote(query)}')
    assert browser.js(VALUES)[0] == query
    assert browser.text('#status') == 'None of 60 responses match.'
    assert browser.count('img') == 0
    assert browser.complaints() == []
