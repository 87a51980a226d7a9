"""``parlai_q2 bench``: what it refuses. What it measures is run as the docs tell it."""

import json
import subprocess
import sys

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError, MissingPackageError, UnknownNameError
from tests.conftest import ROOT


@pytest.mark.parametrize(
    'options, error, message',
    [
        (['--parts', 'metrik,loop'], UnknownNameError, 'metric'),
        (['--responses', '1'], InputError, 'at least two'),
        (
            ['--parts', 'reranking'],
            MissingPackageError,
            'Timing reranking needs ParlAI',
        ),
    ],
)
def test_what_cannot_be_timed_is_told(tmp_path, monkeypatch, options, error, message):
    monkeypatch.setattr('parlai_q2.cli.host.find_spec', lambda name: None)
    with pytest.raises(error, match=message):
        run_command('bench', *options, '--outfile', str(tmp_path / 'bench.json'))


def test_reranking_imports_parlai_by_way_of_the_bridges():
    # Otherwise it warns of pkg_resources, or fails where setuptools no longer has it.
    code = (
        'import sys, warnings; sys.modules["pkg_resources"] = None;'
        'import importlib.util as u; known = u.find_spec;'
        'u.find_spec = lambda n, *a: None if n == "pkg_resources" else known(n, *a);'
        'from parlai_q2.scripts import bench;'
        'bench.measure_reranking = lambda *_: sys.exit(7);'
        'bench.rerank("overlap", {"preset": "mini"})'
    )
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True)
    assert done.returncode == 7, done.stderr
    assert b'pkg_resources is deprecated' not in done.stderr


def test_the_metric_is_timed_without_parlai(tmp_path):
    code = (
        'import sys; sys.modules["parlai"] = None;'
        'from parlai_q2.cli.commands import run_command;'
        'run_command("bench", *sys.argv[1:])'
    )
    out = tmp_path / 'bench.json'
    options = ['--parts', 'metric', '--responses', '2', '--rounds', '1']
    subprocess.run(
        [sys.executable, '-c', code, *options, '--outfile', str(out)],
        cwd=ROOT,
        check=True,
    )
    report = json.loads(out.read_text())
    assert report['metric']['responses'] == 2
    assert report['signature'].startswith('q2|')
