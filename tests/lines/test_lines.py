"""
The lines that runs write, and that earlier releases wrote: what comes back is what a
scorer found.
"""

import json
from pathlib import Path

import pytest

from parlai_q2.claims import Evidence, Kind, Label, Score, Stance
from parlai_q2.errors import InputError, RecordError
from parlai_q2.lines import (
    error_line,
    kind_of,
    ranking_line,
    read_line,
    read_logged_turn,
    score_line,
)
from parlai_q2.report.scored_file import read_scored_file
from parlai_q2.rerank import Reranker
from tests.files import read_lines
from tests.report.samples import scored
from tests.rerank.toys import ToyScorer

EARLIER = Path(__file__).parent / 'earlier'
BOTH = ('0.5', '0.6')
RECORD = {'id': 'a', 'knowledge': 'red blue', 'response': 'red', 'history': ['Hi.']}


def through_json(line):
    return json.loads(json.dumps(line, allow_nan=False))


def test_a_score_comes_back_from_its_line():
    score = Score.from_dict(scored())
    line = through_json(score_line(RECORD, score))
    assert kind_of(line) == line['kind'] == Kind.SCORE
    judged = read_line({**line, 'signature': score.signature})
    assert judged.score == score
    assert (judged.example.id, judged.example.history) == ('a', ('Hi.',))
    assert judged.ranking is None


def test_evidence_that_does_not_say_so_speaks_neither_for_nor_against():
    fields = {'passage': 0, 'text': 'red', 'span': [0, 3]}
    assert Evidence.from_dict(fields).stance == Stance.NEITHER


def test_a_ranking_comes_back_from_its_line():
    ranking = Reranker(ToyScorer()).rank('red blue', ['green', 'red'])
    fields = {'id': 'p', 'knowledge': ' red blue ', 'candidates': ['green', 'red']}
    line = through_json(ranking_line(fields, ranking, 'red', ranking.signature))
    assert kind_of(line) == Kind.RANKING
    judged = read_line(line)
    assert judged.score == ranking.chosen.score
    assert [one.text for one in judged.ranking.candidates] == ['red', 'green']
    # What was said instead of a candidate does not have its score.
    judged = read_line({**line, 'text': 'I am not sure.'})
    assert judged.score.label == Label.NOT_VERIFIABLE


@pytest.mark.parametrize('kind', [Kind.SCORE, Kind.RANKING])
def test_an_error_is_no_score(kind):
    problem = RecordError('in.jsonl', 3, 'is broken')
    line = error_line({'id': 'x', 'label': 'mine'}, 3, problem, kind)
    assert kind_of(line) == Kind.ERROR
    with pytest.raises(InputError, match='was not scored: in.jsonl, line 3: is broken'):
        read_line(line)


def test_a_turn_of_a_log_has_its_score_and_its_candidates():
    ranking = Reranker(ToyScorer()).rank('red blue', ['green', 'red'])
    score = Score.from_dict(scored())
    fields = {**RECORD, **ranking.to_dict(), 'q2_label': 'consistent'}
    both = read_logged_turn(through_json({**fields, 'q2_evidence': score.to_dict()}))
    assert (both.score, both.annotation) == (score, 'consistent')
    assert both.ranking == ranking
    assert read_logged_turn(through_json(fields)).score == ranking.chosen.score
    with pytest.raises(InputError, match='neither q2_evidence nor'):
        read_logged_turn(RECORD)


@pytest.mark.parametrize(
    'field, wrong', [('comparison', 'maybe'), ('status', 'perhaps'), ('stance', 3)]
)
def test_a_word_that_there_is_not_is_refused(field, wrong):
    line = through_json(Score.from_dict(scored()).to_dict())
    claim = next(one for one in line['claims'] if one['evidence'])
    (claim['evidence'][0] if field == 'stance' else claim)[field] = wrong
    with pytest.raises(InputError, match=f"'{field}' must be one of .* and is "):
        Score.from_dict(line)


def earlier(version, name):
    return [read_line(line) for line in read_lines(EARLIER / f'{version}.{name}.jsonl')]


@pytest.mark.parametrize('version', BOTH)
def test_questions_of_earlier_releases_are_read(version):
    wrong, right = earlier(version, 'q2')
    assert [c.question for c in wrong.score.claims] == [
        'Where was it founded?',
        'When was it founded?',
    ]
    where, when = wrong.score.claims
    assert (where.span.text, where.status, where.answer.stance) == (
        'Paris',
        'contradicted',
        'against',
    )
    assert (when.answer.span.text, when.answer.passage) == ('1969', 0)
    assert when.comparison == 'exact' and when.support == 1
    assert wrong.example.knowledge[0].title == 'Sephora'
    assert right.score.verifiable


@pytest.mark.parametrize('version', BOTH)
def test_sentences_of_earlier_releases_are_read_beside_questions(version):
    wrong, right = earlier(version, 'grounded')
    assert len(wrong.score.asked) == 2 and len(wrong.score.claims) == 3
    assert wrong.score.claims[-1].status == 'unsupported'
    generic, stated = right.score.claims[-2:]
    assert (generic.status, stated.status) == ('generic', 'supported')
    assert stated.evidence[0].stance == 'for'


@pytest.mark.parametrize('version', BOTH)
def test_marked_words_of_earlier_releases_stand_for_their_sentences(version):
    wrong, right = earlier(version, 'spans')
    (mark,) = wrong.score.claims
    assert 'Paris' in mark.span.text and mark.status == 'contradicted'
    assert [claim.status for claim in right.score.claims] == ['supported']


@pytest.mark.parametrize('version', BOTH)
def test_rankings_of_earlier_releases_are_read_and_shown(version):
    ranked, nothing = earlier(version, 'ranked')
    assert (ranked.score.label, ranked.annotation) == ('consistent', 'consistent')
    assert ranked.ranking.chosen.text == 'It was founded in Limoges.'
    assert ranked.ranking.chosen.evidence is not None
    assert {c.status for c in ranked.ranking.first.shown.marks} == {'contradicted'}
    assert nothing.score.label == 'not_verifiable'
    shown = list(read_scored_file(EARLIER / f'{version}.ranked.jsonl'))
    assert [entry['id'] for entry in shown] == ['pool', 'none']
    assert any(piece[1:] for piece in shown[0]['response'])
