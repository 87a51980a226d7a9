"""The reranker: one call of the scorer, the guards, the evidence."""

import json
from dataclasses import replace

import pytest
import yaml

from parlai_q2.claims import Claim, Evidence, Label, Mistake, MistakeKind, Score, Status
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.presets import load_preset
from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, Reranker, Rule
from parlai_q2.rerank.relevance import TurnReader
from parlai_q2.scorers import load_scorer
from parlai_q2.turns import Example, Span
from tests.rerank.toys import ToyScorer, pool

SKY = 'the sky is blue and grass is green here in summer and rain is wet'


def texts(ranking):
    return [candidate.text for candidate in ranking.candidates]


POOLS = [
    pool('red blue', 'red green', 'red blue', 'green'),
    pool('', 'anything', 'else'),
    pool('one two', 'one', 'three', 'one two'),
    pool('  ', 'blank'),
]


def test_the_whole_batch_is_one_call():
    scorer = ToyScorer()
    rankings = Reranker(scorer).rank_batch(POOLS)
    assert [len(batch) for batch in scorer.batches] == [6]
    assert [texts(r) for r in rankings] == [
        ['red blue', 'red green', 'green'],
        ['anything', 'else'],
        ['one', 'one two', 'three'],
        ['blank'],
    ]


def test_batched_is_the_same_as_one_at_a_time():
    together = Reranker(ToyScorer()).rank_batch(POOLS)
    alone = [Reranker(ToyScorer()).rank(p.knowledge, p.candidates) for p in POOLS]
    assert together == alone


@pytest.mark.parametrize(
    'threshold_of_scorer, rule, chosen',
    [
        (0.5, Rule('threshold'), 'It opened in 1950.'),
        (0.9, Rule('threshold'), 'It opened in 1969.'),
        (0.9, Rule('threshold', threshold=0.5), 'It opened in 1950.'),
    ],
)
def test_a_rule_has_the_threshold_of_the_scorer_unless_it_names_one(
    threshold_of_scorer, rule, chosen
):
    scorer = load_scorer('precision', threshold=threshold_of_scorer)
    replies = ['It opened in 1950.', 'It opened in 1969.']
    ranking = Reranker(scorer, rule).rank('It opened in 1969.', replies)
    assert ranking.chosen.text == chosen


def test_scorer_is_not_called_without_knowledge():
    scorer = ToyScorer()
    ranking = Reranker(scorer).rank(None, ['b', 'a'])
    assert scorer.batches == []
    assert (texts(ranking), ranking.reason) == (['b', 'a'], Reason.NO_KNOWLEDGE)
    assert not ranking.verifiable


def test_the_scorer_is_given_the_history():
    scorer = ToyScorer()
    Reranker(scorer).rank('k', ['a'], history=['hi', 'so?'])
    assert scorer.batches[0][0].history == ('hi', 'so?')


def test_a_copy_gives_way_to_other_words_that_come_first_and_are_as_grounded():
    # Of sixteen words the knowledge has fifteen: .94, and the copy has 1 - .01.
    other = 'in summer grass is green and the sky is blue and rain is wet'
    near = f'{other} there'
    candidates = [other, SKY, 'the sky is blue, wow', 'pigs fly over the moon']
    ranking = Reranker(ToyScorer()).rank(SKY, candidates)
    assert texts(ranking) == candidates
    guards = [candidate.guards for candidate in ranking.candidates]
    assert guards == [(), ('copy',), (), ()]
    assert ranking.candidates[1].guarded_score == pytest.approx(0.99)
    assert texts(Reranker(ToyScorer()).rank(SKY, [near, SKY]))[0] == SKY


def test_a_generic_reply_loses_to_any_other_grounded_reply():
    candidates = ['here it is', 'blue sky, wow', 'pigs fly']
    knowledge = 'here it is: the sky is blue'
    ranking = Reranker(ToyScorer()).rank(knowledge, candidates)
    assert texts(ranking) == ['blue sky, wow', 'here it is', 'pigs fly']
    free = Reranker(ToyScorer(), guards=False)
    assert texts(free.rank(knowledge, candidates))[0] == 'here it is'


def test_rows_are_json_and_say_what_was_chosen_and_why():
    candidates = pool('', 'green', 'red').candidates
    ranking = Reranker(ToyScorer()).rank('red blue', candidates)
    first, second = json.loads(json.dumps(ranking.rows(), allow_nan=False))
    assert (first['text'], first['chosen'], first['first']) == ('red', True, False)
    assert (second['chosen'], second['first']) == (False, True)
    assert (first['score'], first['label']) == (1.0, 'consistent')
    assert (first['reason'], second['reason']) == (Reason.BEST, None)
    assert (first['strategies'], first['claims']) == (['beam'], [])


def test_rows_stay_json_when_a_search_scores_infinitely_low():
    candidate = Candidate('a', ('beam',), float('-inf'), float('nan'))
    ranking = Reranker(ToyScorer()).rank('a', [candidate])
    row = json.loads(json.dumps(ranking.rows(), allow_nan=False))[0]
    assert row['generator_score'] is row['mean_logprob'] is None


@pytest.mark.parametrize(
    'value, message',
    [
        (('red', []), 'no candidate'),
        (('red', 'blue'), 'must be a list, not str'),
        (('red', None), 'must be a list, not NoneType'),
        (('red', [{'text': 'blue'}]), 'must be a string or a Candidate, not dict'),
        ((7, ['blue']), 'must be a string or a list of passages'),
        ((['red', 7], ['blue']), 'Passage 1 of the knowledge'),
        (('red', ['blue'], 'Hello.'), 'list of turns, not one string'),
        (('red', ['blue'], [{'content': 'Hi'}]), 'of strings, but there is a dict'),
    ],
)
def test_rejects_empty_pools_and_wrong_types(value, message):
    with pytest.raises(InputError, match=message):
        Reranker(ToyScorer()).rank(*value)


@pytest.mark.parametrize(
    'arguments, message',
    [
        ((None,), 'choose must be a scorer'),
        ((ToyScorer,), 'choose must be a scorer'),
        (('presicion',), "Did you mean 'precision'"),
        (('precision', 'threshold'), 'rule must be a Rule'),
        (('precision', None, True, 'spanz'), "Did you mean 'spans'"),
        (('precision', None, True, 3), 'explain must be a scorer'),
        (('precision', None, ['copy']), 'guards must be a bool or Guards'),
        (('precision', None, True, None, None, 3), 'relevance must be a reader'),
    ],
)
def test_a_reranker_of_other_things_is_refused_when_it_is_made(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Reranker(*arguments)


@pytest.mark.parametrize('method', ['rank_batch', 'explained'])
def test_a_list_is_asked_for_where_there_is_one_thing_or_another(method):
    reranker = Reranker(ToyScorer())
    red_pool = Pool('red', ['red'])
    red_pool = red_pool if method == 'rank_batch' else reranker.rank('red', ['red'])
    with pytest.raises(InputError, match=rf'Write {method}\(\['):
        getattr(reranker, method)(red_pool)
    with pytest.raises(InputError, match='there is a str in it'):
        getattr(reranker, method)(['red'])


def test_knowledge_may_be_passages_and_evidence_names_them():
    bees, wasps = 'Bees have five eyes.', 'Wasps build nests of paper.'
    passages = [{'title': 'Bee', 'text': bees}, wasps]
    reranker = Reranker('spans')
    ranking = reranker.rank(passages, ['Bees have six eyes.', 'Wasps use paper.'])
    assert ranking.chosen.text == 'Wasps use paper.'
    assert ranking.knowledge == f'{bees}\n{wasps}'
    assert [passage.title for passage in ranking.passages] == ['Bee', '']
    (claim,) = ranking.rows()[0]['claims']
    evidence = claim['evidence'][0]
    assert (evidence['passage'], evidence['text']) == (1, wasps)


@pytest.mark.parametrize('knowledge', [[], [''], ['', ' '], [{'text': ' '}]])
def test_blank_passages_are_no_knowledge(knowledge):
    ranking = Reranker(ToyScorer()).rank(knowledge, ['a'])
    assert (ranking.reason, ranking.passages) == (Reason.NO_KNOWLEDGE, ())


X = Span('x', 0, 1)
MARK = Claim(X, 0.0, Status.UNSUPPORTED, mistake=Mistake(MistakeKind.OTHER, X))


class Explainer(ToyScorer):
    """Marks the first letter of everything."""

    name = 'explainer'

    def _score(self, example):
        return replace(super()._score(example), claims=(MARK,))


def explained(*pools, scorer=None):
    """The batches of the scorer that explains, and the rows of each pool."""
    reranker = Reranker(scorer or ToyScorer(), explain=(explains := Explainer()))
    rankings = reranker.rank_batch(pools)
    for _ in range(2):  # what is explained is not asked about again
        rankings = reranker.explained(rankings)
    return explains.batches, [ranking.rows() for ranking in rankings]


def test_the_chosen_and_the_first_of_a_whole_batch_are_explained_in_one_call():
    batches, rows = explained(
        pool('red blue', 'green', 'red', 'green blue'),
        pool('one', 'one', 'two', 'three'),
    )
    ((*texts,),) = [[example.response for example in batch] for batch in batches]
    assert texts == ['red', 'green', 'one']
    assert rows[0][0]['evidence']['claims'] == [MARK.to_dict()]
    assert rows[0][0]['evidence']['signature'].startswith('explainer|')
    assert rows[0][0]['claims'] == []
    for row in rows[0]:
        assert bool(row['evidence']) == (row['chosen'] or row['first'])


def test_explains_nothing_without_knowledge():
    batches, ((row,),) = explained(pool('', 'a'))
    assert batches == []
    assert row['evidence'] is None


def test_a_ranking_comes_back_from_its_values_as_it_was():
    passages = [{'title': 'Sky', 'text': SKY}, 'red blue']
    reranker = Reranker(ToyScorer(), explain=Explainer())
    candidates = [Candidate(t, ('beam',), -1.5, -0.3) for t in ('pigs', 'red', SKY)]
    ranking = reranker.rank(passages, candidates, explain=True)
    chosen = ranking.chosen
    # A consistent reply does not show that a part of it is unsupported.
    assert chosen.evidence.claims == (MARK,)
    assert chosen.displayed_score.claims == chosen.score.claims
    with_evidence = [candidate for candidate in ranking if candidate.evidence]
    assert with_evidence == [chosen, ranking.first]
    again = Ranking.from_dict(json.loads(json.dumps(ranking.to_dict())))
    assert again == ranking
    # Plain text, which YAML can write, too: it knows no enums.
    assert yaml.safe_load(yaml.safe_dump(ranking.to_dict())) == ranking.to_dict()


def test_a_ranking_prints_on_ten_lines_and_says_whether_any_is_grounded():
    candidates = ['pigs ' * 40 + str(n) for n in range(20)]
    wrong = Reranker(ToyScorer()).rank('red', candidates)
    assert len(repr(wrong).splitlines()) <= 10
    assert max(map(len, repr(wrong).splitlines())) <= 80
    right = Reranker(ToyScorer()).rank('red', ['pigs', 'red'])
    assert (wrong.grounded, right.grounded) == (False, True)
    assert len(wrong) == 20
    assert [candidate.text for candidate in right] == ['red', 'pigs']
    assert right[0] is right.chosen


def test_evidence_follows_the_choice():
    """What the scorer that chooses calls wrong is never all green."""
    text = 'Baikal is deep. Baikal is old.'
    parts = [Span('Baikal is deep.', 0, 15), Span('Baikal is old.', 16, 30)]
    claims = tuple(
        Claim(span, value, Status.SUPPORTED, (Evidence(0, Span('deep', 0, 4)),))
        for span, value in zip(parts, (0.9, 0.8), strict=True)
    )
    evidence = Score(0.8, Label.CONSISTENT, claims)
    wrong = Candidate(text, score=Score(0.3, Label.INCONSISTENT), evidence=evidence)
    shown = wrong.displayed_score.claims
    assert shown[0] == claims[0], 'the better supported one stays'
    mistake = Mistake(MistakeKind.OTHER, parts[1])
    assert shown[1] == Claim(parts[1], 0.3, Status.UNSUPPORTED, mistake=mistake)
    right = replace(wrong, score=Score(0.7, Label.CONSISTENT))
    assert right.displayed_score.claims == claims


def test_evidence_that_names_what_is_wrong_is_left_as_it_is():
    span = Span('Baikal', 0, 6)
    wrong = Claim(span, 0.2, Status.CONTRADICTED)
    fine, chat = Claim(span, 0.9, Status.SUPPORTED), Claim(span, 0.5, Status.GENERIC)
    score = Score(0.1, Label.INCONSISTENT, (fine, wrong))
    assert score.as_judged is score
    assert Score(0.1, Label.INCONSISTENT).as_judged.claims == ()
    right = Score(0.9, Label.CONSISTENT, (fine, wrong, chat))
    assert right.as_judged is right
    fitted = [candidate.status for candidate in right.as_labelled.claims]
    assert fitted == ['supported', 'supported', 'generic']
    small_talk = Score(0.1, Label.INCONSISTENT, (chat,)).as_judged
    assert [candidate.status for candidate in small_talk.claims] == [Status.UNSUPPORTED]


def test_penalties_replace_those_of_the_guards_that_they_name_and_of_no_others():
    replies = ['I do not know.', 'in 1969']
    usual = Reranker('precision').rank('It opened in 1969.', replies)
    changed = Reranker('precision', penalties={'copy': 0.1})
    assert changed.rank('It opened in 1969.', replies) == usual
    assert usual.first.guards == ('generic',)
    with pytest.raises(UnknownNameError, match="Did you mean 'copy'"):
        Reranker('precision', penalties={'copi': 0.1})


def test_relevance_of_a_preset_without_its_models_is_that_of_mini():
    with pytest.raises(UnknownNameError, match='nonsens'):
        Reranker('precision', relevance='nonsens')
    reader = Reranker('precision', relevance='minicheck').relevance_reader
    assert reader.settings == Reranker('precision').relevance_reader.settings


def test_a_preset_gives_the_models_of_all_parts():
    reranker = Reranker(preset='base')
    assert reranker.chooser.signature == load_scorer(preset='base').signature
    assert reranker.explainer.signature == load_scorer('spans', 'base').signature
    reader = TurnReader.of(load_preset('base'))
    assert reranker.relevance_reader.settings == reader.settings
    assert Reranker(relevance=False).relevance_reader is None


@pytest.mark.parametrize('blank', ['<p><br></p>', '[1]', ' '])
def test_knowledge_of_markup_alone_is_none(blank):
    ranking = Reranker(explain=None).rank(blank, ['It opened in 1903.'], ['When?'])
    assert ranking.reason == Reason.NO_KNOWLEDGE
    score = load_scorer('grounded_fast').score([Example(blank, 'It opened in 1903.')])
    assert score[0].label == Label.NOT_VERIFIABLE


def test_a_question_behind_a_long_preamble_is_read():
    preamble = (
        'We are a family with two small children and a grandmother who loves history, '
        'and we come by train on our way to the sea, where my husband used to work. '
    )
    knowledge = 'The museum opened in 1903. It was designed by Anna Keller.'
    replies = ['The museum opened in 1903.', "Sorry, I don't know."]
    for turn in ('When did it open?', f'{preamble}When did it open? Thank you!'):
        ranking = Reranker(explain=None).rank(knowledge, replies, [turn])
        assert ranking.chosen.text == replies[0]
