"""What every scorer promises, and the values of NLI and Q2."""

import json
from dataclasses import replace

import numpy as np
import pytest

from parlai_q2 import Example, Label, Score, Scorer, load_scorer
from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Claim, Status
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.nli import NliScorer
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scorers.registry import scorer_class, scorer_names
from parlai_q2.turns import Span
from tests.cache.counting import CountingScorer
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

KNOWLEDGE = 'Sephora is a French chain of cosmetics stores founded in 1969.'
QUESTION = 'it was founded in 1969'


def toy_q2(nli=None, at_once=64, **settings):
    nli = nli or ToyNliModel()
    models = Q2Models(ToyQuestionGenerator(), ToyQuestionAnswerer(), nli)
    return Q2Scorer(models, Q2Settings(**settings), at_once=at_once)


@pytest.fixture(scope='module')
def tiny(tmp_path_factory):
    pytest.importorskip('bert_score')
    from tests.tiny import tiny_bert

    return tiny_bert(tmp_path_factory.mktemp('bert'))


SCORER_CLASSES = {
    'nli': lambda: NliScorer(ToyNliModel()),
    'consistency': lambda: ConsistencyScorer(ToyNliModel()),
    'q2': toy_q2,
}


def without_models():
    """The package's own scorers that need none; other tests register toys."""
    classes = {name: scorer_class(name) for name in scorer_names()}
    return [
        name
        for name, kind in classes.items()
        if kind.__module__.startswith('parlai_q2.') and not kind.has_models
    ]


@pytest.fixture(params=[*without_models(), 'bertscore', *SCORER_CLASSES])
def scorer(request):
    if request.param == 'bertscore':
        from tests.tiny import bert_scorer

        return bert_scorer(request.getfixturevalue('tiny'), 2)
    if request.param == 'bleu':
        pytest.importorskip('sacrebleu')
    return SCORER_CLASSES.get(request.param, lambda: load_scorer(request.param))()


@pytest.mark.parametrize(
    'knowledge, response', [('', 'hello'), (KNOWLEDGE, ''), (' \n', '\t'), ('', '')]
)
def test_without_a_text_there_is_nothing_to_verify(scorer, knowledge, response):
    score = scorer.score([Example(knowledge, response)])[0]
    assert (score.value, score.label) == (NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE)
    assert not score.verifiable


def test_a_batch_in_any_order_with_repetitions_gives_what_each_gives_alone(scorer):
    texts = ['founded in 1969', 'wow', '', 'a French chain', 'founded in 1969', '🐼']
    examples = [Example(KNOWLEDGE, text) for text in texts]
    alone = [scorer.score([e])[0] for e in examples]
    assert scorer.score(examples) == alone
    assert scorer.score(examples[::-1]) == alone[::-1]
    assert scorer.score([]) == []


def test_scores_are_in_range_json_safe_and_carry_the_signature(scorer, request):
    for response in (KNOWLEDGE, 'in 1969', '', '...', '日本'):
        (score,) = scorer.score([Example(KNOWLEDGE, response)])
        assert 0 <= score.value <= 1
        assert score.signature == str(scorer.signature)
        name = request.node.callspec.params['scorer']
        assert score.signature.startswith(f'{name}|')
        assert f'|threshold:{scorer.threshold}|' in f'|{score.signature}|'
        restored = Score.from_dict(json.loads(json.dumps(score.to_dict())))
        assert restored == score
        assert len({restored, score}) == 1


def test_identical_texts_are_scored_once():
    scorer = CountingScorer()
    examples = [Example('k', 'a'), Example('k', 'a', id='2'), Example('k', 'b')]
    # Looked at more than once, and so they may come one by one.
    assert len(scorer.score(iter(examples))) == 3
    assert scorer.calls == [['a', 'b']]


@pytest.mark.parametrize('wrong', [None, Example('k', 'r'), ['text']])
def test_something_else_than_examples_is_refused(wrong):
    with pytest.raises(InputError, match='takes a list of Example'):
        CountingScorer().score(wrong)


@pytest.mark.parametrize(
    'label, value, expected',
    [
        ('entailment', 1.0, Label.CONSISTENT),
        ('neutral', 0.5, Label.INCONSISTENT),  # at most the threshold
        ('contradiction', 0.0, Label.INCONSISTENT),
        ('generic', 0.5, Label.GENERIC),
    ],
)
def test_nli_values(label, value, expected):
    # As published: the knowledge in lower case, the response as it is.
    model = ToyNliModel({(KNOWLEDGE.lower(), 'So it is'): label})
    score = NliScorer(model).score([Example(KNOWLEDGE, 'So it is')])[0]
    assert (score.value, score.label) == (value, expected)
    assert score.parts[label] == 1


@pytest.mark.parametrize('preset, words', [('mini', 60), ('paper', 0)])
def test_nli_reads_long_knowledge_as_q2_does(preset, words):
    assert load_scorer('nli', preset).knowledge_words == words
    assert load_scorer('nli', preset, knowledge_words=7).knowledge_words == 7
    assert '|knowledge_words:7|' in str(load_scorer('nli', knowledge_words=7).signature)
    premises = []

    class Recorder(ToyNliModel):
        def classify(self, pairs):
            premises.extend(premise for premise, _ in pairs)
            return super().classify(pairs)

    long = f'Ants walk. {KNOWLEDGE} Wasps sting. ' + 'Bees dance a lot. ' * 20
    scorer = NliScorer(Recorder(), knowledge_words=words)
    scorer.score([Example(long, 'Sephora was founded in 1969. Do wasps sting?')])
    assert premises == [(f'{KNOWLEDGE} Wasps sting.' if words else long).lower()]


@pytest.mark.parametrize(
    'label, settings, expected',
    [
        ('neutral', {}, (0.5, 'not_verifiable')),
        ('entailment', {}, (1, 'consistent')),
        ('contradiction', {}, (0, 'inconsistent')),
        # Neutral may count as inconsistent.
        ('neutral', {'neutral_fallback': 0}, (0, 'inconsistent')),
        # Their words decide, of which they share none; NLI is not asked.
        ('neutral', {'use_nli': False}, (0, 'inconsistent')),
    ],
)
def test_q2_without_questions_is_what_its_fallback_says(label, settings, expected):
    nli = ToyNliModel({(KNOWLEDGE.lower(), 'wow!'): label})
    score = toy_q2(nli, **settings).score([Example(KNOWLEDGE, 'wow!')])[0]
    assert (score.value, score.label) == expected
    assert score.fallback


def test_q2_goes_through_many_responses_in_portions():
    examples = [Example(KNOWLEDGE, f'it was founded in 196{n}') for n in range(5)]
    portions = toy_q2(at_once=2)
    assert portions.score(examples) == toy_q2().score(examples)
    assert len(portions.models.generator.calls) == 3


def test_what_is_not_verifiable_is_worth_a_half_at_most_by_soft_values_too():
    class Leaning(ToyNliModel):
        def classify(self, pairs):
            return [NliProbabilities(0.48, 0.5, 0.02) for _ in pairs]

    scorer = toy_q2(Leaning(), soft_nli=True)
    scorer.models = replace(scorer.models, find_spans=lambda r: [[]])
    (score,) = scorer.score([Example('Bees have five eyes.', 'wow')])
    assert (score.value, score.label) == (NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE)


class GivingScorer(Scorer):
    """A scorer of one's own that returns whatever it is told to."""

    name = 'giving'
    settings = {'of': 'nothing'}

    def __init__(self, *value):
        self.given = value

    def score_texts(self, examples):
        return self.given


def test_numbers_of_numpy_become_those_that_json_has():
    parts = {'of': np.float64(0.25), 'numbers': 2}
    claim = Claim(Span('b', 0, 1), np.float32(0.5), Status.UNSUPPORTED)
    value = Score(np.float32(0.5), Label.INCONSISTENT, (claim,), parts=parts)
    (score,) = GivingScorer(value).score([Example('a', 'b')])
    assert json.loads(json.dumps(score.to_dict()))['score'] == 0.5
    shown = [repr(n) for n in (score.value, *score.parts.values())]
    assert shown == ['0.5', '0.25', '2']


@pytest.mark.parametrize(
    'value, problem',
    [
        ((), 'giving gave 0 scores for 1 texts'),
        ((0.9,), r"giving gave 0.9 for the response 'said'. Return a Score"),
        ((Score(float('nan'), 'consistent'),), r'giving gave nan .* in \[0, 1\]'),
        ((Score(1.7, 'consistent'),), r'giving gave 1.7 .* in \[0, 1\]'),
    ],
)
def test_a_scorer_that_gives_something_else_than_a_score_for_each_is_named(
    value, problem
):
    with pytest.raises(ConfigError, match=problem):
        GivingScorer(*value).score([Example('known', 'said')])
