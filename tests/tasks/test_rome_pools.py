"""The pools of "Rome was built in 1776", for reranking."""

import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

import parlai_q2.tasks.rome.pools as pools_module
from parlai_q2.__main__ import run
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.pools import read_pools
from parlai_q2.tasks.rome.pools import RomePools
from tests.tasks.annotated_sets import SALT

README = Path(pools_module.__file__).parent / 'README.md'


def write_pools(path, **options):
    RomePools.main(outfile=str(path), **options)
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_pool_is_a_context_with_its_responses_the_largest_model_first(sets, tmp_path):
    sea, tree = write_pools(tmp_path / 'pools.jsonl')
    assert sea['id'] == 'gt-7' and sea['knowledge'] == SALT
    assert sea['history'][-1] == 'Is it "salty"?'
    assert [(c['model'], c['decoding'], c['label']) for c in sea['candidates']] == [
        ('xlarge', 'beam', 'inconsistent'),
        ('small', 'delayed', 'consistent'),
        # Nothing to verify: nothing made up.
        ('small', 'nucleus', 'consistent'),
    ]
    assert [c['text'] for c in tree['candidates']] == [
        'Some are 100 metres',
        'About a mile.',
    ]


def test_one_passage_cut_at_different_lengths_makes_one_pool(sets, tmp_path):
    (pool,) = write_pools(tmp_path / 'pools.jsonl', part='dpr')
    assert pool['knowledge'] == SALT and len(pool['candidates']) == 2


def test_candidates_with_nothing_to_verify_may_be_left_out(sets, tmp_path):
    path = tmp_path / 'pools.jsonl'
    sea, _ = write_pools(path, only_verifiable=True)
    assert [c['text'] for c in sea['candidates']] == [
        'It has no salt.',
        'Yes, it is salty',
    ]
    # One candidate is left, among which there is nothing to choose.
    assert write_pools(path, part='dpr', only_verifiable=True) == []


def test_pools_are_read_by_rerank_with_their_labels(sets, tmp_path):
    path = tmp_path / 'pools.jsonl'
    write_pools(path)
    pools = list(read_pools(path))
    assert [pool.error for pool in pools] == [None, None]
    assert all(pool.labelled for pool in pools)


def test_a_missing_outfile_is_named(sets):
    with pytest.raises(ConfigError, match='--outfile is missing'):
        RomePools.main(part='gt')


def commands():
    """The commands of the README that are not ParlAI's own."""
    text = README.read_text(encoding='utf-8')
    for block in re.findall(r'```sh\n(.*?)```', text, re.DOTALL):
        yield from block.splitlines()


def test_the_commands_of_the_readme_write_pools_and_rerank_them(
    sets, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    write, rerank = commands()
    program, option, module, *arguments = shlex.split(write)
    assert (program, option) == ('python', '-m')
    monkeypatch.setattr(sys, 'argv', [module, *arguments])
    monkeypatch.delitem(sys.modules, module)
    runpy.run_module(module, run_name='__main__')
    program, *arguments = shlex.split(rerank)
    assert program == 'parlai_q2'
    summary = run(arguments)
    # The largest model made something up about the sea and nothing about trees; the
    # reply with most words of the knowledge was right in both.
    rates = summary['hallucination_rate']
    assert (rates['first']['mean'], rates['chosen']['mean']) == (0.5, 0)
