"""Long texts are read whole, and what a scorer does not read is said in the record."""

import random
import time

import pytest

from parlai_q2 import Example, Label, load_scorer
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.report.entries import explain_place
from parlai_q2.report.terminal import render_score
from parlai_q2.rerank import Reranker
from parlai_q2.scorers import shell
from parlai_q2.scorers.consistency import ClassifierScorer
from parlai_q2.scorers.shell import UNREAD
from tests.scorers.places import check_places

KNOWLEDGE = 'The Eiffel Tower is in Paris. It was built in 1889.'
FALSE = 'Elvis Presley was murdered by aliens on the Moon in 1234.'
# 341 words; a score of its beginning alone would be that of a copy.
LONG = ' '.join([KNOWLEDGE] * 30 + [FALSE])


@pytest.mark.parametrize('name', ['nli', 'grounded_fast', 'spans'])
def test_the_end_of_a_long_response_counts(name):
    scorer = load_scorer(name)
    score, alone = scorer.score([Example(KNOWLEDGE, LONG), Example(KNOWLEDGE, FALSE)])
    assert score.label == alone.label == Label.INCONSISTENT
    assert UNREAD not in score.parts


def dense(count):
    """Words of many tokens each, as in addresses and keys."""
    rng = random.Random(count)
    letters = 'bcdfghjklmnpqrstvwxz0123456789'
    return ' '.join(''.join(rng.choices(letters, k=40)) for _ in range(count))


def test_nothing_is_cut_where_words_are_dense(monkeypatch):
    model, read = load_scorer('nli').model, []

    def only_noted(pairs):
        read.extend(pairs)
        return [NliProbabilities(1, 0, 0)] * len(pairs)

    monkeypatch.setattr(model, '_classify', only_noted)
    plain = 'Bees have five eyes. ' * 200
    examples = [
        (f'{plain}{dense(60)}', 'Bees have five eyes.'),
        ('Bees have five eyes.', f'{plain}{dense(60)}'),
        (f'{plain}{dense(40)}', f'{dense(30)} {plain}'),
        ('Bees.', 'x' * 3000),
    ]
    for premise, hypothesis in examples:
        read.clear()
        model.classify([(premise, hypothesis)])
        lengths = [model._loaded()[0].tokens.count(*pair) for pair in read]
        assert max(lengths) <= model.max_tokens
        for place, whole in enumerate((premise, hypothesis)):
            words = {word for pair in read for word in pair[place].split()}
            assert words >= set(whole.split()) or whole == 'x' * 3000


FALSE_SENTENCES = [f'The tower was sold to Portugal by {n} aliens.' for n in range(3)]
VERY_LONG = ' '.join(
    [*(KNOWLEDGE.replace('1889', str(n)) for n in range(500)), *FALSE_SENTENCES]
)


@pytest.fixture
def reads_little(monkeypatch):
    """A response that is read in part need not be a thousand words long."""
    monkeypatch.setattr(ClassifierScorer, 'max_response_words', 200)


@pytest.mark.parametrize('name', ['consistency', 'grounded_fast'])
def test_of_a_very_long_response_what_the_knowledge_lacks_is_read(
    name, caplog, reads_little
):
    shell._warned.clear()
    knowledge = ' '.join([KNOWLEDGE, *map(str, range(500))])
    examples = [Example(knowledge, text) for text in (VERY_LONG, FALSE)]
    score, short = load_scorer(name).score(examples)
    assert score.label == short.label == Label.INCONSISTENT
    assert 0.9 < score.parts[UNREAD] < 1
    assert UNREAD not in short.parts
    assert len([r for r in caplog.records if 'reads only a part' in r.message]) == 1
    assert any('aliens' in claim.span.text for claim in score.claims)
    check_places(score, examples[0])


def test_people_are_told_what_was_not_read(reads_little):
    response = ' '.join(f'Word {n} is short.' for n in range(100, 200))
    (score,) = load_scorer('consistency').score([Example(KNOWLEDGE, response)])
    assert '50 % of a text not read' in render_score(
        score, response, KNOWLEDGE, False, 120
    )
    ranking = Reranker(load_scorer('consistency')).rank(KNOWLEDGE, [response])
    assert '50 % of a text not read' in explain_place(ranking.chosen, ranking)


@pytest.mark.parametrize(
    'name, few', [('grounded_fast', 100), ('rouge_l', 250), ('overlap', 250)]
)
def test_time_grows_linearly_with_length(name, few):
    scorer = load_scorer(name)
    # What is loaded or compiled once is not timed.
    scorer.score([Example(KNOWLEDGE, FALSE)])

    def seconds(count):
        text = ' '.join(
            f'Lake {n:x} has an island, {n % 7 * "very "} old.' for n in range(count)
        )
        started = time.process_time()
        scorer.score([Example(text, text)])
        return time.process_time() - started

    # Eight times the text: linear time and a margin for noise, far below quadratic.
    assert seconds(8 * few) < 0.3 + 16 * seconds(few)
