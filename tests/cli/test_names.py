"""
A name of ParlAI's that does not exist is one line with the nearest, before ParlAI is
loaded; one that does is let through.
"""

import pytest
from parlai.tasks.task_list import task_list

from parlai_q2.cli import names
from parlai_q2.cli.names import check_names
from parlai_q2.errors import UnknownNameError

SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
RERANK = 'parlai_q2.agents.grounded_rerank.grounded_rerank'


@pytest.mark.parametrize(
    'words, nearest',
    [
        ('-t integration_testz', 'integration_tests'),
        ('--task=babbi', 'babi'),
        ('-t babi,squat', 'squad'),
        ('-t integration_tests:nocandidat', 'NocandidateTeacher'),
        ('-et integration_tests:NocandidatTeacher', 'NocandidateTeacher'),
        ('-t parlai_q2.tasks.grounded_sampel.agents', 'grounded_sample'),
        (f'-t {SAMPLE}:AnotatedTeacher', 'AnnotatedTeacher'),
        ('-m repeat_labl', 'repeat_label'),
        ('--model transformer/generatr', 'transformer/generator'),
        (f'-m {RERANK}:GroundedRerangAgent', 'GroundedRerankAgent'),
        ('--mutators q2_fliter', 'q2_filter'),
        ('--mutators flatten+word_revers', 'word_reverse'),
    ],
)
def test_a_mistyped_name_is_refused_with_the_nearest(words, nearest):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'") as error:
        check_names(words.split())
    assert '\n' not in str(error.value) and len(str(error.value)) < 500


def test_a_module_that_is_not_there_is_refused():
    with pytest.raises(UnknownNameError, match='no module'):
        check_names(['-m', 'modul_nowhere:Agent'])


@pytest.mark.parametrize(
    'words',
    [
        '-t integration_tests',
        '-t integration_tests:nocandidate:word=1 -m repeat_label',
        '-t SQuAD,#QA,babi:task10k:1 -m transformer/generator',
        '-t internal:mine -m internal:mine',
        '-m projects:wizard:agent',
        f'-t {SAMPLE}:AnnotatedTeacher:dodeca -m {RERANK}:GroundedRerankAgent',
        '--mutators flatten,q2_filter+word_reverse',
        '-m test_agents/unigram --task',
        '-t fromfile -m bart',
    ],
)
def test_a_name_that_there_is_is_let_through(words):
    check_names(words.split())


def test_every_task_of_parlais_list_is_known():
    for entry in task_list:
        names.check_task(entry['id'])
        for task in entry['task'].split(','):
            names.check_task(task)


def test_every_agent_that_is_suggested_is_let_through():
    assert len(names.agents()) > 20
    for agent in names.agents():
        names.check_agent(agent)
