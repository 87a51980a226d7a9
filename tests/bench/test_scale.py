"""What the benchmark measures of large files."""

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
from parlai_q2.errors import ConfigError, Q2Error
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
    with pytest.raises(ConfigError, match='--records must be at least 2048'):
        run_command('bench', *options, '--records', '100')
    with pytest.raises(Q2Error, match='unknown_scorer'):
        run_command('bench', *options, '--measure', 'unknown_scorer')
