"""Where the knowledge of a turn is found, and what the generator is given of it."""

from types import SimpleNamespace

import pytest
from parlai.tasks.wizard_of_internet import agents as wizint
from parlai.tasks.wizard_of_internet import constants

from parlai_q2.agents.grounded_rerank.knowledge_source import (
    AgentKnowledge,
    KnowledgeSource,
    TurnKnowledge,
)
from parlai_q2.agents.grounded_rerank.parlai_search import ParlaiSearchMixin
from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import passages_in
from parlai_q2.turns import Passage


@pytest.fixture
def passage(tmp_path):
    path = tmp_path / 'passage.txt'
    path.write_text('From the file.\n', encoding='utf-8')
    return str(path)


IN_TEXT = {'text': 'P.|hi'}
IN_FIELD = {**IN_TEXT, 'knowledge': 'K.'}
CHECKED = {**IN_FIELD, 'checked_sentence': 'C.'}


@pytest.mark.parametrize(
    'message, typed, found, fields',
    [
        # The sentence that the wizard checked, then all that was shown.
        (CHECKED, 'T.', 'C.', {'in_fields': True}),
        (IN_FIELD, 'T.', 'K.', {'in_fields': True}),
        (IN_TEXT, 'T.', 'P.', {'in_text': True}),
        # What was typed is in place of the file, which has a reply to small talk.
        ({'text': 'When?'}, 'T.', 'T.', {}),
        ({'text': 'thanks'}, None, 'From the file.', {'courtesy': "You're welcome!"}),
    ],
)
def test_the_order_in_which_knowledge_is_looked_for(
    message, typed, found, fields, passage
):
    knowledge = AgentKnowledge(KnowledgeSource('|', passage))
    knowledge.typed = passages_in(typed)
    assert knowledge.find(message) == TurnKnowledge(passages_in(found), **fields)


def test_a_passage_in_the_text_holds_until_the_episode_ends():
    knowledge = AgentKnowledge(KnowledgeSource('\\n'))
    assert knowledge.find({'text': 'The passage.\nWho?'}).text == 'The passage.'
    assert knowledge.find({'text': 'And when?'}).text == 'The passage.'
    knowledge.end_episode()
    assert not knowledge.find({'text': 'And why?'}).passages


def test_typed_knowledge_lasts_until_the_conversation_ends():
    knowledge = AgentKnowledge(KnowledgeSource('|'))
    knowledge.typed = passages_in('T.')
    knowledge.end_episode()
    assert knowledge.find({'text': 'hi'}).text == 'T.'
    assert knowledge.find({'text': 'P.|hi'}).text == 'P.'
    knowledge.reset()
    assert not knowledge.find({'text': 'hi'}).passages


def test_the_generator_is_given_typed_knowledge_as_a_field():
    knowledge = AgentKnowledge(KnowledgeSource())
    knowledge.typed = passages_in('T.')
    message = {'text': 'hi'}
    attached = knowledge.attach(message, knowledge.find(message))
    assert attached == {'text': 'hi', 'knowledge': 'T.'}
    assert message == {'text': 'hi'}


def test_new_knowledge_is_inserted_into_delimited_texts_once():
    knowledge = AgentKnowledge(KnowledgeSource('\\n'))
    texts = []
    for typed, text in [('T.', 'one'), ('T.', 'two'), ('U.', 'three')]:
        knowledge.typed = passages_in(typed)
        message = {'text': text}
        texts.append(knowledge.attach(message, knowledge.find(message))['text'])
    assert texts == ['T.\none', 'two', 'U.\nthree']
    knowledge.typed = passages_in('V.')
    # Where there is no text, none is made up.
    assert knowledge.attach({}, knowledge.find({})) == {'knowledge': 'V.'}


def wizard(*documents, selected=()):
    """What ParlAI makes of a wizard's turn in Wizard of the Internet's own file."""
    contents = [
        {'title': title, 'url': 'http://x', 'content': lines}
        for title, lines in documents
    ]
    chosen = [[line in selected for line in lines] for _, lines in documents]
    turn = {
        constants.ACTION: constants.ACTION_WIZARD_TO_APPRENTICE,
        constants.MESSAGE_TEXT: 'hi',
        constants.CONTEXT: {
            constants.CONTENTS: contents,
            constants.SELECTED_CONTENTS: [[not selected], *chosen],
        },
    }
    return wizint.parse_wizard_message(turn, doc_lines_delim='\n')


def test_retrieved_documents_are_knowledge_with_titles():
    documents = [('Tea', ['Tea is hot.', 'It is old.']), ('Cha', ['A dance.'])]
    knowledge = AgentKnowledge(KnowledgeSource())
    turn_knowledge = knowledge.find(wizard(*documents))
    assert turn_knowledge == TurnKnowledge(
        (Passage('Tea is hot.\nIt is old.', 'Tea'), Passage('A dance.', 'Cha')), True
    )
    # Like the sentence that a wizard of Wikipedia checked.
    turn_knowledge = knowledge.find(wizard(*documents, selected=['It is old.']))
    assert turn_knowledge.passages == (Passage('It is old.'),)
    assert not knowledge.find(wizard()).passages
    # What else the task says goes before it.
    with_own_knowledge = {**wizard(*documents), 'knowledge': 'Milk is white.'}
    assert knowledge.find(with_own_knowledge).passages == (Passage('Milk is white.'),)


def test_documents_are_passages_and_there_are_none_before_a_retrieval():
    retriever = SimpleNamespace()
    agent = SimpleNamespace(_model=SimpleNamespace(retriever=retriever))
    assert ParlaiSearchMixin.retrieved_knowledge(agent, 2) == [(), ()]
    retriever.top_docs = [['Tea | It is hot.', ' | '], [' | ']]
    found = ParlaiSearchMixin.retrieved_knowledge(agent, 2)
    assert found == [(Passage('It is hot.', 'Tea'),), ()]


def test_a_knowledge_file_that_cannot_be_read_says_so(tmp_path):
    (tmp_path / 'empty.txt').write_text(' \n', encoding='utf-8')
    for name, says in (('empty.txt', 'is empty'), ('none.txt', 'Cannot read')):
        with pytest.raises(ConfigError, match=says):
            KnowledgeSource(file=str(tmp_path / name))
