"""No file of ours holds NaN or Infinity, wherever they came from."""

import json

import pytest

from parlai_q2.cli.commands import run_command

PAIR = '"knowledge": "Bees dance.", "response": "Bees dance."'
BAD = (
    f'{{{PAIR}, "p": NaN, "q": {{"r": [1, -Infinity]}}}}\n'
    f'{{{PAIR}, "p": 1e400, "kept": [null, 1.5]}}\n'
)


def strict(text):
    def refuse(written):
        raise AssertionError(f'{written} was written')

    values = [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    assert '1e400' not in text
    return values


def scored(infile, text, *options):
    """The lines that are written, and the summary."""
    infile.write_text(text)
    outfile = infile.with_name('out.jsonl')
    files = ['--infile', str(infile), '--outfile', str(outfile)]
    summary = run_command('score', *files, '--measure', 'precision', *options)
    return strict(outfile.read_text()), summary


@pytest.mark.parametrize('chunks', [[], ['--chunk-size', '1']])
def test_score_writes_null_and_says_so(tmp_path, chunks):
    (first, second), summary = scored(tmp_path / 'in.jsonl', BAD, *chunks)
    assert first['p'] is second['p'] is None
    assert first['q'] == {'r': [1, None]}
    assert second['kept'] == [None, 1.5]
    assert summary['nulled'] == {'p': 2, 'q.r': 1}
    assert summary['bad'] == 0


def test_lists_in_cells_are_counted_too(tmp_path):
    passage = '[{""text"": ""Bees dance."", ""rank"": NaN}]'
    text = f'knowledge,response\n"{passage}",Bees dance.\n'
    [line], summary = scored(tmp_path / 'in.csv', text)
    assert line['knowledge'] == [{'text': 'Bees dance.', 'rank': None}]
    assert summary['nulled'] == {'knowledge.rank': 1}
