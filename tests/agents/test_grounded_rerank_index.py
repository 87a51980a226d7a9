"""Replies from an index of documents: its passages, its sources, and to the point."""

from dataclasses import replace

import pytest
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser

from parlai_q2.agents.grounded_rerank.answering import (
    DOCUMENT,
    add_ready_reply,
    prefer_answer,
)
from parlai_q2.agents.grounded_rerank.chat import ChatCommand, answer_command
from parlai_q2.agents.grounded_rerank.knowledge_source import (
    AgentKnowledge,
    KnowledgeSource,
)
from parlai_q2.claims import Label, Score
from parlai_q2.cli import knowledge_options
from parlai_q2.cli.knowledge_options import (
    grounder_from_opt,
    searching_source,
    source_from_opt,
)
from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.choice import Reason, Rule
from parlai_q2.retrieve.build import build
from parlai_q2.turns import Passage, Source
from tests.agents.rerank_toys import AGENT

FAQ = """# Shop

## Breakfast

Breakfast is served daily and costs 14 euros. Children eat free.

## Parking

Parking costs 9 euros a \x1b[31mnight.
"""
GOLD = {'text': 'How much is breakfast?'}
GOLD |= {'checked_sentence': 'Gold.', 'knowledge': 'G.'}


@pytest.fixture(scope='module')
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp('faq')
    (folder / 'faq.md').write_text(FAQ)
    build([str(folder / 'faq.md')], folder / 'index')
    return grounder_from_opt({'knowledge_index': str(folder / 'index')})


@pytest.fixture
def knowledge(index):
    return AgentKnowledge(KnowledgeSource(grounder=index))


def test_answering_passages_replace_the_tasks_knowledge(knowledge):
    turn_knowledge = knowledge.find(GOLD)
    assert [p.source.heading for p in turn_knowledge.passages] == ['Shop > Breakfast']
    message = knowledge.attach(GOLD, turn_knowledge)
    # The generator is shown the sentence, the scorer the passage.
    assert message['knowledge'] == 'Breakfast is served daily and costs 14 euros.'
    assert 'checked_sentence' not in message


def test_task_knowledge_is_dropped_if_no_passage_is_found(knowledge):
    turn_knowledge = knowledge.find({**GOLD, 'text': 'Is there a gym?'})
    assert turn_knowledge.declined
    assert not turn_knowledge.question
    message = knowledge.attach(GOLD, TurnKnowledge((), declined=True))
    assert 'knowledge' not in message
    assert 'checked_sentence' not in message


QUOTE = 'It costs 14 euros.'


def ranking(*candidates, relevance=0.9, label=Label.CONSISTENT, **fields):
    score = Score(0.9, label)
    read = tuple(replace(c, score=score, relevance=relevance) for c in candidates)
    return Ranking(read, Reason.BEST, passages=(Passage(QUOTE),), **fields)


# A generator's candidate without a text.
NO_TEXT = Candidate('', source='')


def asked(question):
    return TurnKnowledge(
        (), question=question, sentences=(QUOTE,), answers=('14 euros',), quote=QUOTE
    )


@pytest.mark.parametrize(
    'question, reply, relevance, leads',
    [
        ('How much is breakfast?', 'It costs 14 euros a day.', 0.9, True),
        ('How much is breakfast?', '14 euros.', 0.9, True),
        # True, and no answer.
        ('How much is breakfast?', 'It is served daily.', 0.1, False),
        ('How much is breakfast?', 'It is served daily.', None, False),
        ('How much is breakfast?', "I don 't know. It costs 14 euros.", 0.9, False),
        ('How much is breakfast?', 'It costs 14 euros, I think.', 0.9, False),
        ('How much is breakfast?', 'I agree. It costs 14 euros.', 0.9, False),
        ('How much is breakfast?', 'It costs 14 euros. Do you eat it?', 0.9, False),
        ('How much is breakfast?', 'It costs 14 euros euros a day.', 0.9, False),
        # Whether yes or no is right is harder to tell.
        ('Is breakfast free?', 'Yes, it costs 14 euros.', 0.9, False),
    ],
)
def test_quotes_the_document_if_no_candidate_surely_answers(
    question, reply, relevance, leads
):
    turn_knowledge = asked(question)
    generated = [Candidate(reply, ('beam',), source='record')]
    pool = add_ready_reply(generated, turn_knowledge, NO_TEXT)
    assert [one.text for one in pool] == [reply, QUOTE]
    after = prefer_answer(ranking(*pool, relevance=relevance), turn_knowledge, Rule())
    expected = (reply, Reason.ANSWERS) if leads else (QUOTE, Reason.DOCUMENT)
    assert (after.chosen.text, after.reason) == expected
    # The generator has no record of what a document says, and no likelihood.
    assert leads or (after.chosen.source, after.chosen.mean_logprob) == ('', None)


def test_a_misspelt_answer_gives_way_to_the_document():
    reply = Candidate('It costs 14 euors.', ('beam',), guards=('misspelt',))
    pool = add_ready_reply([reply], asked('How much is breakfast?'), NO_TEXT)
    found = ranking(*pool, relevance=0.9)
    after = prefer_answer(found, asked('How much is breakfast?'), Rule())
    assert after.chosen.text == QUOTE


def test_small_talk_gets_a_polite_reply_in_place_of_a_quotation(knowledge):
    turn_knowledge = knowledge.find(
        {'text': 'Thanks a lot!'}, ['How much is breakfast?', '14.']
    )
    assert not turn_knowledge.passages
    assert not turn_knowledge.declined
    # No generator was asked.
    pool = add_ready_reply([Candidate('', source='record')], turn_knowledge, NO_TEXT)
    withheld = Ranking(tuple(pool), 'first', abstain=True)
    after = prefer_answer(withheld, turn_knowledge, Rule(abstain_below=0.5))
    assert (after.chosen.text, after.reason) == ("You're welcome!", Reason.COURTESY)
    assert not after.abstain


@pytest.mark.parametrize('least, is_withheld', [(0.5, False), (0.95, True)])
def test_a_quotation_is_withheld_only_if_its_score_is_too_low(least, is_withheld):
    question = 'How much is it?'
    # The generator says it as well.
    pool = Candidate('Breakfast is served.'), Candidate(QUOTE, ('beam:3', DOCUMENT))
    withheld = ranking(*pool, relevance=0.1, turn=question, abstain=True)
    after = prefer_answer(withheld, asked(question), Rule(abstain_below=least))
    assert after.chosen.text == QUOTE
    assert after.abstain == is_withheld
    assert after.reason == (Reason.ABSTAINED if is_withheld else Reason.DOCUMENT)


@pytest.mark.parametrize(
    'turn, reply, label, relevance, leads',
    [
        ('I hate this!', 'A card costs 5 euros.', Label.CONSISTENT, 0.86, True),
        ('I hate this!', 'A card costs 5 euros.', Label.CONSISTENT, 0.26, False),
        ('I hate this!', 'A card costs 5 euros.', Label.INCONSISTENT, 0.9, False),
        ('I hate this!', 'I am sorry to hear that.', Label.GENERIC, 0.26, True),
        ('I hate this!', "I don't know if it is a card.", Label.GENERIC, 0.9, False),
        # Who only greets wants no facts.
        ('Thanks!', 'A card costs 5 euros.', Label.CONSISTENT, 0.9, False),
        ('Thanks!', 'Any time.', Label.GENERIC, 0.9, True),
    ],
)
def test_a_reply_that_fits_is_said_in_place_of_a_courtesy(
    turn, reply, label, relevance, leads
):
    turn_knowledge = TurnKnowledge((Passage(QUOTE),), courtesy='Ask me.')
    pool = add_ready_reply([Candidate(reply)], turn_knowledge, NO_TEXT)
    ranked = ranking(*pool, relevance=relevance, label=label, turn=turn)
    after = prefer_answer(ranked, turn_knowledge, Rule())
    expected = (reply, Reason.BEST) if leads else ('Ask me.', Reason.COURTESY)
    assert (after.chosen.text, after.reason) == expected


def test_a_document_is_quoted_around_its_answer(knowledge):
    turn_knowledge = knowledge.find({'text': 'Do children pay for breakfast?'})
    assert turn_knowledge.quote == (
        'Breakfast is served daily and costs 14 euros. Children eat free.'
    )


def test_a_question_that_nothing_answers_is_declined():
    declined = TurnKnowledge((), declined=True)
    after = prefer_answer(ranking(Candidate(QUOTE)), declined, Rule())
    assert after.abstain
    assert after.reason == Reason.DECLINED


def test_documents_are_searched_in_the_chat(knowledge):
    answer = answer_command(ChatCommand('search', 'parking'), knowledge, None)
    assert 'faq.md, Shop > Parking (line 9)' in answer
    assert '9 euros' in answer
    assert '\x1b' not in answer
    without = AgentKnowledge(KnowledgeSource())
    assert 'give --knowledge-index' in answer_command(
        ChatCommand('search', 'x'), without, None
    )
    assert 'what to look for' in answer_command(
        ChatCommand('search', ''), knowledge, None
    )


SHORT = """How long is the warranty?
Every pump has a warranty of two years.

Can I return a pump?
Unused pumps can be returned within 30 days.
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'faq.txt'
    path.write_text(SHORT)
    return str(path)


def of_file(file, **options):
    return AgentKnowledge(searching_source({'knowledge_file': file, **options}))


def test_a_file_of_several_passages_is_searched(file):
    knowledge = of_file(file)
    turn_knowledge = knowledge.find({'text': 'How long is the warranty?'})
    assert turn_knowledge.answers == ('two years',)
    assert [p.source for p in turn_knowledge.passages] == [
        Source('faq.txt', '', 'lines 1-2')
    ]
    # Small talk needs nothing of it.
    assert not knowledge.find({'text': 'Thanks!'}).passages
    assert knowledge.find({'text': 'Do you ship to Canada?'}).declined
    assert 'faq.txt (lines 4-5)' in answer_command(
        ChatCommand('search', 'return'), knowledge, None
    )


def test_the_answer_in_a_small_file_need_not_have_the_words_of_the_question(file):
    turn_knowledge = of_file(file).find({'text': 'Who gets money back?'})
    assert turn_knowledge.declined
    turn_knowledge = of_file(file).find(
        {'text': 'For how many days may I bring it back?'}
    )
    assert turn_knowledge.passages[0].text.endswith('30 days.')


def test_message_and_typed_knowledge_precede_the_file(file):
    knowledge = of_file(file)
    assert knowledge.find(GOLD).text == 'Gold.'
    knowledge.typed = (Passage('Typed.'),)
    assert knowledge.find({'text': 'How long?'}).text == 'Typed.'


def test_a_file_of_one_passage_is_given_whole(tmp_path):
    path = tmp_path / 'one.txt'
    path.write_text('Bees have\nfive eyes. ')
    knowledge = of_file(str(path))
    assert knowledge.find({'text': 'How many?'}) == TurnKnowledge(
        (Passage('Bees have\nfive eyes.'),)
    )
    assert 'several passages' in answer_command(
        ChatCommand('search', 'x'), knowledge, None
    )


def test_measuring_uses_the_whole_knowledge_file(file):
    source = source_from_opt({'knowledge_file': file})
    assert source.of_episode([{'text': 'Hi.'}]) == [(Passage(SHORT.strip()),)]


def test_found_passages_are_put_before_the_text_but_not_into_queries(file):
    knowledge = of_file(file, knowledge_delimiter='\\n')
    asked = {'text': 'How long is the warranty?'}
    message = knowledge.attach(asked, knowledge.find(asked))
    assert message['text'] == (
        'Every pump has a warranty of two years.\nHow long is the warranty?'
    )
    turn_knowledge = knowledge.find({'text': 'Nice.'}, ['Unused pumps.\nThanks!'])
    assert turn_knowledge.searched
    assert not turn_knowledge.passages


def test_a_large_file_is_to_be_indexed(file, monkeypatch):
    monkeypatch.setattr(knowledge_options, 'MOST_OF_FILE', 1)
    with pytest.raises(ConfigError, match=r'2 passages.*parlai_q2 index'):
        of_file(file)


def test_knowledge_files_other_than_text_must_be_indexed(tmp_path):
    path = tmp_path / 'a.pdf'
    path.write_bytes(b'%PDF-\xff\xfe')
    with pytest.raises(ConfigError, match='parlai_q2 index'):
        source_from_opt({'knowledge_file': str(path)})


def test_generates_nothing_if_the_reply_is_known(index, monkeypatch):
    arguments = ['-m', AGENT, '--knowledge-index', str(index.retriever.folder)]
    chat = create_agent(ParlaiParser(True, True).parse_args(arguments))
    monkeypatch.setattr(chat, 'candidate_pools', None)
    replies = []
    # None of the words of the second is in the documents.
    for message in ('Thanks!', 'Wie lange?'):
        chat.observe({'text': message, 'episode_done': False})
        replies.append(chat.act()['text'])
    assert replies == ["You're welcome!", "I'm not sure about that."]
