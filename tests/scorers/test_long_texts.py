"""Long texts are read whole, and what a scorer does not read is said in the record."""

import random

import pytest

from parlai_q2 import Example, Label, load_scorer
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.q2.metric import Q2Models
from parlai_q2.report.entries import notes_of
from parlai_q2.report.terminal import render_score
from parlai_q2.rerank import Reranker
from parlai_q2.scorers import shell
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.text import pipeline
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

KNOWN = 'The Eiffel Tower is in Paris. It was built in 1889.'
FALSE = 'Elvis Presley was murdered by aliens on the Moon in 1234.'
# 341 words; a score of its beginning alone would be that of a copy.
LONG = ' '.join([KNOWN] * 30 + [FALSE])


@pytest.mark.parametrize('name', ['nli', 'consistency', 'grounded_fast', 'spans'])
def test_the_end_of_a_long_response_counts(name):
    scorer = load_scorer(name)
    score, alone = scorer.score([Example(KNOWN, LONG), Example(KNOWN, FALSE)])
    assert score.label == alone.label == Label.INCONSISTENT
    assert shell.UNREAD not in score.parts


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
    given = [
        (f'{plain}{dense(60)}', 'Bees have five eyes.'),
        ('Bees have five eyes.', f'{plain}{dense(60)}'),
        (f'{plain}{dense(40)}', f'{dense(30)} {plain}'),
        ('Bees.', 'x' * 3000),
    ]
    for premise, hypothesis in given:
        read.clear()
        model.classify([(premise, hypothesis)])
        lengths = [model.tokenizer().count(*pair) for pair in read]
        assert max(lengths) <= model.max_tokens
        for place, whole in enumerate((premise, hypothesis)):
            words = {word for pair in read for word in pair[place].split()}
            assert words >= set(whole.split()) or whole == 'x' * 3000


@pytest.fixture
def short(monkeypatch):
    """Q2 whose parser stops after a hundred characters."""
    monkeypatch.setattr(pipeline, 'MAX_CHARACTERS', 100)
    shell._warned.clear()
    models = Q2Models(
        ToyQuestionGenerator(), ToyQuestionAnswerer(), ToyNliModel(), lambda t: []
    )
    return Q2Scorer(models)


def test_what_is_beyond_every_limit_is_a_part_of_the_score(short, caplog):
    examples = [Example(KNOWN, 'x ' * 200), Example(KNOWN, 'x ' * 50)]
    examples.append(Example(KNOWN * 9, 'x'))
    beyond, *read = short.score(examples)
    assert beyond.parts[shell.UNREAD] == 0.75
    assert all(shell.UNREAD not in score.parts for score in read)
    short.score(examples[:1])
    assert len([r for r in caplog.records if 'does not read the end' in r.message]) == 1


def test_people_are_told_what_was_not_read(short):
    (score,) = short.score([Example(KNOWN, 'x ' * 200)])
    assert '75% of a text not read' in render_score(score, 'x', KNOWN, False, 120)
    ranking = Reranker(short).rank(KNOWN, ['x ' * 200])
    assert '75% of a text not read' in notes_of(ranking.chosen, ranking)
