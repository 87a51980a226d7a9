"""What every scorer promises, and the registry that finds them."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import parlai_q2
from parlai_q2 import Example, Label, Score, Scorer, load_scorer, register_scorer
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import NOT_VERIFIABLE_VALUE
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.nli import NliScorer
from parlai_q2.scorers.q2 import SOFT_THRESHOLD, Q2Scorer
from parlai_q2.scorers.registry import scorer_class
from parlai_q2.signature import Signature
from parlai_q2.version import __version__
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

KNOWLEDGE = 'Sephora is a French chain of cosmetics stores founded in 1969.'


class CountingScorer(Scorer):
    name = 'counting'
    settings = {'of': 'letters'}

    def __init__(self):
        self.batches = []

    def score_texts(self, examples):
        self.batches.append(len(examples))
        return [Score(len(e.response) % 10 / 10, Label.CONSISTENT) for e in examples]


def toy_q2():
    models = Q2Models(ToyQuestionGenerator(), ToyQuestionAnswerer(), ToyNliModel())
    return Q2Scorer(models)


def scorers():
    return [
        load_scorer('overlap'),
        load_scorer('precision'),
        load_scorer('content_overlap'),
        load_scorer('rouge_l'),
        NliScorer(ToyNliModel()),
        ConsistencyScorer(ToyNliModel()),
        toy_q2(),
    ]


@pytest.mark.parametrize('scorer', scorers(), ids=lambda s: s.name)
@pytest.mark.parametrize(
    'knowledge, response', [('', 'hello'), (KNOWLEDGE, ''), (' \n', '\t'), ('', '')]
)
def test_without_a_text_there_is_nothing_to_verify(scorer, knowledge, response):
    score = scorer.score([Example(knowledge, response)])[0]
    assert (score.value, score.label) == (NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE)
    assert not score.verifiable


@pytest.mark.parametrize('scorer', scorers(), ids=lambda s: s.name)
def test_a_batch_in_any_order_with_repetitions_gives_what_each_gives_alone(scorer):
    responses = [
        'founded in 1969',
        'wow',
        '',
        'a French chain',
        'founded in 1969',
        '🐼',
    ]
    examples = [Example(KNOWLEDGE, r) for r in responses]
    alone = [scorer.score([e])[0] for e in examples]
    assert scorer.score(examples) == alone
    assert scorer.score(examples[::-1]) == alone[::-1]


@pytest.mark.parametrize('scorer', scorers(), ids=lambda s: s.name)
def test_scores_are_in_range_json_safe_and_carry_the_signature(scorer):
    for score in scorer.score([Example(KNOWLEDGE, 'in 1969'), Example(KNOWLEDGE, '')]):
        assert 0 <= score.value <= 1
        assert score.signature == str(scorer.signature)
        assert f'|threshold:{scorer.threshold}|' in f'|{score.signature}|'
        fields = json.loads(json.dumps(score.to_dict()))
        assert Score.from_dict(fields) == score


def test_identical_texts_are_scored_once():
    scorer = CountingScorer()
    examples = [Example('k', 'a'), Example('k', 'a', id='2'), Example('k', 'b')]
    # Looked at more than once, and so they may come one by one.
    assert len(scorer.score(iter(examples))) == 3
    assert scorer.batches == [2]


def test_nothing_to_score_is_no_error():
    assert load_scorer('overlap').score([]) == []


@pytest.mark.parametrize('wrong', ['text', None, {'knowledge': 'k', 'response': 'r'}])
def test_something_else_than_an_example_is_refused(wrong):
    with pytest.raises(InputError, match='Example'):
        load_scorer('overlap').score([wrong])


@pytest.mark.parametrize(
    'fields', [{'knowledge': None}, {'response': 3}, {'history': 'one turn'}]
)
def test_an_example_of_wrong_types_is_refused(fields):
    with pytest.raises(InputError):
        Example(**{'knowledge': 'k', 'response': 'r', **fields})


@pytest.mark.parametrize(
    'measure, response, value, label',
    [
        ('overlap', 'founded in 1969', 2 * 2 / (9 + 2), Label.INCONSISTENT),
        ('precision', 'founded in 1969', 1.0, Label.CONSISTENT),
        ('precision', 'founded by aliens', 1 / 3, Label.INCONSISTENT),
    ],
)
def test_overlap_values(measure, response, value, label):
    score = load_scorer(measure).score([Example(KNOWLEDGE, response)])[0]
    assert (score.value, score.label) == (pytest.approx(value), label)


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


def test_q2_without_questions_and_neutral_is_not_verifiable():
    score = toy_q2().score([Example(KNOWLEDGE, 'wow!')])[0]
    assert (score.value, score.label, score.fallback) == (0.5, 'not_verifiable', True)


@pytest.mark.parametrize(
    'label, settings, expected',
    [
        ('entailment', {}, (1, 'consistent')),
        ('contradiction', {}, (0, 'inconsistent')),
        # Their words decide, of which they share none; NLI is not asked.
        ('neutral', {'use_nli': False}, (0, 'inconsistent')),
    ],
)
def test_q2_without_questions_is_what_its_fallback_says(label, settings, expected):
    nli = ToyNliModel({(KNOWLEDGE.lower(), 'wow!'): label})
    scorer = Q2Scorer(replace(toy_q2().models, nli=nli), Q2Settings(**settings))
    score = scorer.score([Example(KNOWLEDGE, 'wow!')])[0]
    assert (score.value, score.label) == expected and score.fallback


def test_q2_goes_through_many_responses_in_portions(monkeypatch):
    examples = [Example(KNOWLEDGE, f'it was founded in 196{n}') for n in range(5)]
    at_once = toy_q2().score(examples)
    monkeypatch.setattr('parlai_q2.scorers.q2.CHUNK', 2)
    assert toy_q2().score(examples) == at_once


def test_where_neutral_counts_as_inconsistent_the_label_says_so():
    models = toy_q2().models
    scorer = Q2Scorer(models, Q2Settings(neutral_fallback=0))
    score = scorer.score([Example(KNOWLEDGE, 'wow!')])[0]
    assert (score.value, score.label, score.fallback) == (0, 'inconsistent', True)


def test_a_score_can_be_in_a_set_and_an_example_has_a_list_of_turns():
    score = toy_q2().score([Example(KNOWLEDGE, 'it was founded in 1969', ['hi'])])[0]
    assert len({score, Score.from_dict(score.to_dict())}) == 1


@pytest.mark.parametrize('name', ['overlap', 'consistency', 'grounded', 'nli'])
def test_a_threshold_of_none_is_the_scorers_own(name):
    assert load_scorer(name, threshold=None).threshold == load_scorer(name).threshold


def test_q2_has_its_parts_and_its_evidence():
    score = toy_q2().score([Example(KNOWLEDGE, 'it was founded in 1969')])[0]
    assert score.parts.keys() == {'q2_f1', 'nli'}
    assert '1969' in [v.response_answer.text for v in score.verdicts]


def test_a_wrong_name_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'overlap'"):
        load_scorer('overlaps')


def test_a_wrong_option_is_named():
    with pytest.raises(ConfigError, match='colour'):
        load_scorer('overlap', colour='red')


def test_a_scorer_of_ones_own_takes_part_by_name():
    register_scorer('counting_test', 'tests.scorers.test_scorers:CountingScorer')
    assert isinstance(load_scorer('counting_test'), CountingScorer)
    with pytest.raises(ConfigError, match='taken'):
        register_scorer('counting_test', 'another.module:Class')


def test_signatures_differ_where_numbers_may():
    def signature(**options):
        return str(load_scorer('q2', **options).signature)

    seen = {
        signature(),
        signature(variant='multi'),
        signature(decoding='greedy'),
        signature(use_nli=False),
        signature(soft_nli=False),
        signature(soft_nli=False, threshold=SOFT_THRESHOLD),
        signature(personal_filter=False),
        signature(threshold=0.1),
        signature(preset='paper'),
    }
    assert len(seen) == 9


def test_importing_the_library_is_light():
    code = (
        'import sys, parlai_q2; parlai_q2.Example("k", "r");'
        'bad = {"torch", "parlai", "spacy", "transformers"} & set(sys.modules);'
        'assert not bad, bad'
    )
    subprocess.run([sys.executable, '-c', code], check=True)


@pytest.mark.parametrize('name', ['precision', 'overlap', 'rouge_l'])
def test_a_scorer_that_counts_words_loads_nothing_heavy(name):
    code = (
        'import sys; from parlai_q2 import Example, load_scorer;'
        f'load_scorer({name!r}).score([Example("k", "r")]);'
        'bad = {"torch", "parlai", "spacy", "transformers"} & set(sys.modules);'
        'assert not bad, bad'
    )
    subprocess.run([sys.executable, '-c', code], check=True)


@pytest.mark.parametrize(
    'name, models, asks',
    [
        ('precision', False, False),
        ('bleu', False, False),
        ('nli', True, False),
        ('bertscore', True, False),
        ('grounded_fast', True, False),
        ('grounded', True, True),
        ('q2_f1', True, True),
    ],
)
def test_a_class_says_whether_it_has_models_and_asks_questions(name, models, asks):
    found = scorer_class(name)
    assert (found.has_models, found.asks_questions) == (models, asks)


def test_precision_signs_by_its_own_name():
    assert str(load_scorer('precision').signature).startswith('precision|')


def test_q2_f1_is_q2_without_nli():
    # Nothing is loaded: the models come with the first score.
    scorer = load_scorer('q2_f1')
    assert (scorer.name, scorer.q2_settings.use_nli) == ('q2_f1', False)
    assert str(scorer.signature) != str(load_scorer('q2').signature)


@pytest.mark.parametrize('scorer', ['precision', 'consistency', 'q2', 'grounded'])
@pytest.mark.parametrize('threshold', [-0.1, 1.1, float('nan'), True, 'a'])
def test_a_threshold_is_between_0_and_1(scorer, threshold):
    with pytest.raises(ConfigError, match=r'in \[0, 1\]'):
        load_scorer(scorer, threshold=threshold)


@pytest.mark.parametrize('size', [0, -1, 2.5, '8', True])
def test_a_batch_holds_at_least_one(size):
    with pytest.raises(ConfigError, match='A batch size must be at least 1'):
        load_scorer('consistency', batch_size=size)


@pytest.mark.parametrize('size', [1, np.int64(8)])
def test_a_batch_holds_any_whole_number(size):
    assert load_scorer('consistency', batch_size=size).model.batch_size == size


@pytest.mark.parametrize('size', ['0', 'null', '"8"', '1.5'])
def test_a_batch_size_of_a_preset_is_looked_at_too(tmp_path, size):
    path = tmp_path / 'mine.yaml'
    path.write_text(f'nli: {{model: shipped:q2_mini/consistency, batch_size: {size}}}')
    with pytest.raises(ConfigError, match='nli of the preset .* has a batch_size of'):
        load_scorer('nli', preset=path)


@pytest.mark.parametrize(
    'arguments', [(None,), ('q2', None), ('q2', 3), (':',), ('module:',)]
)
def test_what_is_no_scorer_or_preset_is_told_so(arguments):
    with pytest.raises(ConfigError):
        load_scorer(*arguments)


@pytest.mark.parametrize('examples', [None, Example('k', 'r'), 7])
def test_scoring_takes_a_list(examples):
    with pytest.raises(InputError, match='takes a list of Example'):
        load_scorer('precision').score(examples)


@pytest.mark.parametrize('name', ['consistency', 'q2'])
def test_an_emoji_that_was_cut_in_two_can_be_scored(name):
    cut, whole = 'Bees have \ud83d five eyes.', 'Bees have five eyes.'
    (score,) = load_scorer(name).score([Example(cut, cut)])
    assert score.value > 0.5
    for verdict in score.verdicts:
        span = verdict.response_answer
        assert cut[span.start : span.end] == span.text
    (other,) = load_scorer(name).score([Example(whole, 'Bees have two eyes.')])
    assert other.value < score.value


def test_what_is_not_verifiable_is_worth_a_half_at_most_by_soft_values_too():
    class Leaning:
        settings = {'nli': 'leaning'}

        def classify(self, pairs):
            return [NliProbabilities(0.48, 0.5, 0.02) for _ in pairs]

    models = Q2Models(
        ToyQuestionGenerator({}), ToyQuestionAnswerer({}), Leaning(), lambda r: [[]]
    )
    scorer = Q2Scorer(models, Q2Settings(soft_nli=True), 'toy')
    (score,) = scorer.score([Example('Bees have five eyes.', 'wow')])
    assert (score.value, score.label) == (NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE)


@pytest.mark.parametrize(
    'options, threshold',
    [
        ({}, SOFT_THRESHOLD),
        ({'soft_nli': False}, DEFAULT_THRESHOLD),
        ({'use_nli': False}, DEFAULT_THRESHOLD),
        ({'preset': 'paper'}, DEFAULT_THRESHOLD),
        ({'threshold': 0.1}, 0.1),
    ],
)
def test_soft_values_have_a_threshold_of_their_own(options, threshold):
    assert load_scorer('q2', **options).threshold == threshold


def test_a_signature_has_a_short_form_of_its_own():
    one, other = (Signature('words', {'threshold': t}) for t in (0.5, 0.25))
    assert one.short == Signature('words', {'threshold': 0.5}).short != other.short
    name, version, digits = one.short.split('|')
    assert (name, version) == ('words', f'version:{__version__}')
    assert len(digits) == 8 and int(digits, 16) >= 0


def test_the_librarys_public_names_are_listed_and_there_is_no_other():
    assert {'load_scorer', 'Example', '__version__'} <= set(dir(parlai_q2))
    assert all(getattr(parlai_q2, name) for name in dir(parlai_q2))
    other = 'load_scorers'
    with pytest.raises(AttributeError, match=f"no attribute '{other}'"):
        getattr(parlai_q2, other)
