"""``parlai_q2 bench``: what it refuses, and that it times the metric and the loop."""

import json
import sys

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError, MissingPackageError, UnknownNameError
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scripts import bench
from tests.bench.test_measuring import models


@pytest.mark.parametrize(
    'options, error, message',
    [
        (['--parts', 'metrik,loop'], UnknownNameError, 'metric'),
        (['--responses', '1'], InputError, 'at least two'),
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


def test_the_metric_and_the_loop_are_timed_without_parlai(tmp_path, monkeypatch):
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
    assert report['metric']['responses'] == 2
    assert report['metric']['speed_up'] > 0
    assert report['metric']['largest_difference'] == 0
    assert report['signature'].startswith('q2|')
    batched, published = presets
    assert batched == 'mini'
    assert published.model('nli').settings['engine'] == 'transformers'
