"""What is trained: rows as ids, losses and figures."""

import math

import pytest
import torch

from parlai_q2.models.loading import load_tokenizer
from parlai_q2.zoo.train import train_classifier, train_qa
from parlai_q2.zoo.train.train_classifier import ClassJob
from parlai_q2.zoo.train.train_qa import SpanJob
from tests.zoo.tiny_training import SPAN_ROWS, encoder


@pytest.fixture(scope='module')
def words(tmp_path_factory):
    return load_tokenizer(encoder(tmp_path_factory.mktemp('models') / 'bert'))


class Says:
    """A model that gives the same logits for everything."""

    def __init__(self, **outputs):
        self.outputs = outputs

    def __call__(self, **inputs):
        return type('Output', (), self.outputs)()


def test_an_answers_tokens_are_found_by_its_characters(words):
    job = SpanJob(words)
    (found,) = job.encode([SPAN_ROWS[0]])
    # [CLS] bee have [SEP] the bees five eyes [SEP]
    assert (found.start, found.end) == (6, 6)
    assert found.segments == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert words.convert_ids_to_tokens(found.ids[6]) == 'five'
    assert found.segments == words('bee have', 'the bees five eyes')['token_type_ids']
    (found,) = job.encode([next(row for row in SPAN_ROWS if row['s'] < 0)])
    assert (found.start, found.end) == (0, 0)  # no answer


def test_the_readers_loss_is_the_mean_of_start_and_end(words):
    job = SpanJob(words)
    batch = job.collate(job.encode([SPAN_ROWS[0]]))
    start, end = torch.zeros(1, 9), torch.zeros(1, 9)
    end[0, 6] = math.log(8)  # probability 8 / 16
    loss = job.loss(Says(start_logits=start, end_logits=end), batch)
    assert loss.item() == pytest.approx((math.log(9) + math.log(2)) / 2, abs=1e-6)
    # Padding is no answer: of 11 tokens, the short row has 9.
    rows = [SPAN_ROWS[0], {**SPAN_ROWS[0], 'c': 'the bees five eyes five eyes'}]
    flat = torch.zeros(2, 11)
    both = job.collate(job.encode(rows))
    loss = job.loss(Says(start_logits=flat, end_logits=flat), both)
    assert loss.item() == pytest.approx((math.log(9) + math.log(11)) / 2, abs=1e-3)


def test_figures_of_a_reader():
    rows = [
        {'s': 0, 'a': 'five eyes', 'src': 'squad'},
        {'s': 0, 'a': 'six', 'src': 'edit-answer'},
        {'s': -1, 'a': '', 'src': 'hard-other'},
        {'s': -1, 'a': '', 'src': 'hard-other'},
    ]
    # F1 2/3 and, for the abstention, 0; one of two abstentions right.
    assert train_qa.metrics(rows, ['five', '', '', 'x']) == pytest.approx(
        {
            'score': (1 / 3 + 1 / 2) / 2,
            'answer_f1': 1 / 3,
            'no_answer_recall': 0.5,
            'no_answer_precision': 0.5,
        }
    )
    assert train_qa.metrics([], []) == {}
    # An answer of an article alone is compared as it is.
    given = [('a', 'A '), ('a', 'the'), ('the bee', 'bee')]
    assert [train_qa.answer_f1(*pair) for pair in given] == [1.0, 0.0, 1.0]


def test_figures_of_a_detector():
    rows = [
        {'y': 0, 'src': 'hard-right'},
        {'y': 0, 'src': 'snli'},
        {'y': 1, 'src': 'snli'},
    ]
    assert train_classifier.metrics(rows, [0, 2, 1]) == pytest.approx(
        {'score': 0.75, 'accuracy': 2 / 3, 'recall_0': 0.5, 'recall_1': 1.0}
    )


def test_a_teacher_counts_for_seven_tenths_in_any_company(words):
    job = ClassJob(words)
    row = {'p': 'bees', 'h': 'bees', 'y': 1, 'src': 'x'}
    rows = [row, {**row, 'z': [0.0, 0.0]}, {**row, 'y': 0}]
    logits = torch.tensor([[0.0, math.log(3)]])  # 1/4 and 3/4
    plain, taught, wrong = (
        job.loss(Says(logits=logits), job.collate(job.encode([one]))).item()
        for one in rows
    )
    divergence = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)  # from 1/2 and 1/2
    mixed = 0.3 * math.log(4 / 3) + 0.7 * divergence
    expected = [math.log(4 / 3), mixed, math.log(4)]
    assert [plain, taught, wrong] == pytest.approx(expected, abs=1e-6)
    together = job.loss(Says(logits=logits.repeat(3, 1)), job.collate(job.encode(rows)))
    assert together.item() == pytest.approx(sum(expected) / 3, abs=1e-6)
