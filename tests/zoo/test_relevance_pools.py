"""Blocks for training the model of relevance."""

import random
from itertools import islice
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, BertForSequenceClassification

from parlai_q2.errors import ConfigError
from parlai_q2.models.relevance import RelevanceModel
from parlai_q2.presets import ModelConfig
from parlai_q2.zoo.train import relevance_pools, train_relevance
from parlai_q2.zoo.train.block import TrainingBlock, blurred, misspell
from parlai_q2.zoo.train.relevance_blocks import BlockSource
from parlai_q2.zoo.train.relevance_pools import (
    is_best,
    is_held_out_pool,
    pair_on_passages,
    yes_no_question,
)
from parlai_q2.zoo.train.rows import read_rows, write_rows
from tests.tiny import tiny_pair_model

PASSAGE = 'The museum opened in 1903. It was designed by Anna Keller.'
QUESTIONS = [
    {'q': 'Who designed it?', 'c': PASSAGE, 'a': 'Anna Keller'},
    {'q': 'When did the museum open?', 'c': PASSAGE, 'a': '1903'},
    {'q': 'Who paid for it?', 'c': PASSAGE, 'a': ''},
]
POOL = {
    'kind': 'wh',
    'knowledge': [PASSAGE, 'Tickets are 7 euros.'],
    'history': ['Who designed it?'],
    'candidates': [
        {'text': 'Anna Keller.', 'g': 1, 'a': 2},
        {'text': 'Otto Brandt.', 'g': 0, 'a': 2},
        {'text': 'It opened in 1903.', 'g': 1, 'a': 0},
    ],
}
PRICE = {
    'kind': 'unanswerable',
    'knowledge': POOL['knowledge'],
    'history': ['Do children pay?'],
    'candidates': [
        {'text': 'No word on that, sorry.', 'g': 'n', 'a': 2},
        {'text': 'They pay half.', 'g': 0, 'a': 2},
        {'text': 'Tickets are 7 euros.', 'g': 1, 'a': 0},
    ],
}
DIALOGUES = [
    {'k': 'Bees have five eyes.', 'h': ['I like bees.'], 'r': 'Five eyes!', 'f1': 0.7},
    {'k': 'Baikal is deep.', 'h': ['Is it deep?'], 'r': 'It is deep.', 'f1': 0.6},
    {'k': 'Rome is old.', 'h': ['Old?'], 'r': 'It is old.', 'f1': 0.6},
    {'k': 'Rome is old.', 'h': ['Rome?'], 'r': 'Rome, yes.', 'f1': 0.5},
    {'k': 'Rome is old.', 'h': ['Rome?'], 'r': 'I love pizza.', 'f1': 0.1},
]
DETECTOR = [
    {'p': 'The lake is deep.', 'h': reply, 'y': y, 'src': 'd-syn-num'}
    for reply, y in (('Deep it is.', 0), ('It is dry.', 2), ('Wow!', 3))
]
TWINS = [{'p': PASSAGE, 'right': 'Keller did.', 'wrong': 'Brandt did.'}]
SOURCES = {
    'pools': [POOL, PRICE],
    'questions': QUESTIONS,
    'replies': DIALOGUES,
    'dialogues': DIALOGUES,
}


@pytest.fixture(scope='module')
def blocks():
    source = BlockSource(**SOURCES, twins=TWINS, detector=DETECTOR)
    return [*islice(source.draw(random.Random(3)), 5000)]


def test_twins_and_rows_of_the_detector_can_be_left_out():
    drawn = BlockSource(**SOURCES).draw(random.Random(3))
    assert all(block.replies for block in islice(drawn, 1000))


@pytest.mark.parametrize(
    'option, rows',
    [
        ('pools', []),
        ('questions', QUESTIONS[:2]),
        ('questions', QUESTIONS[1:]),
        ('replies', DIALOGUES[:2]),
        ('dialogues', DIALOGUES[:4]),
        ('dialogues', DIALOGUES[:2]),
    ],
)
def test_too_few_rows_are_an_error_that_names_their_option(option, rows):
    with pytest.raises(ConfigError, match=f'^--{option} has too few rows'):
        BlockSource(**{**SOURCES, option: rows})


def labels(block, text):
    """What a block says of a reply: relevance, support and choice by its last turn."""
    return {
        (block.turns[t][-1], name): value
        for name in ('relevance', 'support', 'best')
        for (t, r), value in getattr(block, name).items()
        if block.replies[r] == text
    }


@pytest.mark.parametrize(
    'text, turn, name, expected',
    [
        ('Anna Keller.', 'Who designed it?', 'relevance', {1.0}),
        ('Anna Keller.', 'Do children pay?', 'relevance', {0.0}),
        ('Otto Brandt.', 'Who designed it?', 'relevance', {1.0}),
        ('Otto Brandt.', 'Do children pay?', 'relevance', {0.0}),
        ('They pay half.', 'Do children pay?', 'relevance', {1.0}),
        ('No word on that, sorry.', 'Do children pay?', 'relevance', set()),
        ('Anna Keller.', 'Who designed it?', 'support', {1.0}),
        ('Anna Keller.', 'When did the museum open?', 'support', {0.0}),
        ('Otto Brandt.', 'Who designed it?', 'support', {0.0}),
        ('Anna Keller.', 'Who designed it?', 'best', {True}),
        ('Anna Keller.', 'Do children pay?', 'best', {False}),
        ('Otto Brandt.', 'Who designed it?', 'best', {False}),
        ('No word on that, sorry.', 'Do children pay?', 'best', {True}),
        ('It is deep.', 'Is it deep?', 'relevance', {1.0}),
        ('It is deep.', 'I like bees.', 'relevance', {0.0}),
    ],
)
def test_a_reply_answers_its_own_turn_and_no_other(blocks, text, turn, name, expected):
    labels_found = [labels(block, text).get((turn, name)) for block in blocks]
    assert {value for value in labels_found if value is not None} == expected


def test_what_the_model_reads_has_a_label(blocks):
    for block in blocks:
        assert block.pairs
        assert len(set(block.pairs)) == len(block.pairs)
        assert bool(block.support or block.best) == bool(block.knowledge)


@pytest.mark.parametrize(
    'sentence, question',
    [
        ('The museum was opened in 1903.', 'Was the museum opened in 1903?'),
        ('Anna Keller has been there twice.', 'Has Anna Keller been there twice?'),
        ('Bees have five eyes.', None),
        ('In 1903 it was opened by the mayor.', None),
    ],
)
def test_sentences_become_yes_no_questions(sentence, question):
    labels_found = yes_no_question(sentence)
    assert (labels_found and labels_found[0]) == question


def test_turns_are_blurred_as_people_write(blocks):
    draw = random.Random(1)
    typed = {misspell('How much is breakfast?', draw) for _ in range(20)}
    assert len(typed) > 10
    assert all(len(text) >= 20 for text in typed)
    assert blurred(blocks[0], draw).pairs == blocks[0].pairs


def test_pools_are_paired_on_their_passages():
    cost = {**POOL, 'history': ['What does it cost?']}
    assert pair_on_passages([POOL, cost]) == [(POOL, cost), (cost, POOL)]
    assert pair_on_passages([POOL]) == [(POOL, POOL)]


def test_a_fifth_of_the_passages_is_held_out():
    pools = [{'knowledge': [f'Passage {n}.', 'More.']} for n in range(1000)]
    assert 150 < sum(map(is_held_out_pool, pools)) < 250


@pytest.mark.parametrize(
    'name, number, with_best',
    [
        ('reply_pools', 2017, 2017),
        ('fresh_pools', 571, 571),
        ('later_pools', 2428, 2428),
        ('generated_pools', 669, 646),
        ('assistant_pools', 2129, 2129),
    ],
)
def test_the_labelled_pools(name, number, with_best):
    folder = Path(relevance_pools.__file__).parent
    pools = read_rows(str(folder / f'{name}.jsonl'))
    assert len(pools) == number
    assert 0.15 < sum(map(is_held_out_pool, pools)) / number < 0.25
    assert sum(any(map(is_best, pool['candidates'])) for pool in pools) == with_best
    for pool in pools:
        assert pool['knowledge']
        assert pool['history']
        assert {candidate['g'] for candidate in pool['candidates']} <= {0, 1, 'n'}
        assert {candidate['a'] for candidate in pool['candidates']} <= {0, 1, 2}


def test_people_may_say_which_generated_reply_is_best():
    assert is_best({'g': 1, 'a': 1, 'best': True})
    assert not is_best({'g': 1, 'a': 2, 'best': False})
    assert is_best({'g': 1, 'a': 2})
    assert not is_best({'g': 0, 'a': 2})


@pytest.fixture(scope='module')
def detector(tmp_path_factory):
    folder = tmp_path_factory.mktemp('detector')
    sizes = {'num_labels': 4, 'max_position_embeddings': 192, 'num_hidden_layers': 2}
    return tiny_pair_model(folder, BertForSequenceClassification, **sizes)


def test_a_relevance_model_begins_as_the_log_odds_of_a_detector(detector):
    weight = BertForSequenceClassification.from_pretrained(detector).classifier.weight
    model = train_relevance.load_model(detector)
    odds = weight[0] - weight[1:3].mean(0)
    assert torch.equal(model.classifier.weight, torch.stack([odds, odds]))
    assert model.config.id2label == {0: 'relevance', 1: 'support'}


def test_the_distance_to_a_teacher_leaves_out_what_it_did_not_read():
    logits = torch.tensor([[1.0, 2.0], [0.5, -3.0]], requires_grad=True)
    teacher = torch.tensor([[1.0, 4.0], [0.5, float('nan')]])
    loss = train_relevance.teacher_loss(logits, teacher)
    assert loss.item() == pytest.approx(1.5 / 2)  # Of one output, 2 - 0.5.
    loss.backward()
    assert logits.grad.tolist() == [[0, -0.5], [0, 0]]


def test_a_teacher_reads_support_beside_knowledge_alone(detector, tmp_path):
    model = train_relevance.load_model(detector)
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(detector).save_pretrained(tmp_path)
    teacher = RelevanceModel(ModelConfig(str(tmp_path)))
    blocks = [
        TrainingBlock([['Who designed it?']], knowledge=[PASSAGE]),
        TrainingBlock([['Who designed it?'], ['Hi!']]),
    ]
    blocks[0].add('Anna Keller.', best={0: True}, support={0: 1.0})
    blocks[1].add('Anna Keller.', relevance={0: 1.0, 1: 0.0})
    logits = train_relevance.read_teacher(teacher, blocks)
    assert logits.shape == (3, 2)
    assert logits.isnan().tolist() == [[False, False], [False, True], [False, True]]


@pytest.mark.parametrize('with_teacher', [False, True])
def test_a_relevance_model_learns_from_blocks(with_teacher, detector, tmp_path, capsys):
    files = {**SOURCES, 'twins': TWINS, 'detector': DETECTOR * 3}
    words = [detector, str(tmp_path / 'out'), '--frozen-layers', '1']
    for name, rows in files.items():
        write_rows(tmp_path / f'{name}.jsonl', rows)
        words += [f'--{name}', str(tmp_path / f'{name}.jsonl')]
    if with_teacher:
        words += ['--teacher', 'mini']
    # The time is up after one step.
    train_relevance.main([*words, '--minutes', '1e-9', '--type', 'float32'])
    shown = capsys.readouterr().out
    assert 'loss' in shown
    assert ('from the teacher' in shown) == with_teacher
    (folder,) = (tmp_path / 'out').iterdir()
    trained = BertForSequenceClassification.from_pretrained(folder)
    first = train_relevance.load_model(detector)
    for n, is_frozen in enumerate([True, False]):
        weights = (
            m.bert.encoder.layer[n].output.dense.weight for m in (first, trained)
        )
        assert torch.equal(*weights) == is_frozen
    assert not torch.equal(first.classifier.weight, trained.classifier.weight)
