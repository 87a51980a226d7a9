"""Q2 on ParlAI's own Wizard of Wikipedia teachers, with files of the true format."""

import pytest
from parlai.core.build_data import DownloadableFile
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import TaskDataError
from parlai_q2.parlai.task_strings import task_arguments, without_repo
from tests.tasks.evaluating import messages
from tests.tasks.wow_files import NOTHING, write_wow

TASK = 'parlai_q2.tasks.wizard_of_wikipedia.agents'
LAKES = [
    (
        f'Lake {n}',
        [f'Lake {n} is deep.', f'Lake {n} is {n + 2} miles long.'],
        [
            ('tell me more', None),
            (f'it is {n + 2} miles long', 1),
            ('and?', None),
            (f'it is {n + 2} miles long', NOTHING),
        ],
    )
    for n in range(6)
]


@pytest.fixture
def datapath(tmp_path, monkeypatch):
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    return write_wow(tmp_path, LAKES)


@pytest.mark.parametrize('teacher, batchsize', [('Default', 1), ('Generator', 4)])
def test_the_teachers_report_the_scorer_beside_their_own_metrics(
    datapath, teacher, batchsize
):
    report = EvalModel.main(
        task=f'{TASK}:{teacher}Teacher',
        model='repeat_label',
        measure='precision',
        batchsize=batchsize,
    )
    report = {name: metric.value() for name, metric in report.items()}
    assert report['exs'] == 6
    assert report['f1'] == 1
    assert 'knowledge_f1' in report
    # "it is N miles long" against "Lake N is N miles long.": 4 of 5 words. Where the
    # wizard checked nothing, the knowledge is all that was shown, which also has "it".
    assert report['knowledge_precision'] == pytest.approx(0.9)


@pytest.mark.parametrize('missing', ['data.json', 'train.json'])
def test_errors_name_truncated_files(datapath, monkeypatch, missing):
    def no_network(*args):
        raise RuntimeError('Connection broken too many times.')

    monkeypatch.setattr(DownloadableFile, 'download_file', no_network)
    (datapath / '.built').unlink()
    path = datapath / missing
    path.write_text(path.read_text()[:-10])
    with pytest.raises(TaskDataError, match=f'place them in {datapath}: {missing}.'):
        messages(TASK)
    assert not (datapath / '.built').exists()


@pytest.mark.parametrize(
    'prefix, split', [('', 'random_split'), ('internal:', 'topic_split')]
)
def test_the_split_is_the_last_part_of_the_task(datapath, prefix, split):
    from parlai_q2.tasks.wizard_of_wikipedia.agents import DefaultTeacher

    opt = ParlaiParser(True, True).parse_kwargs(
        task=f'{TASK}:DefaultTeacher:{split}', datatype='valid', measure='overlap'
    )
    opt['task'] = f'{prefix}wizard_of_wikipedia:default:{split}'
    first = next(iter(DefaultTeacher(opt)))
    lake = LAKES[0 if split == 'random_split' else 3][0]
    assert f'{lake} is deep' in first['knowledge']


@pytest.mark.parametrize(
    'task, bare, arguments',
    [
        ('q2_wow', 'q2_wow', []),
        ('q2_wow:annotated', 'q2_wow:annotated', []),
        ('q2_wow:annotated:dodeca', 'q2_wow:annotated:dodeca', ['dodeca']),
        ('internal:q2_wow:annotated:dodeca', 'q2_wow:annotated:dodeca', ['dodeca']),
        ('a.b.agents:C:x:y', 'a.b.agents:C:x:y', ['x', 'y']),
        ('q2_wow:annotated:scorer=nli', 'q2_wow:annotated:scorer=nli', []),
        (' internal:q2_wow ', 'q2_wow', []),
    ],
)
def test_task_strings(task, bare, arguments):
    assert without_repo(task) == bare
    assert task_arguments(task) == arguments
