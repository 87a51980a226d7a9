"""The lines that runs write: what comes back is what a scorer found."""

import json

import pytest

from parlai_q2.claims import Evidence, Kind, Label, Score, Stance
from parlai_q2.errors import InputError, RecordError
from parlai_q2.output_records import (
    error_line,
    find_kind,
    keep_own_fields,
    ranking_line,
    read_line,
    read_logged_turn,
    score_line,
)
from parlai_q2.rerank import Reranker
from tests.report.samples import scored
from tests.rerank.toys import ToyScorer

RECORD = {'id': 'a', 'knowledge': 'red blue', 'response': 'red', 'history': ['Hi.']}


def through_json(line):
    return json.loads(json.dumps(line, allow_nan=False))


def test_a_score_comes_back_from_its_line():
    score = Score.from_dict(scored())
    line = through_json(score_line(RECORD, score))
    assert find_kind(line) == line['kind'] == Kind.SCORE
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
    assert find_kind(line) == Kind.RANKING
    judged = read_line(line)
    assert judged.score == ranking.chosen.score
    texts = [candidate.text for candidate in judged.ranking.candidates]
    assert texts == ['red', 'green']
    # What was said instead of a candidate does not have its score.
    judged = read_line({**line, 'text': 'I am not sure.'})
    assert judged.score.label == Label.NOT_VERIFIABLE


@pytest.mark.parametrize('kind', [Kind.SCORE, Kind.RANKING])
def test_an_error_is_no_score(kind):
    problem = RecordError('in.jsonl', 3, 'is broken')
    line = error_line({'id': 'x', 'label': 'mine'}, 3, problem, kind)
    assert find_kind(line) == Kind.ERROR
    with pytest.raises(InputError, match=r'not scored: in.jsonl, line 3: is broken'):
        read_line(line)


def test_a_turn_of_a_log_has_its_score_and_its_candidates():
    ranking = Reranker(ToyScorer()).rank('red blue', ['green', 'red'])
    score = Score.from_dict(scored())
    fields = {**RECORD, **ranking.to_dict(), 'q2_label': 'consistent'}
    judged = read_logged_turn(through_json({**fields, 'q2_evidence': score.to_dict()}))
    assert (judged.score, judged.annotation) == (score, 'consistent')
    assert judged.ranking == ranking
    assert read_logged_turn(through_json(fields)).score == ranking.chosen.score
    with pytest.raises(InputError, match='neither q2_evidence nor'):
        read_logged_turn(RECORD)


@pytest.mark.parametrize(
    'field, wrong', [('comparison', 'maybe'), ('status', 'perhaps'), ('stance', 3)]
)
def test_a_word_that_there_is_not_is_refused(field, wrong):
    line = through_json(Score.from_dict(scored()).to_dict())
    claim = next(line_claim for line_claim in line['claims'] if line_claim['evidence'])
    (claim['evidence'][0] if field == 'stance' else claim)[field] = wrong
    with pytest.raises(InputError, match=f"'{field}' must be one of .* and is "):
        Score.from_dict(line)


RANKED = {'text': 'a', 'order': [0], 'rerank': [{'text': 'a', 'chosen': True}]}
OF_RANKING = 'reason abstained grounded rerank_knowledge rerank_turn'
RANKING = {**dict.fromkeys(OF_RANKING.split(), 'x'), 'kind': 'ranking', **RANKED}
OF_SCORE = 'score label fallback claims parts'
SCORED = {**dict.fromkeys(OF_SCORE.split(), 'x'), 'kind': 'score'}


@pytest.mark.parametrize(
    'fields, kind, expected',
    [
        # The fields of a user that have our names are renamed, behind the others.
        (
            {'label': 1, 'knowledge': 'k', 'score': 2, 'response': 'r'},
            Kind.SCORE,
            {'knowledge': 'k', 'response': 'r', 'given_label': 1, 'given_score': 2},
        ),
        ({'text': 1, 'kind': 'x'}, Kind.SCORE, {'text': 1, 'given_kind': 'x'}),
        (
            {'text': 1, 'rerank': 'x', 'error': 2, 'label': 3},
            Kind.RANKING,
            {'label': 3, 'given_text': 1, 'given_rerank': 'x', 'given_error': 2},
        ),
        ({'label': 1, 'given_label': 2}, Kind.SCORE,
         {'given_label': 2, 'given_given_label': 1}),
        ({'rerank': ['mine']}, Kind.SCORE, {'given_rerank': ['mine']}),
        # A turn of a world log keeps its candidates.
        ({'rerank': RANKED['rerank']}, Kind.SCORE, {'rerank': RANKED['rerank']}),
        # What an earlier run wrote is replaced.
        ({**SCORED, 'signature': 's', 'n': 1}, Kind.SCORE, {'n': 1}),
        ({**RANKING, 'rerank_signature': 's', 'n': 1}, Kind.RANKING, {'n': 1}),
        ({'kind': 'error', 'line': 1, 'error': 'e', 'n': 1}, Kind.SCORE, {'n': 1}),
        # A record that only looks like one of ours is the user's.
        ({'kind': 'score', 'label': 'x'}, Kind.SCORE,
         {'given_kind': 'score', 'given_label': 'x'}),
    ],
)  # fmt: skip
def test_user_fields_are_kept(fields, kind, expected):
    own_fields = keep_own_fields(fields, kind)
    assert list(own_fields.items()) == list(expected.items())


def test_a_field_called_rerank_that_is_no_ranking_hides_no_score():
    line = {**RECORD, 'score': 0.9, 'label': 'consistent', 'rerank': ['of the user']}
    judged = read_line(line)
    assert (judged.score.value, judged.ranking) == (0.9, None)
