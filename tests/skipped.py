"""
``--fail-on-skips`` makes skipped tests a failure, but for those that need what cannot
be installed. With and without it, a run ends by saying how many were skipped and why.
"""

import re
from collections import Counter

import pytest

# What the core does without.
NOT_CORE = 'torch|transformers|parlai|sklearn'

# Data that may not be passed on, and devices and rights of the machine.
EXPECTED = (
    r'there is no \S*shared\S*',
    r'the published files are not here',
    r'there is (no|a) GPU',
    r'a read-only mount cannot be made here.*',
    r'not exact on this processor',
    r'(TRL|usearch) needs Python 3\.11',
)


def is_expected(reason: str) -> bool:
    """Whether a test may be skipped for this reason."""
    return any(re.fullmatch(pattern, reason, re.DOTALL) for pattern in EXPECTED)


def reasons(reports) -> Counter:
    """How many of the skipped tests have each reason."""
    reason_texts = [
        report.longrepr[2]
        if isinstance(report.longrepr, tuple)
        else str(report.longrepr)
        for report in reports
    ]
    return Counter(text.removeprefix('Skipped: ') for text in reason_texts)


def pytest_addoption(parser):
    parser.addoption(
        '--fail-on-skips',
        action='store_true',
        help='fail when a test is skipped because something installable is missing',
    )
    parser.addoption(
        '--core',
        action='store_true',
        help='leave out what cannot be imported without torch, transformers and ParlAI',
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if report.failed and collector.config.getoption('--core'):
        missing = rf"No module named '({NOT_CORE})\b|MissingPackageError"
        if re.search(missing, str(report.longrepr)):
            report.outcome = 'skipped'
            report.longrepr = str(collector.path), 0, 'Skipped: not of the core'
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and item.config.getoption('--core') and call.excinfo:
        error = call.excinfo.value
        name = getattr(error, 'name', None) or ''
        if isinstance(error, ModuleNotFoundError) and re.match(NOT_CORE, name):
            report.outcome = 'skipped'
            report.longrepr = str(item.path), 0, 'Skipped: not of the core'
    return report


def _unexpected(config) -> Counter:
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    counts = reasons(reporter.stats.get('skipped', [])) if reporter else Counter()
    return Counter({why: n for why, n in counts.items() if not is_expected(why)})


def pytest_sessionfinish(session, exitstatus):
    config = session.config
    if hasattr(config, 'workerinput') or not config.getoption('--fail-on-skips'):
        return
    if exitstatus == 0 and _unexpected(config):
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter, config):
    counts = reasons(terminalreporter.stats.get('skipped', []))
    if not counts:
        return
    wrong = _unexpected(config)
    terminalreporter.section('skipped tests')
    for why, n in counts.most_common():
        mark = 'NOT EXPECTED ' if why in wrong else ''
        terminalreporter.line(f'{n:5} {mark}{why}')
    line = f'{counts.total()} skipped, {wrong.total()} of them because something'
    terminalreporter.line(f'{line} installable is missing')
