"""What a turn's reply should rest on, read by the shipped question answerer."""

import json
from pathlib import Path

import pytest

from parlai_q2.retrieve.answers import Answer, AnswerReader, asks
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.grounding import Grounder
from parlai_q2.retrieve.index import Index
from parlai_q2.retrieve.readers.block import cell_at
from parlai_q2.turns import Passage, Span

FAQS = Path(__file__).parent / 'faqs'
QUESTIONS = [json.loads(line) for line in open(FAQS / 'questions.jsonl')]
NAMES = ('pumps', 'hotel', 'library')


@pytest.fixture(scope='module')
def grounders(tmp_path_factory):
    reader, folder = AnswerReader(), tmp_path_factory.mktemp('faqs')
    for name in NAMES:
        build([str(FAQS / f'{name}.md')], folder / name)
    return {name: Grounder(Index(folder / name), reader) for name in NAMES}


def ground(grounders, name, *history):
    return grounders[name].ground([history])[0]


def test_the_passage_that_answers_is_kept_alone(grounders):
    found = ground(grounders, 'pumps', 'Hi!', 'Can I return a used pump?')
    (passage,) = found.passages
    assert passage.source.heading.endswith('Can I return a pump?')
    assert not found.declined


class Sure:
    """Finds passages of a year each, and reads the year as surely as it is told."""

    def __init__(self, *margins):
        self.margins = margins

    def search(self, queries, k):
        found = [Passage(f'In 199{n}.') for n in range(len(self.margins))]
        return [[Found(p, 1.0, n) for n, p in enumerate(found)] for _ in queries]

    def answers(self, pairs):
        years = [Span(p.text[3:7], 3, 7) for _, p in pairs]
        return [*map(Answer, years, self.margins)]


@pytest.mark.parametrize(
    'margins, kept',
    [
        ((9.0, 9.0), ['1990']),  # each rank costs 5, and 4 less is no answer
        ((9.0, 10.5), ['1990', '1991']),
        ((9.0, 15.0), ['1991', '1990']),
        ((9.0, 19.0), ['1991']),
    ],
)
def test_the_surest_answers_are_kept_those_found_first_before(margins, kept):
    sure = Sure(*margins)
    (found,) = Grounder(sure, sure).ground([['When was it?']])
    assert list(found.answers) == kept


def test_of_how_something_is_done_the_best_passage_stays_and_speaks(grounders):
    found = ground(grounders, 'hotel', 'How do I get from the station to the hotel?')
    assert found.passages[0].source.heading.endswith('Getting here')
    # No span says it.
    assert found.answers == () and found.sentences == (found.quote,)
    assert found.quote.startswith('The bus number 7')
    assert ground(grounders, 'hotel', 'How do I get a visa for Japan?').declined


def test_what_is_called_as_it_is_asked_for_is_not_declined(tmp_path):
    folder = tmp_path / 'manual'
    folder.mkdir()
    (folder / 'add_a_preset.md').write_text('# Presets\n\nYAML has keys.\n')
    (folder / 'more.md').write_text('# Keys\n\nDo add keys to YAML.\n')
    build([str(folder)], tmp_path / 'I')
    grounder = Grounder(Index(tmp_path / 'I'), AnswerReader())
    (found,) = grounder.ground([['How do I add a preset?']])
    assert (found.passages[0].text, found.quote) == ('YAML has keys.',) * 2
    (other,) = grounder.ground([['How do I add a scorer?']])
    assert other.declined


TABLES = {
    'faq.csv': 'question;answer;topic\nCan I rent a pump?;Yes, for 280 euros.;money\n'
    'Who gives advice?;Our tea master Ingrid Holm, by phone.;people\n',
    'marks.md': '| mark | line |\n|---|---|\n| red cross | a wavy line |\n'
    '| green tick | a straight line |\n',
}


@pytest.mark.parametrize(
    'name, question, quote',
    [
        ('faq.csv', 'Can I rent a pump?', 'Yes, for 280 euros.'),
        ('faq.csv', 'Who gives advice?', 'Our tea master Ingrid Holm, by phone.'),
        ('marks.md', 'Which line has a red cross?', 'a wavy line'),
    ],
)
def test_of_a_table_the_cell_is_said(tmp_path, name, question, quote):
    (tmp_path / name).write_text(TABLES[name])
    build([str(tmp_path / name)], tmp_path / 'I')
    (found,) = Grounder(Index(tmp_path / 'I'), AnswerReader()).ground([[question]])
    assert found.quote == quote and found.sentences[0] == quote
    # What is searched, and shown as evidence, still has the column's name.
    assert any(f'{column}: ' in found.passages[0].text for column in ('topic', 'line'))


def test_of_a_way_in_a_table_the_longest_cell_is_said():
    row = 'question: How do I open it? | answer: Press both ends, then turn. | n: 3'
    assert cell_at(row, None).text == 'Press both ends, then turn.'
    assert cell_at(row, 12).text == 'Press both ends, then turn.'
    assert cell_at('ls | grep x', 8) is None


def test_what_no_document_answers_is_declined(grounders):
    assert ground(grounders, 'pumps', 'Do you ship to Canada?').declined
    assert ground(grounders, 'pumps', 'What is your phone number?').declined


def test_small_talk_is_not_declined(grounders):
    for said in ('Thanks!', 'Hello.', 'I see. That helps a lot'):
        assert not ground(grounders, 'pumps', said).declined
    assert ground(grounders, 'pumps').passages == ()


def test_a_batch_is_grounded_as_one_by_one(grounders):
    said = [[q['question']] for q in QUESTIONS if q['documents'] == 'hotel'] + [['Hi']]
    together = grounders['hotel'].ground(said)
    assert together == [grounders['hotel'].ground([one])[0] for one in said]


def test_of_the_questions_most_find_their_passage_and_the_others_are_declined(
    grounders,
):
    right, declined = [], {True: [], False: []}
    for one in QUESTIONS:
        if one['documents'] not in NAMES:
            continue
        found = ground(grounders, one['documents'], one['question'])
        declined[bool(one['answers'])].append(found.declined)
        if one['answers']:
            first = found.passages[0].source.heading if found.passages else ''
            right.append(first.endswith(one['heading']))
    assert len(right) == 30 and sum(right) / 30 >= 0.9
    assert sum(declined[True]) / 30 <= 0.1
    assert sum(declined[False]) / 15 >= 0.7


@pytest.mark.parametrize(
    'said, is_one',
    [
        ('how long does it take', True),
        ('Nice. Does it hum', True),
        ('Tell me about pumps.', False),
        ('', False),
    ],
)
def test_questions_are_told_from_statements(said, is_one):
    assert asks(said) == is_one
