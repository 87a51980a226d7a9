"""``parlai_q2 rerank``: order and evidence of pools, and rates by people's labels."""

import json

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError
from tests.files import read_lines, write_lines

K = 'Sephora is a French chain founded in 1969.'


def wrong(text):
    return {'text': text, 'label': 'inconsistent'}


def right(text):
    return {'text': text, 'label': 'consistent'}


POOLS = [
    {'id': name, 'knowledge': K, 'candidates': candidates}
    for name, *candidates in (
        ('a', wrong('made of cheese'), right('founded in 1969')),
        ('b', right('a French chain'), wrong('no')),
        ('c', wrong('moon'), wrong('sun')),
    )
]


def run(tmp_path, pools, **options):
    infile, outfile = tmp_path / 'pools.jsonl', tmp_path / 'out' / 'ranked.jsonl'
    write_lines(infile, *pools)
    files = {'infile': str(infile), 'outfile': str(outfile)}
    options = {'choose': 'precision', 'explain': 'none', **options}
    summary = run_command('rerank', **files, **options)
    return summary, read_lines(outfile)


def test_the_most_grounded_comes_first_with_evidence(tmp_path):
    _, lines = run(tmp_path, POOLS)
    assert [line['order'] for line in lines] == [[1, 0], [0, 1], [0, 1]]
    assert lines[0]['text'] == 'founded in 1969'
    chosen, first = lines[0]['rerank']
    assert (chosen['text'], chosen['chosen']) == ('founded in 1969', True)
    assert (first['text'], first['first']) == ('made of cheese', True)
    assert lines[0]['id'] == 'a'


def test_the_shown_replies_are_explained_if_asked(tmp_path):
    _, (line, *_) = run(tmp_path, POOLS[:1], explain='overlap')
    assert [row['evidence']['signature'].split('|')[0] for row in line['rerank']] == [
        'overlap'
    ] * 2


def test_rates_of_labelled_pools_for_each_way_to_choose(tmp_path):
    unlabelled = {'id': 'd', 'knowledge': K, 'candidates': ['moon', 'founded']}
    summary, _ = run(tmp_path, [*POOLS, unlabelled])
    assert (summary['pools'], summary['labelled']) == (4, 3)
    rates = {k: v['mean'] for k, v in summary['hallucination_rate'].items()}
    expected = {'chosen': 1 / 3, 'first': 2 / 3, 'random': 2 / 3, 'oracle': 1 / 3}
    assert rates == pytest.approx(expected)
    for interval in summary['hallucination_rate'].values():
        assert 0 <= interval['low'] <= interval['mean'] <= interval['high'] <= 1


def test_intervals_of_rates_draw_passages(tmp_path):
    pools = [
        {'knowledge': K, 'candidates': [{'text': 'in 1969', 'label': label}]}
        for label in ('consistent', 'inconsistent')
    ]
    pools[1]['knowledge'] = 'It is large.'
    summary, _ = run(tmp_path, pools * 20)
    rate = summary['hallucination_rate']['chosen']
    assert rate == {'mean': 0.5, 'low': 0, 'high': 1}


@pytest.mark.parametrize(
    'bad, message',
    [
        ('not json', 'not JSON'),
        ('[1]', 'JSON list'),
        ({'knowledge': K}, '"candidates"'),
        ({'knowledge': K, 'candidates': []}, '"candidates"'),
        ({'knowledge': K, 'candidates': [3]}, 'candidate 0'),
        ({'candidates': ['x'], 'knowlege': K}, "no 'knowledge' field (fields: cand"),
        ({'knowledge': 3, 'candidates': ['x']}, "'knowledge'"),
        ({'knowledge': [{}], 'candidates': ['x']}, 'Passage 0'),
        ({'knowledge': K, 'candidates': [{'text': 'x', 'label': 'good'}]}, "'good'"),
        ({'knowledge': K, 'candidates': [{'text': 'x', 'score': 'high'}]}, '"score"'),
        ({'knowledge': K, 'candidates': ['x'], 'history': 3}, '"history"'),
    ],
)
def test_a_bad_pool_names_itself_and_spoils_no_other(tmp_path, bad, message):
    with pytest.raises(InputError, match=r'1 of the 3 pools .* not reranked'):
        run(tmp_path, [POOLS[0], bad, POOLS[1]])
    lines = read_lines(tmp_path / 'out' / 'ranked.jsonl')
    summary = json.loads((tmp_path / 'out' / 'ranked.jsonl.meta.json').read_text())
    assert (summary['pools'], summary['bad']) == (3, 1)
    assert message in lines[1]['error']
    assert 'line 2' in lines[1]['error']
    assert [lines[0]['order'], lines[2]['order']] == [[1, 0], [0, 1]]


def test_keeps_the_given_order_without_knowledge(tmp_path):
    _, lines = run(tmp_path, [{'knowledge': '', 'candidates': ['x', 'y']}])
    assert (lines[0]['order'], 'no knowledge' in lines[0]['reason']) == ([0, 1], True)


def test_abstains_if_no_candidate_is_grounded_enough(tmp_path):
    options = {'abstain_below': 0.5, 'abstain_text': 'I do not know.'}
    summary, lines = run(tmp_path, POOLS, **options)
    assert [line['abstained'] for line in lines] == [False, False, True]
    assert lines[2]['text'] == 'I do not know.'
    # "moon" and "sun" are wrong, and were not said.
    rates = {k: v['mean'] for k, v in summary['hallucination_rate'].items()}
    assert (rates['chosen'], rates['oracle']) == (0.0, pytest.approx(1 / 3))


def test_a_file_of_responses_is_for_another_command(tmp_path):
    with pytest.raises(InputError, match='could be reranked'):
        run(tmp_path, [{'knowledge': K, 'response': 'founded in 1969'}])
    (line,) = read_lines(tmp_path / 'out' / 'ranked.jsonl')
    assert line['error'].endswith('This is a file for: parlai_q2 score')


OTHER_SETTINGS = [
    {'rerank_by': 'threshold'},
    {'generator_weight': 0.5},
    {'abstain_below': 0.99, 'abstain_text': 'WITHHELD'},
    {'abstain_unverified': False},
    {'guards': False},
    {'explain': 'overlap'},
    {'choose_threshold': 0.9},
]


@pytest.mark.parametrize(
    'options', OTHER_SETTINGS, ids=lambda options: next(iter(options))
)
def test_lines_of_other_settings_are_not_continued(tmp_path, monkeypatch, options):
    write_lines(tmp_path / 'pools.jsonl', *POOLS)
    settings = {'rerank_by': 'score', 'abstain_below': 0.5}

    def rerank(name, **options):
        files = {'infile': tmp_path / 'pools.jsonl', 'outfile': tmp_path / name}
        options = {'chunk_size': 1, **settings, **options}
        run_command('rerank', **files, choose='precision', **options)
        return read_lines(tmp_path / name)

    def stop(*_):
        raise KeyboardInterrupt

    uninterrupted = rerank('uninterrupted.jsonl', explain='none')
    for name in ('same.jsonl', 'other.jsonl'):
        with monkeypatch.context() as patch:
            patch.setattr('parlai_q2.cli.log.InputProgress.read', stop)
            with pytest.raises(KeyboardInterrupt):
                rerank(name, explain='none')
    warnings = []
    monkeypatch.setattr('parlai_q2.cli.log.warning', warnings.append)
    assert rerank('same.jsonl', explain='none') == uninterrupted
    assert not warnings
    options = {'explain': 'none', **options}
    assert rerank('other.jsonl', **options) == rerank('whole.jsonl', **options)
    assert 'Starting over' in warnings[0]


def test_a_complete_folder_is_made_again_with_another_rule(tmp_path):
    write_lines(tmp_path / 'pools.jsonl', *POOLS)
    folder = tmp_path / 'out'
    folder.mkdir()

    def rerank(**options):
        files = {'infile': tmp_path / 'pools.jsonl', 'outfile': folder}
        options = {'choose': 'precision', 'explain': 'none', **options}
        return run_command('rerank', **files, **options)

    assert len(rerank()['shards']) == 1
    assert rerank()['shards'] == []
    assert len(rerank(abstain_below=0.99, abstain_text='WITHHELD')['shards']) == 1
    assert read_lines(folder / 'pools.jsonl')[2]['text'] == 'WITHHELD'
