"""The training scripts on tiny models: each writes a folder that the product reads."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification as Classifier

pytest.importorskip('accelerate')  # it needs Python 3.11

from parlai_q2.errors import ConfigError
from parlai_q2.models.loading import load_tokenizer
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from parlai_q2.zoo.train import train_answers, train_detector, train_seq2seq, training
from parlai_q2.zoo.train.rows import read_rows, write_rows
from tests.tiny import tiny_bert, tiny_t5

CLASS_ROWS = [
    {'p': f'bees have {number} eyes', 'h': f'{who} {number}', 'y': label}
    for number in ('five', 'six', 'two')
    for who, label in (('bees have', 0), ('french', 2), ('wow wow', 3))
]
TWINS = [
    {'p': f'bees have {right} eyes', 'h': right, 'y': 0, 'wrong': wrong, 'y_wrong': 2}
    for right, wrong in (('five', 'french'), ('six', 'american'))
]
# The number is the answer to the first kind of question; the second has none.
SPAN_ROWS = [
    {'q': 'have bees ?', 'c': f'the bees {number} eyes', 's': 9, 'a': number}
    for number in ('five', 'six', 'two')
] + [{'q': 'was french ?', 'c': 'a large bee', 's': -1, 'a': ''}] * 2
QUESTION_ROWS = [
    {'a': number, 'c': f'they are {number} .', 'q': f'what is {number} ?'}
    for number in ('1983', '1990')
]
REPLY_ROWS = [{'k': 'band formed 1983', 'h': ['who ?'], 'r': 'formed 1983 .'}] * 2
FAST = ('--epochs', '30', '--batch-size', '4', '--learning-rate', '0.01')


@pytest.fixture(scope='module')
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp('bert')
    sizes = {'max_position_embeddings': 64, 'num_hidden_layers': 2, 'hidden_size': 32}
    return tiny_bert(folder, **sizes)


@pytest.fixture(scope='module')
def t5(tmp_path_factory):
    return tiny_t5(tmp_path_factory.mktemp('t5'))


def run(script, rows, initial, place, capsys, *options):
    """Train on rows, measure on the same ones; the printed figures by name."""
    path = place / 'rows.jsonl.gz'
    write_rows(path, rows)
    script.main(
        [*FAST, *options, '--rows', str(path), '--held-out', str(path)]
        + ['--initial', initial, '--outdir', str(place / 'out'), '--max-tokens', '32']
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    figures = {line[0]: line[1] for line in lines if len(line) == 2}
    names = ('accuracy', 'wrong_below', 'right_above', 'right_kept', 'answer_f1')
    names += ('no_answer_recall', 'nats_per_token')
    return {name: float(figures[name]) for name in names if name in figures}


def test_a_detector_learns_classes_and_twins(bert, tmp_path, capsys):
    figures = run(train_detector, [*CLASS_ROWS, *TWINS], bert, tmp_path, capsys)
    assert figures['accuracy'] > 0.8
    assert figures['right_above'] == 1
    labels = {'entailment': 0, 'neutral': 1, 'contradiction': 2, 'generic': 3}
    config = ModelConfig(str(tmp_path / 'out' / 'converted'))
    model = SequenceNliModel(config, labels, max_tokens=32)
    right, wrong = model.classify(
        [('bees have five eyes', 'bees have five'), ('bees have six eyes', 'wow wow')]
    )
    assert model.engine.startswith('ctranslate2')
    assert right.entailment > 0.5 > wrong.entailment


def test_an_adapter_is_merged_and_a_share_is_taken(bert, tmp_path, capsys):
    options = ('--lora-rank', '2', '--share', '0.5', '--epochs', '1')
    options += ('--frozen-layers', '1')
    run(train_detector, CLASS_ROWS, bert, tmp_path, capsys, *options)
    names = {path.name for path in (tmp_path / 'out' / 'converted').iterdir()}
    assert {'model.bin', 'head.safetensors', 'sha256.json'} <= names


def test_a_detector_learns_what_its_teacher_predicts(bert, tmp_path, capsys):
    teacher = Classifier.from_pretrained(bert, num_labels=4)
    teacher.classifier.bias.data[:] = torch.tensor([0.0, 0, 4, 0])
    teacher.save_pretrained(tmp_path / 'teacher')
    load_tokenizer(bert).save_pretrained(tmp_path / 'teacher')
    rows = [{'p': row['p'], 'h': row['h']} for row in CLASS_ROWS]
    options = ('--frozen-layers', '1', '--bf16')
    options += ('--teacher', str(tmp_path / 'teacher'))
    run(train_detector, rows, bert, tmp_path, capsys, *options)
    first = Classifier.from_pretrained(bert).bert.encoder.layer
    trained = Classifier.from_pretrained(tmp_path / 'out' / 'trained')
    for n, is_frozen in enumerate([True, False]):
        weights = (
            layer[n].output.dense.weight
            for layer in (first, trained.bert.encoder.layer)
        )
        assert torch.equal(*weights) == is_frozen
    tokens = load_tokenizer(bert)(['bees have five eyes'], ['bees have five'])
    inputs = {name: torch.tensor(values) for name, values in tokens.items()}
    assert trained(**inputs).logits.argmax() == 2


def test_each_text_gets_its_own_logits_of_a_teacher():
    samples = [{'label': 0}, {'label': 1, 'wrong': {'label': 2}}, {'label': 3}]
    train_detector.add_teacher(samples, torch.tensor([[1.0], [2.0], [3.0], [4.0]]))
    assert [sample['teacher'] for sample in samples] == [[1.0], [2.0], [4.0]]
    assert samples[1]['wrong']['teacher'] == [3.0]


def test_rows_without_a_class_need_a_teacher(bert, tmp_path, capsys):
    rows = [*CLASS_ROWS, {'p': 'bees have five eyes', 'h': 'bees have five'}]
    with pytest.raises(ConfigError, match='--teacher'):
        run(train_detector, rows, bert, tmp_path, capsys)


def test_an_answerer_learns_spans_and_silence(bert, tmp_path, capsys):
    figures = run(train_answers, SPAN_ROWS, bert, tmp_path, capsys)
    assert figures['answer_f1'] > 0.6
    assert figures['no_answer_recall'] == 1


@pytest.mark.parametrize(
    'task, rows', [('questions', QUESTION_ROWS), ('replies', REPLY_ROWS)]
)
def test_a_generator_learns_what_to_write(task, rows, t5, tmp_path, capsys):
    figures = run(train_seq2seq, rows, t5, tmp_path, capsys, task)
    assert figures['nats_per_token'] < 1.5  # 3.7 before
    converted = tmp_path / 'out' / 'converted'
    assert (converted / 'common_tokens.json').exists() == (task == 'replies')
    generator = Seq2SeqQuestionGenerator(ModelConfig(str(converted)), num_questions=1)
    assert generator.engine.startswith('ctranslate2')
    assert generator.generate([('1983', 'they are 1983 .')])


def test_layers_that_are_not_where_bert_has_them_are_not_frozen(t5, tmp_path, capsys):
    options = ('questions', '--frozen-layers', '1')
    with pytest.raises(ConfigError, match='--frozen-layers is not for T5'):
        run(train_seq2seq, QUESTION_ROWS, t5, tmp_path, capsys, *options)


@pytest.mark.parametrize(
    'row, expected',
    [
        ({'s': 4, 'a': 'five'}, (2, 2)),
        ({'s': 4, 'a': 'five eyes'}, (2, 3)),
        ({'s': -1, 'a': ''}, (0, 0)),
        ({'s': 9, 'a': 'eyes now'}, None),  # cut off
    ],
)
def test_answers_are_found_among_tokens(row, expected):
    offsets = [(0, 3), (0, 3), (4, 8), (9, 13)]
    owners = [0, 1, 1, 1]
    assert train_answers.answer_tokens(row, offsets, owners) == expected


def twin_batch(labels=(0, 2), twins=((0, 1),), **tensors):
    return {'labels': torch.tensor(labels), 'twins': torch.tensor(twins), **tensors}


def test_the_loss_falls_when_twins_come_apart():
    apart = torch.tensor([[6.0, 0, 0, 0], [0, 0, 6.0, 0]])
    same = torch.tensor([[6.0, 0, 0, 0], [6.0, 0, 0, 0]])
    low, high = (
        train_detector.detector_loss(logits, twin_batch(), 0.5)
        for logits in (apart, same)
    )
    assert low < 0.5
    assert high > low + 2


def test_without_a_label_only_the_teacher_counts():
    logits = torch.tensor([[2.0, 0, 0, 0]])
    batch = twin_batch((-100,), [], teacher=logits.clone())
    batch['twins'] = torch.zeros(0, 2, dtype=torch.long)
    loss = train_detector.detector_loss(logits, batch, 0.5)
    assert loss == pytest.approx(0, abs=1e-6)


def test_support_leaves_generic_out():
    logits = torch.tensor([[1.0, 1.0, -99.0, 50.0]])
    assert train_detector.log_odds(logits).tolist() == [0.0]


def test_a_mean_of_weights_lies_between_both():
    before, after = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    expected = torch.lerp(before.weight, after.weight, 0.25)
    training.average_weights(after, before, 0.25)
    assert torch.equal(after.weight, expected)


@pytest.mark.parametrize('name', ['rows.jsonl', 'rows.jsonl.gz', 'rows.jsonl.xz'])
def test_rows_are_read_as_they_were_written(name, tmp_path):
    assert write_rows(tmp_path / name, CLASS_ROWS) == len(CLASS_ROWS)
    assert read_rows(tmp_path / name, tmp_path / name) == CLASS_ROWS * 2
