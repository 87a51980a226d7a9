"""``parlai_q2 meta_eval`` as a person runs it."""

import json

import pytest

from parlai_q2.__main__ import run
from parlai_q2.errors import (
    ConfigError,
    InputError,
    MissingPackageError,
    UnknownNameError,
)
from parlai_q2.scorers.q2 import SOFT_THRESHOLD
from parlai_q2.scripts.meta_eval import scorers_from_opt, variants_from_opt

CHEAP = 'content_overlap,overlap'


@pytest.fixture
def meta_eval(placed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*words, task='begin', scorers=CHEAP, figures='false'):
        options = ['--task', task, '--datapath', str(placed), '--scorers', scorers]
        options += ['--figures', figures, '--outdir', str(tmp_path / 'out')]
        return run(['meta_eval', '--rounds', '20', *options, *words])

    return command


def rows(tables, annotated, name):
    set_tables = tables['sets'][annotated]['tables']
    (table,) = (table for table in set_tables if table['name'].endswith(name))
    return table['rows']


def test_one_command_makes_the_tables_and_figures_of_several_sets(meta_eval, tmp_path):
    tables = meta_eval(
        task='begin,topical_chat_usr', scorers='content_overlap', figures='true'
    )
    out = tmp_path / 'out'
    assert json.loads((out / 'meta_eval.json').read_text()) == tables
    table_names = {
        n: [t['name'] for t in s['tables']] for n, s in tables['sets'].items()
    }
    assert {'begin_by_corpus', 'begin_by_density'} <= set(table_names['begin'])
    ratings = [f'topical_chat_usr_{name}' for name in ('table_5', 'agreement')]
    assert table_names['topical_chat_usr'] == ratings
    text = (out / 'meta_eval.txt').read_text()
    assert 'content_overlap|measure:f1' in text
    assert 'seed 0, 20 rounds' in text
    figures = {p.name for p in (out / 'figures').iterdir()}
    assert {'begin_precision_recall.svg', 'begin_by_density.png'} <= figures
    page = (out / 'meta_eval.html').read_text()
    assert page.count('<img ') == sum(name.endswith('.svg') for name in figures)
    assert 'Classes at a fixed threshold' in page
    assert 'Scores by density' in page
    assert (out / 'scores_begin.csv').read_text().startswith('knowledge,response,label')


def test_a_new_scorer_takes_part_by_its_class_and_as_a_column(meta_eval, tmp_path):
    toy = 'tests.rerank.toys:ToyScorer'
    tables = meta_eval(scorers=f'overlap,{toy}')
    assert [r['scorer'] for r in rows(tables, 'begin', 'ranking')] == ['overlap', toy]
    scores = tmp_path / 'out' / 'scores_begin.csv'
    tables = meta_eval('--score-columns', f'mine={scores}:overlap', scorers='overlap')
    ours, column = rows(tables, 'begin', 'ranking')
    assert {**ours, 'scorer': 'mine'} == column
    with pytest.raises(ConfigError, match="'overlap' is taken"):
        meta_eval('--score-columns', f'{scores}:overlap', scorers='overlap')
    # It may also come alone.
    tables = meta_eval('--score-columns', f'{scores}:overlap', scorers='')
    assert [r['scorer'] for r in rows(tables, 'begin', 'ranking')] == ['overlap']


@pytest.mark.parametrize(
    'words, error, message',
    [
        (['--scorers', 'overlapp'], UnknownNameError, "Did you mean 'overlap'"),
        (['--scorers', 'overlap@pper'], UnknownNameError, "Did you mean 'paper'"),
        (['--scorers', 'bleu,bleu'], ConfigError, 'bleu twice'),
        (['--task', 'grounded_sample,q2:grounded_sample'], ConfigError, 'Rename one'),
        (['--scorers', ''], ConfigError, 'nothing to evaluate'),
        (['--task', 'q2_waw'], UnknownNameError, "Did you mean 'q2_wow'"),
        (['--task', 'begin:wwo'], UnknownNameError, "Did you mean 'wow'"),
        (['--task', ','], ConfigError, 'names no set'),
        (['--rounds', '0'], ConfigError, 'at least 1'),
        (['--score-columns', 'scores.csv'], ConfigError, 'FILE:COLUMN'),
        (['--score-columns', 'none.csv:mine'], InputError, 'Cannot read'),
        (['--score-columns', 'other.csv:mine'], InputError, 'must match those of'),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_scored(
    meta_eval, tmp_path, words, error, message
):
    (tmp_path / 'other.csv').write_text('knowledge,response,mine\nk,r,1\n')
    with pytest.raises(error, match=message):
        meta_eval(*words)
    assert not (tmp_path / 'out').exists()


def test_without_matplotlib_nothing_is_scored_in_vain(meta_eval, without_package):
    without_package('matplotlib')
    with pytest.raises(MissingPackageError, match='plots'):
        meta_eval(figures='true')
    assert meta_eval(figures='false')


def test_a_folder_that_cannot_be_is_told_before_anything_is_scored(
    meta_eval, tmp_path, monkeypatch
):
    def fail(*arguments):
        raise AssertionError('It has scored.')

    (tmp_path / 'out').write_text('a file')
    monkeypatch.setattr('parlai_q2.scripts.meta_eval.evaluate', fail)
    with pytest.raises(InputError, match=r'out: File exists. Check --outdir'):
        meta_eval()
    (tmp_path / 'out').unlink()

    def not_ours(dir):
        raise PermissionError(13, 'Permission denied', str(dir))

    monkeypatch.setattr('parlai_q2.scripts.meta_eval.TemporaryFile', not_ours)
    with pytest.raises(InputError, match=r'out: Permission denied. Check --outdir'):
        meta_eval()


def test_dialogue_nli_has_the_settings_of_the_paper():
    opt = {'scorers': 'q2,nli', 'preset': 'mini', 'cache': False, 'no_cuda': True}
    persona = scorers_from_opt(opt, 'dialogue_nli_gold')
    assert persona['q2'].threshold == 0.1
    assert persona['nli'].threshold == 0.5
    signature = str(persona['q2'].signature)
    assert 'personal_filter:off' in signature
    assert 'neutral_fallback:0|' in signature
    assert '|comparison:nli|' in signature
    other = scorers_from_opt(opt, 'begin')['q2']
    assert other.threshold == SOFT_THRESHOLD
    assert '|comparison:soft_nli|' in str(other.signature)


def test_scorers_with_models_are_cached_unless_told_otherwise(tmp_path):
    from parlai_q2.scorers.calibrated import CalibratedCachedScorer

    opt = {
        'scorers': 'q2,overlap',
        'preset': 'mini',
        'cache_file': str(tmp_path / 's.sqlite'),
        'ablations': True,
    }
    scorers = scorers_from_opt(opt, 'q2_wow')
    assert isinstance(scorers['q2'], CalibratedCachedScorer)
    assert not isinstance(scorers['overlap'], CalibratedCachedScorer)
    assert len(variants_from_opt(opt)) == 2
    assert len(variants_from_opt({**opt, 'multi': True})) == 3
    assert variants_from_opt({**opt, 'ablations': False}) == {}
    bare = scorers_from_opt({**opt, 'cache': False}, 'q2_wow')
    assert not isinstance(bare['q2'], CalibratedCachedScorer)


@pytest.mark.slow
def test_the_shipped_q2_makes_all_tables_of_its_paper(meta_eval):
    tables = meta_eval('--num-examples', '4', task='q2_wow', scorers='q2,q2_f1')
    names = {t['name'] for t in tables['sets']['q2_wow']['tables']}
    expected = {f'q2_wow_table_{number}' for number in ('2', '3', '4', '8', '9', '10')}
    assert expected <= names
    assert 'comparison:f1' in tables['sets']['q2_wow']['signatures']['q2_f1']
