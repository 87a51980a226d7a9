"""Five questions about this project, asked of its own documentation."""

import pytest

from parlai_q2.cli.knowledge_options import index_from_opt
from parlai_q2.retrieve.build import build
from tests.conftest import ROOT

QUESTIONS = {
    'How do I train on filtered data?': 'filter_and_train.md',
    'How do I add a scorer?': 'extend.md',
    'Which documents are read?': 'documents.md',
    'How many connections does the chat take?': 'report.md',
    'Which strategies find candidates?': 'agents/grounded_rerank.md',
}


@pytest.fixture(scope='module')
def docs(tmp_path_factory):
    index = tmp_path_factory.mktemp('own') / 'INDEX'
    build([str(ROOT / 'docs')], index)
    return index_from_opt({'knowledge_index': str(index)})


@pytest.mark.parametrize('question, file', QUESTIONS.items())
def test_the_page_that_answers_is_named(docs, question, file):
    (turn_knowledge,) = docs.ground([[question]])
    assert not turn_knowledge.declined
    assert turn_knowledge.quote
    # Other pages may say it, too: all that are kept are named with the reply.
    assert f'{ROOT / "docs"}/{file}' in [p.source.file for p in turn_knowledge.passages]


def test_what_the_pages_do_not_say_is_declined(docs):
    (turn_knowledge,) = docs.ground([['Who wrote Harry Potter?']])
    assert turn_knowledge.declined
