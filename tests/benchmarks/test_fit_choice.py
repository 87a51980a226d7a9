"""The fit of what the choice combines."""

import json

import numpy as np
import pytest

from benchmarks import fit_choice
from parlai_q2.rerank import Reranker
from tests.benchmarks.test_choice import PASSAGE

POOL = {
    'knowledge': [PASSAGE],
    'history': ['Who designed the museum?'],
    'candidates': [
        {'text': 'It was designed by Anna Keller.', 'g': 1, 'a': 2},
        {'text': 'Otto Brandt designed it.', 'g': 0, 'a': 2},
        {'text': "Sorry, I don't know.", 'g': 'n', 'a': 0},
        {'text': 'Thanks!', 'g': 'n', 'a': 0},
    ],
}


def test_each_kind_of_reply_has_features_of_its_own():
    reranker = Reranker(explain=None)
    rankings = fit_choice.rank(reranker, [POOL])
    (pool,) = fit_choice.read_pools(reranker, [POOL], rankings)
    kinds = pool.features.astype(bool)
    assert pool.outcomes == ['best', 'wrong', 'beside', 'beside']
    assert kinds[:2, : fit_choice.CLAIMS].all()
    assert not kinds[:2, fit_choice.CLAIMS :].any()
    assert kinds[2].nonzero()[0].tolist() == [5, 6]
    assert kinds[3].nonzero()[0].tolist() == [7, 8]
    right, wrong = pool.features[:2]
    assert right[1] > wrong[1], 'the knowledge supports it'


def make_pools(count, feature):
    """Pools in which the largest of one feature is best, and the others are wrong."""
    draw = np.random.default_rng(0)
    pools = []
    for n in range(count):
        features = np.zeros((4, len(fit_choice.FEATURES)))
        features[:, : fit_choice.CLAIMS] = draw.normal(size=(4, fit_choice.CLAIMS))
        outcomes = ['wrong'] * 4
        outcomes[features[:, feature].argmax()] = 'best'
        pools.append(fit_choice.LabelledPool(str(n), features, outcomes))
    return pools


@pytest.mark.parametrize('feature', range(fit_choice.CLAIMS))
def test_the_feature_that_tells_the_best_reply_gets_the_weight(feature, capsys):
    pools = make_pools(60, feature)
    weights = fit_choice.ChoiceFitter(pools, [1.0] * 60).fit(range(60))
    others = np.delete(weights, feature)
    assert weights[feature] > 4 * abs(others).max()
    fit_choice.print_constants(pools, weights)
    assert fit_choice.FEATURES[feature].upper() in capsys.readouterr().out


def test_pools_without_weight_do_not_count():
    pools = make_pools(60, 0) + make_pools(60, 1)
    weights = fit_choice.ChoiceFitter(pools, [1.0] * 60 + [0.0] * 60).fit(range(120))
    assert weights[0] > 4 * abs(weights[1])


def test_the_command_prints_constants_and_outcomes(tmp_path, monkeypatch, capsys):
    pools, questions = tmp_path / 'pools.jsonl', tmp_path / 'qa.jsonl'
    pools.write_text(json.dumps(POOL))
    row = {'q': 'Who paid for it?', 'c': PASSAGE, 's': -1, 'a': ''}
    questions.write_text(json.dumps(row))
    monkeypatch.setattr(fit_choice, 'is_held_out_pool', lambda pool: True)
    monkeypatch.setattr(fit_choice, 'balanced', lambda pools, limit: pools)
    begin = tmp_path / 'begin'
    begin.mkdir()
    head = 'model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\n'
    labels = {1903: 'Fully attributable', 1950: 'Not fully attributable'}
    rows = [
        f't5\tcmu\t{PASSAGE}\tHi.\tIt opened in {year}.\t{label}\n'
        for year, label in labels.items()
    ]
    (begin / 'dev.tsv').write_text(head + ''.join(rows))
    fit_choice.main([f'{pools}=1', '--qa', f'{questions}=1', '--begin', f'{begin}=1'])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith('AGREEMENT ') for line in lines)
    assert [line.split()[1] for line in lines[-3:]] == ['1', '1', '1']
