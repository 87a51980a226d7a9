"""The commands of a chat."""

import pytest

from parlai_q2.agents.grounded_rerank.chat import (
    ChatCommand,
    answer_command,
    parse_command,
)
from parlai_q2.agents.grounded_rerank.knowledge_source import (
    EpisodeKnowledge,
    KnowledgeSource,
)
from parlai_q2.rerank import Reranker
from parlai_q2.turns import Passage
from tests.rerank.toys import ToyScorer


@pytest.fixture
def knowledge():
    return EpisodeKnowledge(KnowledgeSource())


@pytest.fixture
def say(knowledge):
    """Gives the answer to a text that is a command."""

    def answer(text, last_reply=None, **options):
        return answer_command(parse_command(text), knowledge, last_reply, **options)

    return answer


def said(text=None, turn='red blue', candidates=('green', 'red')):
    ranking = Reranker(ToyScorer()).rank(turn, candidates)
    return {
        'text': ranking.chosen.text if text is None else text,
        'rerank': ranking.rows(),
        'rerank_knowledge': ranking.knowledge,
    }


@pytest.mark.parametrize(
    'text, command',
    [
        ('/help', ChatCommand('help', '')),
        (
            ' /Knowledge  The sky\nis blue. ',
            ChatCommand('knowledge', 'The sky\nis blue.'),
        ),
        ('/why', ChatCommand('why', '')),
        ('/nonsense', ChatCommand('nonsense', '')),
        ('/r/aww is nice', None),
        ('and/or', None),
        ('1/2', None),
        ('/', None),
        ('', ChatCommand('no text', '')),
        (' \n', ChatCommand('no text', '')),
        (None, None),
    ],
)
def test_parses_chat_commands(text, command):
    assert parse_command(text) == command


def test_commands_that_need_no_reply_are_answered(say):
    assert say('/why') == say('/candidates') == 'Nothing has been said yet.'
    assert '/candidates' in say('/help')
    assert 'Type /help.' in say('/nonsense')
    assert say('').startswith('Type a message')


def test_knowledge_is_set_shown_and_forgotten(knowledge, say):
    assert say('/knowledge') == 'No knowledge was typed.'
    assert say('/knowledge Tea is hot.') == 'Replies will stick to this: Tea is hot.'
    assert knowledge.typed == (Passage('Tea is hot.'),)
    assert say('/knowledge') == 'Knowledge: Tea is hot.'
    assert say('/knowledge clear') == 'The typed knowledge is forgotten.'
    assert knowledge.typed == ()


def test_further_passages_are_added(knowledge, say):
    say('/knowledge Tea is hot.')
    added = say('/knowledge add Milk __knowledge__ It is white.')
    assert added == 'Replies will stick to this too: Milk: It is white.'
    assert knowledge.typed == (Passage('Tea is hot.'), Passage('It is white.', 'Milk'))
    assert say('/knowledge') == 'Knowledge: Tea is hot.\n\nMilk: It is white.'
    assert say('/knowledge add') == 'Type /knowledge add and a passage.'
    # Not the word alone.
    say('/knowledge Addition is commutative.')
    assert knowledge.typed == (Passage('Addition is commutative.'),)


def test_knowledge_that_stands_in_for_a_file_says_so(tmp_path, knowledge, say):
    path = tmp_path / 'k.txt'
    path.write_text('From the file.', encoding='utf-8')
    knowledge.source = KnowledgeSource(file=str(path))
    assert 'instead of the knowledge file' in say('/knowledge T.')


def test_why_shows_the_evidence_for_what_was_said(say):
    text = say('/why', said())
    assert text.startswith('Chosen for: best score.\n')
    assert '1.00' in text
    assert 'red blue' in text
    assert '\x1b[' not in text
    assert '\x1b[' in say('/why', said(), colour=True)
    assert 'CHOSEN' in say('/candidates', said())


def test_why_says_when_the_agent_abstained_or_a_guard_was_at_work(say):
    # There is no score: that of the withheld candidate is not the reply's.
    assert say('/why', said(text='No idea.')) == (
        'Said instead: No idea.\nThe best candidate was withheld: /candidates'
    )
    assert 'WITHHELD' in say('/candidates', said(text='No idea.'))
    generic = said(turn='it is so', candidates=['it is so'])
    assert 'Counted as 0.50: it is chit-chat that states nothing.' in say(
        '/why', generic
    )
    misspelt = said(turn='Fossati built it.', candidates=['Fossatti built it.'])
    assert 'a reply with a misspelt word of the knowledge' in say('/why', misspelt)
