"""The figures on pages are those of the runs, and what brings them there is exact."""

import json

import pytest

from tests.docs.code_in_docs import ROOT
from tests.files import load_script

PAGE, KEY = 'page.md', 'q2_wow/ranking/precision/roc_auc'
TEXT = 'Of two, `precision` has an\nAUC of 0.100 [0.000, 0.200], 1,000 responses. 0.10.'
QUOTE = (
    f'`precision` has an AUC of {{{KEY}|i}}, {{q2_wow/table_2/all/right/count|n}} resp'
)


results = load_script(ROOT / '.ci' / 'results.py')


def test_the_figures_on_pages_are_those_of_the_runs():
    # What no run has yet is told by "check", for the release, and is no error here.
    assert [p for p in results.check(ROOT) if 'no run has' not in p] == []


def test_every_run_that_is_there_has_its_tables_with_command_and_signatures_on_top():
    figures = results.Results(ROOT)
    assert figures.runs
    for name, run in figures.runs.items():
        text = (ROOT / results.RESULTS / f'{name}.txt').read_text('utf-8')
        assert text.startswith(run['command'] + '\n')
        assert '--datapath data ' in text
        head = text.partition('Mean scores')[0]
        for scorer, signature in run['signatures'].items():
            assert signature in head
            ranked = figures.shown(f'{name}/ranking/{scorer}/roc_auc', 'i')
            assert ranked is None or ranked in text


@pytest.fixture
def root(tmp_path):
    """A checkout with one page, and the output of one run."""
    (tmp_path / results.RESULTS).mkdir(parents=True)
    (tmp_path / results.QUOTES).parent.mkdir()
    (tmp_path / results.QUOTES).write_text(f'# a comment\n{PAGE}\t{QUOTE}\n')
    (tmp_path / PAGE).write_text(TEXT)
    outputs = tmp_path / results.OUTPUTS / 'q2_wow'
    outputs.mkdir(parents=True)
    interval = {'value': 0.123456, 'low': -0.0512, 'high': 1.0}
    rows = {
        'ranking': {'source': 'here', 'scorer': 'precision', 'roc_auc': interval},
        'table_2': {'system': 'all', 'responses': 'right', 'source': 'here'},
    }
    rows['table_2']['count'] = 1234
    paper = {'scorer': 'precision', 'source': 'paper', 'roc_auc': 0.9}
    tables = [
        {'name': f'q2_wow_{name}', 'rows': [row, *([paper] * (name == 'ranking'))]}
        for name, row in rows.items()
    ]
    signatures = {'precision': 'p|v:1'}
    annotated_set = {'responses': 2, 'signatures': signatures, 'tables': tables}
    report = {'version': '9', 'seed': 0, 'rounds': 5, 'sets': {'q2_wow': annotated_set}}
    (outputs / 'meta_eval.json').write_text(json.dumps(report))
    (outputs / 'meta_eval.txt').write_text('head\n\nA table\n\n\nSignatures, x\n\n  p')
    (outputs / 'command.txt').write_text('parlai_q2 meta_eval --task q2_wow\n')
    return tmp_path


def test_a_run_brings_its_figures_into_the_pages_and_changes_nothing_else(root):
    assert results.refresh(root / results.OUTPUTS, root) == []
    page = (root / PAGE).read_text()
    new = TEXT.replace('0.100 [0.000, 0.200]', '0.123 [-0.051, 1.000]', 1)
    assert page == new.replace('1,000', '1,234')
    assert results.check(root) == []
    table_text = (root / results.RESULTS / 'q2_wow.txt').read_text()
    assert table_text == (
        'parlai_q2 meta_eval --task q2_wow\n\nhead\n\n  precision\n    p|v:1\n\n\n'
        'A table\n'
    )
    summary = (root / results.RESULTS / 'README.md').read_text()
    assert "[The Q² paper's annotated responses](q2_wow.txt) | 2 | 9 | no |" in summary


def test_a_figure_of_no_run_stays_and_is_told(root):
    (root / results.QUOTES).write_text(f'{PAGE}\tresponses. {{begin/ranking/q2/f1}}.')
    missing = results.refresh(root / results.OUTPUTS, root)
    assert missing == [f'{PAGE}: begin/ranking/q2/f1']
    assert (root / PAGE).read_text() == TEXT


@pytest.mark.parametrize(
    'quote, message',
    [
        ('no such sentence {q2_wow/a/b/c}', 'has this 0 times'),
        ('{q2_wow/a/b/c}', 'has this 5 times'),
        ('responses. {unknown/a/b/c}.', "there is no run 'unknown'"),
    ],
)
def test_a_quote_that_cannot_be_placed_is_refused(root, quote, message):
    (root / results.QUOTES).write_text(f'{PAGE}\t{quote}\n')
    with pytest.raises(SystemExit, match=message):
        results.refresh(root / results.OUTPUTS, root)


@pytest.mark.parametrize(
    'form, expected',
    [
        ('', '0.123'),
        ('2', '0.12'),
        ('%', '12.3'),
        ('%i', '12.3 [-5.1, 100.0]'),
        ('s2i', '+0.12 [-0.05, +1.00]'),
    ],
)
def test_a_figure_is_shown_as_the_quote_asks(root, form, expected):
    results.refresh(root / results.OUTPUTS, root)
    assert results.Results(root).shown(KEY, form) == expected
