"""Finding annotated sets by name: small files, and the published ones."""

from collections import Counter
from importlib import import_module

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.evaluate.evaluation import evaluate
from parlai_q2.evaluate.set_reader import read_set, set_names
from parlai_q2.evaluate.sets import contrasts, sampled
from parlai_q2.evaluate.tables.responses import means_table
from parlai_q2.evaluate.tables.systems import systems_table
from parlai_q2.scorers import load_scorer
from tests.evaluate.helpers import BAD, GENERIC, GOOD
from tests.files import run_python, write_lines


def read(placed, task):
    return read_set(task, str(placed))


def test_a_task_added_as_the_docs_say_is_known_at_once(tmp_path, monkeypatch):
    tasks = import_module('parlai_q2.tasks')
    folder = tmp_path / 'museum'
    folder.mkdir()
    (folder / '__init__.py').touch()
    (folder / 'reader.py').write_text(MUSEUM)
    monkeypatch.setattr(tasks, '__path__', [*tasks.__path__, str(tmp_path)])
    assert 'museum' in set_names()
    annotated_set = read_set('museum:vases', 'a datapath')
    assert [r.knowledge for r in annotated_set.responses] == ['a datapath', 'vases']


MUSEUM = """
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet

def annotated_set(datapath, words):
    found = [AnnotatedResponse(k, 'r', 'consistent') for k in (datapath, *words)]
    return AnnotatedSet('museum', 'Museum', tuple(found))
"""


def test_a_file_is_a_set_too(tmp_path):
    path = tmp_path / 'q2_wow.csv'
    path.write_text(
        'knowledge,response,label,system,human_score\nk,r,consistent,a,\nk,s,,b,0.5\n'
    )
    annotated_set = read_set(str(path))
    assert (annotated_set.name, annotated_set.title) == ('q2_wow', 'q2_wow.csv')
    assert annotated_set.paper == '', 'its name does not make it the published set'
    first, other = annotated_set.responses
    assert (first.label, first.system, first.human) == (GOOD, 'a', {})
    assert (other.label, other.human) == ('', {'human_score': 0.5})


def test_labels_and_fields_of_a_file_have_many_names(tmp_path):
    labels = [1, 'REFUTES', 'not enough info', 'chit-chat']
    lines = [{'doc': 'k', 'response': 'r', 'gold': label} for label in labels]
    path = write_lines(tmp_path / 'mine.json', *lines)
    names = {'knowledge': 'doc', 'label': 'gold'}
    responses = read_set(str(path), names=names).responses
    assert [r.label for r in responses] == [GOOD, BAD, BAD, GENERIC]
    assert responses[0].knowledge == 'k'


@pytest.mark.parametrize(
    'row, problem',
    [
        ('k,r,good,', "label is 'good'; expected consistent"),
        ('k,r,,', 'has neither a "label"'),
        ('k,r,,much', "human_score is 'much', which is not"),
        ('k,r,,nan', 'has neither'),
    ],
)
def test_a_record_without_annotation_is_refused_with_its_line(tmp_path, row, problem):
    path = tmp_path / 'mine.csv'
    path.write_text(f'knowledge,response,label,human_score\n{row}\n')
    with pytest.raises(RecordError, match=problem):
        read_set(str(path))


@pytest.mark.parametrize(
    'task, name',
    [
        ('wow', 'q2_wow'),
        ('q2:wow', 'q2_wow'),
        ('q2:wow:annotated', 'q2_wow'),
        ('q2_wow:dodeca', 'q2_wow_dodeca'),
        ('begin:wow', 'begin_wow'),
        (' begin ', 'begin'),
        ('dialogue_nli:gold', 'dialogue_nli_gold'),
        ('rome:expert', 'rome_expert'),
        ('begin:WOW', 'begin_wow'),
        ('grounded_sample:Consistent', 'grounded_sample_consistent'),
    ],
)
def test_a_set_goes_by_the_names_of_its_task(placed, task, name):
    annotated_set = read(placed, task)
    assert annotated_set.name == annotated_set.paper == name
    # A sample is not what the paper reports on.
    assert sampled(annotated_set, 1, 0).paper == ''


def test_scorers_were_fitted_on_the_dev_set_alone(placed):
    names = ('begin', 'begin:tc', 'begin:TEST', 'twins', 'twins:Test')
    fitted = [read(placed, n).fitted_on for n in names]
    assert fitted == [True, True, False, True, False]


@pytest.fixture
def published(shared, tmp_path):
    """The folder of the published files, where they can be read alone."""
    (tmp_path / 'q2_wow').mkdir()
    for path in (shared / 'data' / 'dev' / 'q2_wow').glob('*.csv'):
        (tmp_path / 'q2_wow' / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.real_data('data/dev/q2_wow')
def test_the_papers_baselines_on_its_own_files(published):
    """
    The overlap and BLEU of Table 2 are those of the paper to the last digit, and so the
    files, the classes and the numbers; and Table 4 within its own noise.
    """
    annotated = read(published, 'q2_wow')
    names = ('content_overlap', 'bleu')
    run = evaluate(annotated, {n: load_scorer(n) for n in names}, rounds=300)
    counts = Counter((r.system, r.label) for r in annotated.responses)
    assert (len(counts), set(counts.values())) == (4, {150})
    assert len(annotated.crossed) == 544
    assert len(contrasts(annotated.crossed)) == 244
    assert len(run.same_dialogue) == 281
    table = means_table(run).rows
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
    # Table 7's two rows come last; they have none of ours.
    systems = systems_table(run).rows[:-2]
    for ours, papers in zip(systems[::2], systems[1::2], strict=True):
        assert ours['contexts'] == 244
        assert ours['spearman'].mean == pytest.approx(papers['spearman'].mean, abs=0.06)


def test_the_command_runs_where_parlai_and_torch_are_not(tmp_path):
    code = (
        'import sys; sys.modules["parlai"] = sys.modules["torch"] = None\n'
        'from parlai_q2.cli.commands import run_command\n'
        'made = run_command("meta_eval", *sys.argv[1:])\n'
        'print(list(made["sets"]))'
    )
    words = ['--task', 'grounded_sample', '--scorers', 'precision', '--rounds', '2']
    words += ['--figures', 'no', '--outdir', str(tmp_path)]
    completed = run_python(code, *words)
    assert completed.stdout.endswith("['grounded_sample']\n"), completed.stderr
