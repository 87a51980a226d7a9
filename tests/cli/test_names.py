"""A name of ParlAI's, or of ours, that there is not is one line with the nearest."""

import pytest
from parlai.core.loader import load_agent_module, load_teacher_module
from parlai.core.mutators import Mutator

from parlai_q2.__main__ import run
from parlai_q2.cli.names import suggesting
from parlai_q2.errors import ConfigError, UnknownNameError

SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
RERANK = 'parlai_q2.agents.grounded_rerank.grounded_rerank'

TASK, AGENT = load_teacher_module, load_agent_module
MUTATORS = Mutator.load_mutator_types


@pytest.mark.parametrize(
    'load, name, nearest',
    [
        (TASK, 'integration_testz', 'integration_tests'),
        (TASK, 'babbi', 'babi'),
        (TASK, 'integration_tests:nocandidat', 'NocandidateTeacher'),
        (TASK, 'integration_tests:NocandidatTeacher', 'NocandidateTeacher'),
        (TASK, 'parlai_q2.tasks.grounded_sampel.agents', 'grounded_sample'),
        (TASK, f'{SAMPLE}:AnotatedTeacher', 'AnnotatedTeacher'),
        (AGENT, 'repeat_labl', 'repeat_label'),
        (AGENT, 'transformer/generatr', 'transformer/generator'),
        (AGENT, 'transformr/generator', 'transformer'),
        (AGENT, f'{RERANK}:GroundedRerangAgent', 'GroundedRerankAgent'),
        (MUTATORS, 'q2_fliter', 'q2_filter'),
        (MUTATORS, 'flatten+word_revers', 'word_reverse'),
    ],
)
def test_a_mistyped_name_is_refused_with_the_nearest(load, name, nearest):
    with pytest.raises(UnknownNameError) as error, suggesting([str(name)]):
        load(name)
    message = str(error.value)
    assert f"Did you mean '{nearest}'" in message
    assert '\n' not in message


@pytest.mark.parametrize(
    'words, nearest',
    [
        ('eval_model -m repeat_labl', 'repeat_label'),
        ('display_data -t integration_testz', 'integration_tests'),
        ('display_data -t integration_tests --mutators q2_fliter', 'q2_filter'),
        ('filter -t babbi --outfile o --measure precision', 'babi'),
    ],
)
def test_a_command_tells_the_nearest(words, nearest):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}"):
        run(words.split())


@pytest.mark.parametrize('command', ['filter', 'distill', 'conditions'])
def test_a_missing_outfile_is_named_before_data_are_loaded(command):
    with pytest.raises(ConfigError, match='--outfile is missing'):
        run([command, '-t', 'integration_tests'])


def test_a_module_that_is_not_there_is_refused():
    name = 'modul_nowhere:Agent'
    with pytest.raises(UnknownNameError, match='no module'), suggesting([name]):
        load_agent_module(name)


@pytest.mark.parametrize(
    'text, error',
    [
        ('import a_package_that_nobody_has', ModuleNotFoundError),
        ('from os import nothing_such', ImportError),
        ('import os\nos.nothing_such', AttributeError),
        ('{}["key"]', KeyError),
    ],
)
def test_an_error_inside_a_module_that_was_found_stays_as_it_is(
    text, error, tmp_path, monkeypatch
):
    (tmp_path / 'my_agent_module.py').write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    name = 'my_agent_module:Agent'
    with pytest.raises(error) as raised, suggesting([name]):
        load_agent_module(name)
    assert not isinstance(raised.value, UnknownNameError)


def test_a_misspelt_option_of_parlais_commands_is_answered_with_the_nearest():
    words = 'display_data -t q2:grounded_sample --num-example 3'.split()
    with pytest.raises(UnknownNameError, match="Did you mean '--num-examples'"):
        run(words)
    with pytest.raises(ConfigError, match="invalid int value: 'x'"):
        run([*words[:3], '-bs', 'x'])


@pytest.mark.parametrize('text, problem', [('', 'it is empty'), ('beam:0', "'beam:0'")])
def test_a_problem_with_candidate_strategies_names_the_option_once(text, problem):
    with pytest.raises(ConfigError) as error:
        run(['interactive', '--candidate-strategies', text])
    message = str(error.value)
    assert message.startswith(f'Argument --candidate-strategies: {problem}')
    assert message.count('--candidate-strategies') == 1
    assert '..' not in message
