"""BEGIN-Adversarial by generation."""

import pytest

from parlai_q2.errors import InputError, UnknownNameError
from parlai_q2.tasks.begin.begin_adversarial import (
    CHANGES,
    KINDS,
    Answered,
    GeneratedExamples,
    is_kept,
    read_answered,
    run,
)
from tests.files import read_lines, write_lines

CURIE = 'Marie Curie was born in Warsaw, and she is often called the first.'
TURNS = [
    Answered(CURIE, 'She was born in Warsaw.', ('Who was she?',), 'curie'),
    Answered('Garry Kasparov lives in Zagreb.', 'I like him!', ('Chess?',), 'chess'),
    Answered('The big dog sleeps.', 'The dog sleeps.', ('My dog barks.',), 'dog'),
    Answered('Dogs were wolves.', 'They were wolves once.', ('A dog!',), 'dog'),
]
MODEL = 'tests.tasks.models:KnowledgeAgent'


class Copies:
    """Says its knowledge."""

    def replies(self, turns):
        return [turn.knowledge_text or 'hm .' for turn in turns]


def made(*kinds, **options):
    maker = GeneratedExamples(TURNS, Copies(), Copies(), **options)
    return list(maker.make(kinds))


def test_each_kind_has_its_class():
    records = made(*KINDS)
    assert {record.kind for record in records} == set(KINDS)
    classes = {record.kind: record.label for record in records}
    assert (classes.pop('human'), classes.pop('generic')) == ('consistent', 'generic')
    assert set(classes.values()) == {'inconsistent'}


def test_a_persons_reply_is_kept_if_it_shares_words_and_is_not_about_him():
    responses = [record.response for record in made('human')]
    assert responses == [TURNS[n].reply for n in (0, 2, 3)]
    assert is_kept('b c d e', 'b x y z')
    assert not is_kept('b c d e', 'b w x y z')
    personal = ('my dog', 'we saw dogs', "I'm a dog", 'dogs like me', 'ours is a dog')
    for response in personal:
        assert not is_kept('dogs dog saw like is', response)
    assert is_kept('is mined in the US', 'it is mined in the usa')


@pytest.mark.parametrize('kind', CHANGES)
def test_a_reply_to_changed_knowledge_is_judged_by_the_knowledge_as_it_was(kind):
    records = made(kind)
    knowledge = {turn.knowledge for turn in TURNS}
    assert records
    for record in records:
        assert record.knowledge in knowledge
        assert record.response == record.knowledge.replace(
            record.before, record.after, 1
        )


def test_a_reply_without_the_change_can_be_left_out():
    class Fixed(Copies):
        def replies(self, turns):
            return [CURIE for _ in turns]

    for arrived, kinds in ((False, ['antonym']), (True, [])):
        maker = GeneratedExamples(TURNS, Fixed(), arrived=arrived)
        assert [record.kind for record in maker.make(['antonym'])] == kinds
    assert made('antonym', arrived=True)


def test_off_topic_replies_are_of_other_conversations_on_the_topic():
    replies = {record.knowledge: record.response for record in made('off_topic')}
    dogs, wolves = TURNS[2:]
    assert replies == {dogs.knowledge: wolves.reply, wolves.knowledge: dogs.reply}


def test_a_kind_that_there_is_not_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'antonym'"):
        made('antonymy')


def test_the_command_asks_any_agent_by_name(tmp_path):
    lines = [
        {
            'knowledge': turn.knowledge,
            'response': turn.reply,
            'history': list(turn.history),
            'topic': turn.topic.capitalize(),
        }
        for turn in TURNS
    ]
    infile = write_lines(tmp_path / 'turns.jsonl', *lines)
    assert read_answered(infile) == TURNS
    results = []
    for batch in ('1', '3'):
        outfile = tmp_path / f'made{batch}.jsonl'
        options = ['--infile', str(infile), '--outfile', str(outfile), '-m', MODEL]
        counts = run([*options, '-bs', batch])
        results.append(read_lines(outfile))
    assert results[0] == results[1]
    expected = [record._asdict() for record in made(*KINDS)]
    assert results[0] == expected
    assert sum(counts.values()) == len(expected)


def test_a_file_without_a_turn_is_refused(tmp_path):
    path = write_lines(tmp_path / 'x.jsonl', {'knowledge': '', 'response': 'Yes.'})
    with pytest.raises(InputError, match='no record with knowledge'):
        read_answered(path)
