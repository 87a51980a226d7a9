"""The tests of pages share one browser."""

from collections.abc import Iterator

import pytest

from tests.report.browser import NAMES, Browser, find_browser


@pytest.fixture(scope='session')
def browser(tmp_path_factory) -> Iterator[Browser]:
    """A running browser; the tests that use it are skipped where there is none."""
    pytest.importorskip('websocket', reason='needs the package websocket-client')
    program = find_browser()
    if program is None:
        pytest.skip(
            f'needs one of {", ".join(NAMES)} on PATH; on Debian, as root: '
            'apt-get install chromium'
        )
    running = Browser(program, tmp_path_factory.mktemp('profile'))
    yield running
    running.close()


@pytest.fixture
def opened(browser, page) -> Iterator[Browser]:
    """The browser with the module's ``page``, which gives no cause for complaint."""
    browser.prefer('light')
    browser.goto(page)
    yield browser
    assert browser.complaints() == []
