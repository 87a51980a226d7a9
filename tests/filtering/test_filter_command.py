"""``parlai_q2 filter`` from the task to a file that trains."""

import json

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname

from parlai_q2.__main__ import run
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.parlai import filtered_files
from tests.files import read_lines
from tests.filtering.toys import SCORER, TASK, WordScorer, said

SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'


def run_filter(outfile, *options, task=TASK):
    WordScorer.made.clear()
    words = ['filter', '-t', task, '--choose', SCORER, '--outfile', str(outfile)]
    return run([*words, *map(str, options)])


@pytest.fixture
def kept(tmp_path):
    return tmp_path / 'kept.jsonl'


def test_it_writes_what_stays_what_goes_and_a_summary(kept):
    summary = run_filter(kept)
    # Six of twelve conversations have one lie in the middle.
    assert (summary['turns'], summary['kept'], summary['dropped']) == (36, 30, 6)
    assert said(read_lines(kept))[:3] == [
        [(f'train 0 {n}', f'fact 0 {n}') for n in range(3)],
        [('train 1 0', 'fact 1 0')],
        [('train 1 0\nfact 1 0\ntrain 1 1\nlie 1\ntrain 1 2', 'fact 1 2')],
    ]
    assert said(read_lines(kept.with_name('kept.dropped.jsonl')))[0] == [
        ('train 1 0\nfact 1 0\ntrain 1 1', 'lie 1')
    ]
    assert json.loads(kept.with_name('kept.summary.json').read_text()) == summary
    assert 'Kept 30 of 36 turns' in kept.with_name('kept.summary.txt').read_text()
    assert summary['signature'] == str(WordScorer().signature)
    assert not list(kept.parent.glob('*.part'))


@pytest.mark.parametrize(
    'ending', 'jsonl metadata dropped.jsonl dropped.metadata summary.json'.split()
)
def test_a_folder_of_any_name_it_writes_is_told_before_any_work(kept, ending):
    (kept.parent / f'kept.{ending}').mkdir()
    with pytest.raises(InputError, match=f'kept.{ending} is a folder. Choose another'):
        run_filter(kept)
    assert len(list(kept.parent.iterdir())) == 1
    assert not any(scorer.scored for scorer in WordScorer.made)


def test_another_threshold_costs_no_new_scores(kept):
    run_filter(kept)
    summary = run_filter(kept, '--choose-threshold', '1.0')
    assert summary['kept'] == 0
    assert kept.read_text() == ''
    assert summary['cache'] == {'hits': 36, 'misses': 0}
    assert WordScorer.made[0].calls == []


def test_a_fold_a_few_turns_and_several_tasks(kept):
    assert run_filter(kept, '-dt', 'valid')['turns'] == 9
    assert run_filter(kept, '-n', 4)['turns'] == 6
    summary = run_filter(kept, '-dt', 'valid', task=f'{TASK},{SAMPLE}:AnnotatedTeacher')
    assert summary['turns'] == 9 + 84
    # One of them streams; both give what they give otherwise.
    assert run_filter(kept, '-dt', 'train:stream')['turns'] == 36


def test_policies_are_options(kept):
    valid, task = ['-dt', 'valid'], f'{SAMPLE}:GenericTeacher'
    all_kept = run_filter(kept, *valid, task=task)
    dropped = run_filter(kept, *valid, '--unverifiable', 'drop', task=task)
    gone = all_kept['reasons']['kept']['nothing to verify']
    assert gone > 0
    assert dropped['kept'] == all_kept['kept'] - gone


@pytest.mark.parametrize(
    'wrong, says',
    [
        (['filter', '--outfile', 'kept.jsonl'], '-t TASK'),
        (
            ['filter', '-t', TASK, '--outfile', 'k', '--choose-threshold', '2'],
            r'\[0, 1',
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said(tmp_path, monkeypatch, wrong, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=says):
        run([*wrong, '--choose', SCORER])
    assert list(tmp_path.glob('*.jsonl*')) == []


def test_a_run_that_fails_leaves_no_half_file(kept, monkeypatch):
    def fail(self, examples):
        raise MemoryError

    monkeypatch.setattr(WordScorer, 'score_texts', fail)
    with pytest.raises(MemoryError):
        run_filter(kept)
    assert list(kept.parent.glob('kept*')) == []


def messages(task, path):
    opt = ParlaiParser(True, True).parse_kwargs(
        task=task, jsonfile_datapath=str(path), datatype='valid'
    )
    teacher = create_task_agent_from_taskname(opt)[0]
    return [m for m in teacher if not m.is_padding()]


@pytest.mark.parametrize('task', ['jsonfile', 'parlai_q2.tasks.grounded_file.agents'])
def test_a_kept_file_is_a_task_and_can_be_filtered_again(kept, task):
    run_filter(kept)
    again = run_filter(
        kept.with_name('again.jsonl'), '--jsonfile-datapath', kept, task=task
    )
    # Every turn is found with its knowledge, and scored as before.
    assert (again['turns'], again['kept']) == (30, 30)
    assert again['cache'] == {'hits': 30, 'misses': 0}


def test_all_labels_that_stay_are_references(kept):
    turn = {'text': 'one', 'id': 'a', 'knowledge': 'a b', 'labels': ['a', 'b b']}
    answer = {'text': 'a', 'id': 'label'}
    other = [{'text': 'two', 'id': 'a', 'labels': ['of somebody else']}, answer]
    kept.write_text(json.dumps({'dialog': [[turn, answer], other]}) + '\n')
    first, second = messages('parlai_q2.tasks.grounded_file.agents', kept)
    assert list(first['eval_labels']) == ['a', 'b b']
    assert list(second['eval_labels']) == ['a']


def test_where_nothing_is_kept_a_warning_says_so_and_training_says_why(
    kept, monkeypatch
):
    said = []
    monkeypatch.setattr(filtered_files.logging, 'warning', said.append)
    run_filter(kept)
    assert said == []
    run_filter(kept, '--choose-threshold', 1.0)
    assert len(said) == 1
    assert 'No turn was kept' in said[0]
    with pytest.raises(InputError, match=r'kept.jsonl has no turns'):
        messages('parlai_q2.tasks.grounded_file.agents', kept)


def test_classes_are_no_responses(kept):
    with pytest.raises(InputError, match='annotated view'):
        run_filter(kept, '-dt', 'valid', task='q2:grounded_sample:classification')
    assert list(kept.parent.glob('kept*')) == []
