"""``parlai_q2 bench``: what it refuses and times, and what it measures of files."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from parlai_q2.bench import scale
from parlai_q2.bench.measuring import processor_seconds
from parlai_q2.cli.commands import build_parser, find, run_command
from parlai_q2.errors import (
    ConfigError,
    InputError,
    MissingPackageError,
    Q2Error,
    UnknownNameError,
)
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scripts import bench
from tests.bench.test_measuring import models
from tests.conftest import ROOT

TURNS = [{'knowledge': 'k', 'response': 'a'}, {'knowledge': 'l', 'response': 'b'}]


@pytest.mark.skipif(not os.path.exists('/proc/self/stat'), reason='no /proc')
def test_processor_time_counts_what_was_started():
    code = 'import subprocess, sys, time; subprocess.run([sys.executable, "-c", '
    code += '"while True: pass"])'
    process = subprocess.Popen([sys.executable, '-c', code], start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while processor_seconds(process.pid) < 0.5 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert processor_seconds(process.pid) >= 0.5
    finally:
        os.killpg(process.pid, 9)
        process.wait()
    assert processor_seconds(process.pid) is None


@pytest.mark.slow
def test_the_command_times_whole_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(
        scale, 'find_spec', lambda n: None if n == 'ray' else find_spec(n)
    )
    out = tmp_path / 'bench.json'
    options = '--parts scale --records 3000 --distinct 50 --chunk-size 4 --rounds 1'
    report = run_command('bench', *options.split(), '--outfile', str(out))
    assert json.loads(out.read_text()) == report
    plain, cached = report['scale']
    assert (plain['records'], plain['distinct']) == (3000, 50)
    cases = [row['case'] for row in (plain, cached)]
    assert cases == ['one process', 'one process, cached']
    assert 0 < plain['start'] < plain['whole']
    assert 0 < plain['each'] < 1000 * plain['whole']
    assert plain['memory'] > 10
    if find_spec('matplotlib'):
        assert 'Milliseconds a record' in (tmp_path / 'bench_scale.svg').read_text()


def test_the_documented_commands_are_read():
    page = (ROOT / 'docs' / 'scoring_at_scale.md').read_text('utf-8')
    [command] = re.findall(r'^parlai_q2 bench (.*)$', page, re.MULTILINE)
    opt = build_parser(find('bench')).with_values(shlex.split(command))
    assert (opt['parts'], opt['chunk_size']) == ('scale', 256)


def test_what_cannot_be_measured_is_said(tmp_path):
    options = ['--outfile', str(tmp_path / 'bench.json'), '--parts', 'scale']
    for records in ('100', '1e5', ''):
        with pytest.raises(ConfigError, match=r'--records must .* at least 2048'):
            run_command('bench', *options, '--records', records)
    with pytest.raises(Q2Error, match='unknown_scorer'):
        run_command('bench', *options, '--measure', 'unknown_scorer')


@pytest.mark.parametrize(
    'options, error, message',
    [
        (['--parts', 'metrik,loop'], UnknownNameError, 'metric'),
        (['--responses', '1'], InputError, 'at least two'),
        (['--rounds', '0'], ConfigError, '--rounds must be at least 1'),
        (['--parts', 'reranking'], MissingPackageError, 'reranking needs ParlAI'),
    ],
)
def test_what_cannot_be_timed_is_told(tmp_path, monkeypatch, options, error, message):
    monkeypatch.setattr('parlai_q2.cli.commands.find_spec', lambda name: None)
    with pytest.raises(error, match=message):
        run_command('bench', *options, '--outfile', str(tmp_path / 'bench.json'))


def test_reranking_imports_parlai_by_way_of_the_bridges(monkeypatch):
    # Otherwise it warns of pkg_resources, or fails where setuptools no longer has it.
    class BridgedError(Exception):
        pass

    def bridge():
        raise BridgedError

    monkeypatch.setattr('parlai_q2.parlai.compat.apply', bridge)
    for name in ('parlai.core.agents', 'parlai.core.params'):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BridgedError):
        bench.rerank('overlap', {'preset': 'mini'})


def test_the_metric_and_the_loop_are_timed_without_parlai(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, 'parlai', None)
    presets = []

    def load_toy(name, preset, **options):
        presets.append(preset)
        return Q2Scorer(models())

    monkeypatch.setattr(bench, 'load_scorer', load_toy)
    out = tmp_path / 'bench.json'
    options = ['--parts', 'metric,loop', '--responses', '2', '--rounds', '1']
    run_command('bench', *options, '--outfile', str(out))
    report = json.loads(out.read_text())
    metric = report['metric']
    assert (metric['responses'], metric['questions']) == (2, 2)
    assert sum(metric['stage_share'].values()) == pytest.approx(1, abs=0.01)
    assert metric['speed_up'] > 0
    assert metric['largest_difference'] == 0
    assert report['signature'].startswith('q2|')
    shown = capsys.readouterr().out
    assert f'{metric["speed_up"]:.1f} times as long' in shown
    assert 'largest difference      0.0e+00' in shown
    assert 'mean difference' in shown
    batched, published = presets
    assert batched == 'mini'
    assert published.model('nli').settings['engine'] == 'transformers'
