import re

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.scripts import demo
from tests.files import page_data


@pytest.mark.slow
def test_the_demo_evaluates_reranks_and_writes_a_page(tmp_path, capsys):
    outfile = tmp_path / 'demo.html'
    options = ['--choose', 'overlap', '--turns', '2']
    page = run_command('demo', *options, '--outfile', str(outfile))
    assert page == outfile
    said = capsys.readouterr().out
    assert '84 of 84 responses' in said
    means = dict(re.findall(r'^   (\w+) +\d+ +([\d.]+)$', said, re.M))
    assert float(means['consistent']) > float(means['inconsistent'])
    assert float(means['consistent']) > float(means['generic'])
    assert said.count('person    ') == 2
    assert 'candidates' in said
    assert 'score     ' in said
    assert 'knowledge ' in said
    assert str(page) in said
    entries = page_data(page)['entries']
    reranked = [entry for entry in entries if entry['rerank']]
    assert (len(entries), len(reranked)) == (86, 2)
    for entry in reranked:
        (chosen,) = [row for row in entry['rerank'] if row['chosen']]
        assert chosen['response'] == entry['response']
        assert chosen['score'] == entry['score']
        assert sum(row['first'] for row in entry['rerank']) == 1
    classes = {'consistent', 'inconsistent', 'generic', ''}
    assert {entry['class'] for entry in entries} == classes


def test_scores_responses_without_parlai(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(demo, 'has_parlai', lambda: False)
    monkeypatch.setattr('parlai_q2.cli.log.warning', said.append)
    outfile = str(tmp_path / 'demo.html')
    page = run_command('demo', '--choose', 'overlap', '--outfile', outfile)
    assert len(page_data(page)['entries']) == 84
    assert 'needs ParlAI. Run: python -m pip install' in said[0]


@pytest.mark.parametrize(
    'arguments, error, problem',
    [
        (['--choose', 'overlop'], UnknownNameError, "Did you mean 'overlap'"),
        (['--turns', '-1'], ConfigError, 'must be at least 0'),
        (['--outfile', '.'], InputError, 'is a folder'),
    ],
)
def test_wrong_options_are_a_clear_error(arguments, error, problem):
    with pytest.raises(error, match=problem):
        run_command('demo', *arguments)
