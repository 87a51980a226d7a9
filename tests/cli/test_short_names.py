"""Short names are written out before ParlAI sees them."""

import json

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cli import names as short_names
from parlai_q2.errors import UnknownNameError
from parlai_q2.parlai.task_strings import register

RERANK = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
WOW = 'parlai_q2.tasks.q2_wow.agents'
HF = 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent'


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Fixed agents and tasks, so that a new one changes no expectation here."""
    agents = ('grounded_rerank', 'hf_seq2seq')
    monkeypatch.setattr(short_names, 'agents', lambda: agents)
    tasks = {'wow': WOW, 'grounded_sample': SAMPLE}
    monkeypatch.setattr(short_names, 'tasks', lambda: tasks)


@pytest.mark.parametrize(
    'arguments, expected',
    [
        ('q2:wow', WOW),
        ('q2:q2_wow', WOW),
        ('q2:WOW', WOW),  # ParlAI lowers a task's name too
        ('q2:wow:annotated', f'{WOW}:AnnotatedTeacher'),
        ('q2:wow:cross_annotation:dodeca', f'{WOW}:CrossAnnotationTeacher:dodeca'),
        ('q2:wow:AnnotatedTeacher', f'{WOW}:AnnotatedTeacher'),
        ('q2:wow:threshold=0.3', f'{WOW}:threshold=0.3'),
        ('convai2, q2:wow,babi:task1k:1', f'convai2,{WOW},babi:task1k:1'),
        ('internal:wow', 'internal:wow'),
    ],
)
def test_tasks_are_written_out(arguments, expected):
    assert short_names.expand_tasks(arguments) == expected


@pytest.mark.parametrize(
    'arguments, expected',
    [
        (['-m', 'q2:grounded_rerank'], ['-m', RERANK]),
        (
            ['-m', 'q2:hf_seq2seq/big'],
            ['-m', 'parlai_q2.agents.hf_seq2seq.big:BigAgent'],
        ),
        (['-m', RERANK], ['-m', RERANK]),
        (['--model=q2:grounded_rerank'], [f'--model={RERANK}']),
        (['--generator', 'q2:hf_seq2seq'], ['--generator', HF]),
        (['-t', 'q2:wow'], ['-t', WOW]),
        (['--tas', 'q2:wow'], ['--tas', WOW]),  # argparse knows --task by that
        (['-et', 'q2:wow', '--evaltask', 'q2:wow'], ['-et', WOW, '--evaltask', WOW]),
        # What a person says is not a name.
        (['--abstain-text', 'q2: no idea'], ['--abstain-text', 'q2: no idea']),
        (['--knowledge=q2:wow'], ['--knowledge=q2:wow']),
        (['eval_model', '--verbose'], ['eval_model', '--verbose']),
    ],
)
def test_only_the_values_of_model_and_task_options_are_written_out(arguments, expected):
    assert short_names.expand_arguments(arguments) == expected


@pytest.mark.parametrize(
    'option, value, nearest',
    [
        ('-m', 'q2:grounded_reranker', 'q2:grounded_rerank'),
        ('-t', 'q2:wov', 'q2:wow'),
        ('-t', 'convai2,q2:grounded_samples', 'q2:grounded_sample'),
    ],
)
def test_a_wrong_short_name_names_the_nearest(option, value, nearest):
    with pytest.raises(UnknownNameError, match=f'Did you mean {nearest!r}') as raised:
        short_names.expand_arguments([option, value])
    assert 'Known: q2:' in str(raised.value)


def test_options_read_from_a_file_are_written_out_too(tmp_path):
    from parlai.core.opt import Opt

    register()
    preset = tmp_path / 'preset.opt'
    short = {'model': 'q2:grounded_rerank', 'generator': 'q2:hf_seq2seq'}
    preset.write_text(json.dumps({**short, 'task': 'q2:wow'}))
    written_out = {'model': RERANK, 'generator': HF, 'task': WOW}
    assert Opt.load_init(str(preset)) == written_out


@pytest.mark.parametrize('name', ['agents', 'tasks'])
def test_every_short_name_loads(monkeypatch, name):
    from parlai.core.loader import load_agent_module, load_teacher_module

    monkeypatch.undo()
    names = getattr(short_names, name)()
    assert names
    for short in names:
        if name == 'agents':
            assert load_agent_module(short_names.expand_agent(f'q2:{short}'))
        else:
            assert load_teacher_module(short_names.expand_tasks(f'q2:{short}'))


def test_a_report_names_the_task_in_full(monkeypatch, tmp_path):
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    report = tmp_path / 'report.json'
    words = ['eval_model', '-t', 'q2:grounded_sample', '-m', 'repeat_label']
    words += ['--num-examples', '2', '--metrics', 'f1']
    run([*words, '--report-filename', str(report), '--measure', 'overlap'])
    assert json.loads(report.read_text())['opt']['task'] == SAMPLE


@pytest.mark.parametrize(
    'arguments, expected',
    [
        (['interactive', '--search', 'x'], ['-m', 'q2:grounded_rerank']),
        (['interactive_web'], ['-m', 'q2:grounded_rerank']),
        (['interactive', '-m', 'other'], []),
        (['interactive', '--model_file=zoo:x'], []),
        (['interactive', '--init-opt', 'chat.opt'], []),
        (['interactive', '-h'], []),
        (['eval_model', '-t', 'q2:wow'], []),
    ],
)
def test_a_chat_without_an_agent_is_with_ours(arguments, expected):
    assert short_names.with_agent(arguments) == [*arguments, *expected]


def test_an_agent_without_its_prefix_is_told():
    with pytest.raises(UnknownNameError, match="mean 'q2:grounded_rerank'"):
        run(['display_model', '-t', 'integration_tests', '-m', 'grounded_rerank'])
