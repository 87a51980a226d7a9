"""BLEU, METEOR, ROUGE-L and overlap: by hand, as packages do, as the paper's table."""

import csv
import random
from importlib.metadata import version
from statistics import mean

import pytest

from parlai_q2 import Example, Label, load_scorer
from parlai_q2.errors import MissingPackageError
from parlai_q2.text.overlap import rouge_l, rouge_words

KNOWLEDGE = 'Sephora is a French chain of cosmetics stores founded in 1969.'
BASELINES = ['bleu', 'rouge_l', 'content_overlap']


def score_one(scorer, knowledge, response):
    return scorer.score([Example(knowledge, response)])[0]


@pytest.mark.parametrize('name', ['overlap', 'precision', *BASELINES])
def test_a_copy_is_consistent_and_a_stranger_is_not(name):
    if name == 'bleu':
        pytest.importorskip('sacrebleu')
    for threshold, label in ((0.9, Label.CONSISTENT), (1, Label.INCONSISTENT)):
        scorer = load_scorer(name, threshold=threshold)
        copied = score_one(scorer, KNOWLEDGE, KNOWLEDGE)
        assert (copied.value, copied.label) == (pytest.approx(1), label)
        assert score_one(scorer, KNOWLEDGE, 'bees !').label == Label.INCONSISTENT


@pytest.mark.parametrize(
    'name, response, value',
    [
        # Two words are left of the response, nine of the knowledge.
        ('overlap', 'founded in 1969', 2 * 2 / (9 + 2)),
        ('precision', 'founded in 1969', 1),
        ('precision', 'founded by aliens', 1 / 3),
    ],
)
def test_overlap_by_hand(name, response, value):
    score = score_one(load_scorer(name), KNOWLEDGE, response)
    assert score.value == score.parts['f1' if name == 'overlap' else name]
    assert score.value == pytest.approx(value)


@pytest.mark.parametrize(
    'knowledge, response, precision, recall',
    [
        # The longest common subsequence is "the sat": 2 of 3 and of 4 words.
        ('the cat was sat', 'The dog sat.', 2 / 3, 2 / 4),
        # Order counts: "b c" or "a", and not all three.
        ('a b c', 'b c a', 2 / 3, 2 / 3),
        # A word counts as often as both have it.
        ('no no no', 'no no', 1, 2 / 3),
        ("it's 1,000 km", 'it s 1 000 km', 1, 1),
        ('...', 'a b', 0, 0),
    ],
)
def test_rouge_l_by_hand(knowledge, response, precision, recall):
    score = score_one(load_scorer('rouge_l'), knowledge, response)
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    assert score.value == score.parts['f1'] == pytest.approx(f1)
    assert score.parts['precision'] == pytest.approx(precision)


def test_rouge_l_is_that_of_py_rouge():
    # py-rouge is ParlAI's. Its tokenizer needs a download, so it gets ours.
    rouge = pytest.importorskip('rouge')

    class OurWords(rouge.Rouge):
        tokenize_text = staticmethod(lambda text, language='english': rouge_words(text))

    theirs = OurWords(['rouge-l'], limit_length=False, apply_avg=False, stemming=False)
    draw = random.Random(1)
    for _ in range(200):
        first, other = (
            ' '.join(draw.choices('abcde', k=draw.randint(1, 9))) for _ in '12'
        )
        found = theirs.get_scores([other], [first])['rouge-l'][0]
        expected = [found['p'][0], found['r'][0], found['f'][0]]
        assert rouge_l(first, other) == pytest.approx(expected), (first, other)


class TestBleu:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip('sacrebleu')

    @pytest.mark.parametrize(
        'knowledge, response, hundred',
        [
            # 3/3 words, 2/2 pairs, 1/1 triple, no four: the effective order is 3. One
            # word shorter than the knowledge: brevity exp(1 - 4/3).
            ('a b c d', 'a b c', 71.6531),
            # 2/4 words, 1/3 pairs, then 1 / (2 * 2) and 1 / (4 * 1) by "exp" smoothing:
            # (1/2 * 1/3 * 1/4 * 1/4) ** (1/4).
            ('a b c d', 'a b x y', 31.9472),
            ('A French Chain', 'a french chain', 100),
        ],
    )
    def test_by_hand(self, knowledge, response, hundred):
        score = score_one(load_scorer('bleu'), knowledge, response)
        assert score.parts == {'bleu_100': pytest.approx(hundred, abs=1e-3)}
        assert score.value == score.parts['bleu_100'] / 100

    def test_the_signature_is_the_packages_own(self):
        signature = str(load_scorer('bleu').signature)
        recipe = (
            f'nrefs:1,case:lc,eff:yes,tok:13a,smooth:exp,version:{version("sacrebleu")}'
        )
        assert f'|sacrebleu:{recipe}|' in signature


def meteor(matches, response, reference, chunks):
    precision, recall = matches / response, matches / reference
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    return mean * (1 - 0.5 * (chunks / matches) ** 3)


@pytest.mark.parametrize(
    'knowledge, response, expected, why',
    [
        ('The old dog sleeps.', 'the old dog sleeps', meteor(4, 4, 4, 1), 'equal'),
        ('The old dog sleeps.', 'the dog', meteor(2, 2, 4, 2), 'two chunks'),
        ('Dogs sleeping.', 'dog sleeps', meteor(2, 2, 2, 1), 'the same stems'),
        ('A city dog.', 'a city hound', meteor(3, 3, 3, 1), 'synonyms'),
        # NLTK looks for synonyms among stems, and the stem of large is larg.
        ('A large dog.', 'a big hound', meteor(2, 3, 3, 2), 'a synonym that is lost'),
        ('A large dog.', 'seven ships', 0, 'nothing'),
        ('A large dog.', '...', 0, 'no word'),
    ],
)
def test_meteor_by_hand(knowledge, response, expected, why):
    scorer = load_scorer('meteor')
    score = score_one(scorer, knowledge, response)
    assert score.value == pytest.approx(expected), why
    for part in ('|wordnet:3.0|', '|alpha:0.9|', '|beta:3|', '|gamma:0.5|', 'nltk:'):
        assert part in score.signature


@pytest.mark.parametrize(
    'name, package, extra',
    [
        ('bleu', 'sacrebleu', 'bleu'),
        ('bertscore', 'bert_score', 'bertscore'),
        ('meteor', 'nltk', 'wordnet'),
    ],
)
def test_a_missing_package_says_what_to_run(without_package, name, package, extra):
    without_package(package)
    with pytest.raises(MissingPackageError, match=f'pip install "parlai_q2.{extra}."'):
        load_scorer(name)


def test_the_content_overlap_leaves_stop_words_and_punctuation_out():
    # french, founded, 1969 of sephora, french, chain, cosmetics, stores, founded, 1969
    score = score_one(
        load_scorer('content_overlap'), KNOWLEDGE, 'It is FRENCH, and founded in 1969 !'
    )
    assert f'tokens:spacy-{version("spacy")}' in score.signature
    assert score.parts['precision'] == 1
    assert score.value == pytest.approx(2 * (3 / 7) / (1 + 3 / 7))
    assert score_one(load_scorer('content_overlap'), 'it is', 'it is').value == 0


# Table 2 of Honovich et al. 2021: Overlap, and BLEU.
TABLE_2 = {
    'dodeca_inconsistent': (0.299, 3.355),
    'dodeca_consistent': (0.426, 5.136),
    'memnet_inconsistent': (0.270, 7.490),
    'memnet_consistent': (0.526, 20.145),
}


@pytest.mark.real_data('data/dev/q2_wow')
@pytest.mark.parametrize('name', TABLE_2)
def test_the_papers_overlap_and_bleu_come_out(shared, name):
    pytest.importorskip('sacrebleu')
    path = shared / 'data' / 'dev' / 'q2_wow' / f'{name}.csv'
    with open(path, newline='', encoding='utf-8') as lines:
        rows = [Example(r['knowledge'], r['response']) for r in csv.DictReader(lines)]
    overlap, bleu = TABLE_2[name]
    values = [s.value for s in load_scorer('content_overlap').score(rows)]
    assert mean(values) == pytest.approx(overlap, abs=5e-4)
    values = [s.parts['bleu_100'] for s in load_scorer('bleu').score(rows)]
    # sacreBLEU's tokenizer has changed a little since: 5.124 for dodeca_consistent.
    assert mean(values) == pytest.approx(bleu, abs=0.02)
