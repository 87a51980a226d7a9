"""
Fitting the coefficients: non-negative, even-handed, measured on what was held out.
"""

import json

import numpy as np
import pytest

from parlai_q2.calibrate.logistic import even_weights, fit, folds_of, quality
from parlai_q2.errors import InputError
from parlai_q2.scorers.grounded import FEATURES, read_coefficients
from parlai_q2.zoo.train.grounded import Data, held_out, main, read_scored


def test_a_feature_that_speaks_the_wrong_way_gets_no_weight():
    y = np.array([1.0, 1, 0, 0])
    x = np.stack([y, 1 - y], axis=1)
    weights = fit(x, y, np.ones(4), ridge=0.01).weights
    assert weights[0] > 1 and weights[1] == 0


def test_corpora_and_classes_count_the_same():
    groups = ['a'] * 4 + ['b'] * 2
    y = np.array([1.0, 0, 0, 0, 1, 0])
    weight = even_weights(groups, y)
    assert weight.tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3, 1, 1])


def test_quality_by_hand():
    found = quality(np.array([0.8, 0.65, 0.3, 0.55]), np.array([1.0, 1, 0, 0]))
    # All positives above both negatives; 0.55 is on the wrong side of 0.5.
    assert (found.auc, found.accuracy) == (1.0, 0.75)
    logs = np.log([0.8, 0.65, 0.7, 0.45])
    assert found.log_loss == pytest.approx(-logs.mean())
    # Each alone in its bin of a tenth but none shared: |p - y| on average.
    assert found.ece == pytest.approx((0.2 + 0.35 + 0.3 + 0.55) / 4)


def test_what_is_held_out_is_not_fitted_on_and_chit_chat_is_capped():
    # In each corpus the feature means the opposite: learnt from the other, all wrong.
    x = np.array([[1.0], [0.0], [0.0], [1.0]])
    y = np.array([1.0, 0, 1, 0])
    corpora, generic = np.array(['a', 'a', 'b', 'b']), np.array([0, 0, 0, 1]) > 0
    data = Data(x, y, corpora, generic, np.array(['k'] * 4), 'mini')
    p = held_out(data, corpora)
    # Fitted on "b" the weight is 0, since it may not be negative.
    assert p[:2] == pytest.approx([0.5, 0.5], abs=1e-3)
    # Fitted on "a", 1 would mean supported; but this one is chit-chat.
    assert p[2] < 0.1 and p[3] == 0.5


@pytest.fixture
def scored(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / 'scored.jsonl'
    lines = []
    for n in range(120):
        label = ('consistent', 'inconsistent', 'generic')[n % 3]
        low = 0.4 if label == 'consistent' else 0.0
        parts = {f: low + 0.6 * rng.random() for f in FEATURES}
        record = {'corpus': 'ab'[n % 2], 'q2_label': label, 'parts': parts}
        record['knowledge'] = f'About {n}.'
        more = {'id': str(n), 'label': 'inconsistent', 'score': 0.1}
        lines.append({**record, **more})
    lines[0]['signature'] = 'grounded|preset:mini|version:0'
    lines.append({'error': 'a bad line'})
    path.write_text('\n'.join(map(json.dumps, lines)))
    return path


def test_fitting_writes_coefficients_that_load_and_their_measure(scored, tmp_path):
    out = tmp_path / 'c.json'
    main(['--scored', str(scored), '--outfile', str(out)])
    for name in ('grounded', 'grounded_fast'):
        assert sum(read_coefficients(name, str(out)).weights.values()) > 0
    written = json.loads(out.read_text())
    # Generic responses belong to neither class.
    assert written['examples']['a'] == {'consistent': 20, 'inconsistent': 20}
    measured = written['grounded']['measured']
    assert set(measured) == {'5-fold', 'corpus left out'}
    assert measured['5-fold']['a']['auc'] > 0.8


def test_a_file_of_another_scorer_is_refused(tmp_path):
    path = tmp_path / 'x.jsonl'
    labels = ('consistent', 'inconsistent')
    rows = [{'corpus': 'a', 'q2_label': label, 'parts': {}} for label in labels]
    path.write_text('\n'.join(map(json.dumps, rows)))
    with pytest.raises(InputError, match='q2.*--measure grounded'):
        read_scored(str(path))


def rewritten(path, change):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text('\n'.join(json.dumps(row) for row in map(change, rows) if row))
    return str(path)


def test_one_passage_written_in_two_ways_is_in_one_fold(scored):
    def twice(row):
        number = int(row['knowledge'].split()[1].strip('.')) if 'parts' in row else 0
        row['knowledge'] = f'About {number // 2}' + ('.' if number % 2 else ' .')
        return row

    data = read_scored(rewritten(scored, twice))
    folds = folds_of(data.knowledge, 5)
    assert len(set(data.knowledge)) <= 60 < len(data.knowledge)
    for passage in set(data.knowledge):
        assert len(set(folds[data.knowledge == passage])) == 1
