"""
The annotated tasks as annotated sets: small files, and the published ones.
"""

from dataclasses import replace

import pytest

from parlai_q2.errors import UnknownNameError
from parlai_q2.evaluate.sets import contrasts
from parlai_q2.evaluate.evaluation import evaluate
from parlai_q2.evaluate.tables.responses import group_table
from parlai_q2.evaluate.tables.responses import means_table
from parlai_q2.evaluate.tables.responses import ranking_table
from parlai_q2.evaluate.tables.settings import systems_table
from parlai_q2.scorers import load_scorer
from parlai_q2.tasks.judged_sets import READERS, read_set
from tests.evaluate.helpers import BAD, GENERIC, GOOD


def read(placed, task, **opt):
    return read_set(task, {'datapath': str(placed), 'datatype': 'valid', **opt})


@pytest.mark.parametrize('task', READERS)
def test_every_set_can_be_read_and_knows_its_name(placed, task):
    found = read(placed, task)
    assert found.name == task and found.responses
    assert all(r.knowledge is not None and r.response for r in found.responses)


@pytest.mark.parametrize(
    'task, name',
    [
        ('wow', 'q2_wow'),
        ('q2:wow', 'q2_wow'),
        ('parlai_q2.tasks.q2_wow.agents', 'q2_wow'),
        ('parlai_q2.tasks.q2_wow.agents:AnnotatedTeacher', 'q2_wow'),
        ('q2_wow:dodeca', 'q2_wow_dodeca'),
        ('begin:wow', 'begin_wow'),
        ('parlai_q2.tasks.begin.agents:WowTeacher', 'begin_wow'),
        (' begin ', 'begin'),
        ('dialogue_nli:gold', 'dialogue_nli_gold'),
        ('rome:expert', 'rome_expert'),
    ],
)
def test_a_set_goes_by_the_names_of_its_task(placed, task, name):
    assert read(placed, task).name == name


@pytest.mark.parametrize('task, near', [('q2_waw', 'q2_wow'), ('begn', 'begin')])
def test_an_unknown_set_is_answered_with_the_nearest_one(placed, task, near):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{near}'"):
        read(placed, task)


def test_q2_wow_has_its_classes_its_dialogues_and_its_contrasts(placed):
    found = read(placed, 'q2_wow')
    assert [r.label for r in found.responses].count(BAD) == 3
    kites = [r for r in found.responses if r.dialogue == '4']
    assert [(r.system, r.turn) for r in kites] == [('dodeca', '1'), ('dodeca', '2')]
    one, other = contrasts(found.crossed)
    assert (one.consistent.response, one.inconsistent.response) == (
        'they need wind .',
        'they need snow .',
    )
    assert (other.consistent.system, other.inconsistent.system) == ('memnet', 'dodeca')
    assert read(placed, 'q2_wow:dodeca').crossed == ()


def test_begin_has_its_corpora_systems_and_folds(placed):
    found = read(placed, 'begin')
    assert set(found.groups('corpus')) == {'wow', 'cmu', 'tc'}
    assert {r.label for r in found.responses} == {GOOD, BAD, GENERIC}
    tests = [read(placed, 'begin:test'), read(placed, 'begin', datatype='test')]
    assert [len(t.responses) for t in tests] == [3, 3] and len(found.responses) == 7
    assert tests[0].title.startswith('BEGIN test')
    assert {r.corpus for r in read(placed, 'begin:wow').responses} == {'wow'}


def test_usr_has_ratings_and_no_classes(placed):
    found = read(placed, 'topical_chat_usr')
    assert {r.label for r in found.responses} == {''}
    assert all(0 <= r.human['uses_knowledge'] <= 1 for r in found.responses)


def test_rome_has_parts_and_its_ratings_of_what_was_rated(placed):
    found = read(placed, 'rome')
    assert 'expert' in found.groups('corpus')
    assert {r.human['factual'] for r in found.responses if 'factual' in r.human}


@pytest.fixture
def published(shared, tmp_path):
    """
    The folder of the published files, where they can be read alone.
    """
    (tmp_path / 'q2_wow').mkdir()
    for path in (shared / 'data' / 'dev' / 'q2_wow').glob('*.csv'):
        (tmp_path / 'q2_wow' / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.slow
@pytest.mark.real_data('data/dev/q2_wow')
def test_the_shipped_q2_on_a_fifth_of_the_papers_600_responses(published):
    annotated = read(published, 'q2_wow')
    fifth = replace(annotated, responses=annotated.responses[::5], crossed=())
    q2 = {'q2': load_scorer('q2')}
    found, _ = evaluate(fifth, q2, other_knowledge=False, rounds=1)
    assert [len(r) for r in fifth.groups('system').values()] == [60, 60]
    # Of 120 responses an AUC has a standard error of about 0.04.
    assert ranking_table(found).rows[0]['roc_auc'].mean >= 0.72
    for row in group_table(found, 'system').rows:
        # As in the paper's Table 2.
        assert row['consistent'].mean > row['inconsistent'].mean + 0.15


@pytest.mark.real_data('data/dev/q2_wow')
def test_the_papers_baselines_on_its_own_files(published):
    """
    The overlap and BLEU of Table 2 are those of the paper to the last digit, and so the
    files, the classes and the numbers; and Table 4 within its own noise.
    """
    annotated = read(published, 'q2_wow')
    names = ('content_overlap', 'bleu')
    found, _ = evaluate(annotated, {n: load_scorer(n) for n in names}, rounds=300)
    assert len(annotated.responses) == 600 and len(contrasts(annotated.crossed)) == 244
    assert len(found.same_dialogue) == 281
    table = means_table(found).rows
    for ours, papers in zip(table[::2], table[1::2], strict=True):
        assert ours['system'] == papers['system']
        # The paper's random sample is not published: ours is another one.
        exact = ours['responses'] != 'random'
        assert ours['content_overlap'].mean == pytest.approx(
            papers['content_overlap'], abs=0.0006 if exact else 0.04
        )
        assert ours['bleu'].mean == pytest.approx(
            papers['bleu'], abs=0.0006 if exact else 0.02
        )
    systems = systems_table(found).rows
    for ours, papers in zip(systems[::2], systems[1::2], strict=True):
        assert ours['contexts'] == 244
        assert ours['spearman'].mean == pytest.approx(papers['spearman'], abs=0.06)
