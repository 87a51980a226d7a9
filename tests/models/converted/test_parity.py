"""Converted models compute what transformers compute, and what was stored in int8."""

import numpy as np
import pytest
import torch
from ctranslate2.converters import TransformersConverter
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
)

from parlai_q2.errors import ModelError
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.binary import ENCODER, SEQ2SEQ
from parlai_q2.models.converted.convert import read_weights, write_converted
from parlai_q2.models.converted.reader import MODEL_FILE, read_model
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.model_files import shipped_folder
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from tests.tiny import (
    BEE_WORDS,
    BERT_NAMES,
    in_int8,
    mpnet,
    tiny_pair_model,
    tiny_t5,
    word_tokenizer,
)

PAIRS = [
    ('bees have five eyes: two large and three small.', 'they have six eyes!'),
    ('founded in 1969', 'it was founded in 1854'),
    ('wow', 'wow'),
]
LABELS = {'entailment': 0, 'neutral': 1, 'contradiction': 2}


def classes(place, **options):
    model = SequenceNliModel(ModelConfig(str(place)), labels=LABELS, **options)
    return model, [list(probabilities) for probabilities in model.classify(PAIRS)]


def mpnet_words():
    # MPNet's padding is token 1, and it reads no token types.
    return word_tokenizer(
        BEE_WORDS,
        ['[UNK]', '[PAD]', '[CLS]', '[SEP]'],
        model_input_names=['input_ids', 'attention_mask'],
        **BERT_NAMES,
    )


def both(place, kind, **options):
    """The folders of a model for transformers and, converted, for CTranslate2."""
    plain, folder = place / 'plain', place / 'converted'
    if kind == 'mpnet':
        words = mpnet_words()
        mpnet(len(words)).save_pretrained(plain)
        words.save_pretrained(plain)
    elif kind == 't5':
        tiny_t5(plain)
    elif kind == 'reader':
        tiny_pair_model(plain, BertForQuestionAnswering)
    else:
        tiny_pair_model(plain, BertForSequenceClassification, num_labels=3)
    write_converted(str(plain), folder, **options)
    return plain, folder


@pytest.mark.parametrize('kind', ['bert', 'mpnet'])
def test_a_classifier_gives_the_same_probabilities(tmp_path, kind):
    plain, folder = both(tmp_path, kind, in_int8=False)
    original, expected = classes(plain)
    other, converted = classes(folder, compute_type='float32')
    engines = (original.engine, other.engine)
    assert engines == ('transformers-float32', 'ctranslate2-float32')
    assert np.allclose(converted, expected, atol=2e-5)
    assert np.ptp(expected, axis=0).max() > 0.05  # texts matter to it


def test_a_question_answerer_gives_the_same_answers(tmp_path):
    plain, folder = both(tmp_path, 'reader', in_int8=False)
    questions = [('what has five eyes?', first) for first, _ in PAIRS]
    original, other = (
        SpanQuestionAnswerer(
            ModelConfig(str(place)), no_answer_threshold=99.0, compute_type='float32'
        ).answer(questions)
        for place in (plain, folder)
    )
    assert original == other
    assert all(original)


def test_int8_weights_are_taken_as_they_are():
    folder = shipped_folder('q2_mini/question_generation')
    converted = read_model(folder, SEQ2SEQ)
    model = converted.model
    stored = read_weights(folder)
    name = 'encoder.block.3.layer.1.DenseReluDense.wo.weight'
    place = 'encoder/layer_3/ffn/linear_1/weight'
    assert np.array_equal(model[place], stored[f'{name}.q'])
    scale = model[f'{place}_scale']
    assert np.allclose(scale * stored[f'{name}.s'].astype(np.float32), 1, atol=1e-6)


def test_a_generator_asks_the_same_converted_by_us_or_by_the_library(tmp_path):
    plain, folder = both(tmp_path, 't5', in_int8=False)
    theirs = tmp_path / 'theirs'
    converter = TransformersConverter(str(plain), copy_files=['tokenizer.json'])
    converter.convert(str(theirs))
    generators = [
        Seq2SeqQuestionGenerator(
            ModelConfig(str(place)), 'greedy', max_new_tokens=12, compute_type='float32'
        )
        for place in (plain, folder, theirs)
    ]
    engines = [generator.engine for generator in generators]
    assert engines == ['transformers-float32', *['ctranslate2-float32'] * 2]
    texts = ['the band formed in 1983', 'they are in la', 'wow']
    pairs = [(text.split()[-1], text) for text in texts]
    questions, *others = (generator.generate(pairs) for generator in generators)
    assert others == [questions, questions]
    # The same weights under the same names, in the same form.
    files = (folder / MODEL_FILE, theirs / MODEL_FILE)
    first, other = (binary.read(file.read_bytes()) for file in files)
    names = {*first.arrays, *first.aliases}
    assert names == {*other.arrays, *other.aliases}
    for name in names:
        assert np.array_equal(first[name], other[name]), name


def test_an_encoder_without_its_output_layer_is_told_apart(tmp_path, monkeypatch):
    plain, folder = tmp_path / 'plain', tmp_path / 'converted'
    tiny_pair_model(plain, BertForSequenceClassification, num_labels=3)
    # Its converter reads what configurations of transformers 5 leave out.
    monkeypatch.setattr(BertConfig, 'position_embedding_type', 'absolute', False)
    TransformersConverter(str(plain), copy_files=['tokenizer.json']).convert(
        str(folder)
    )
    with pytest.raises(ModelError, match=r'without an output layer.*converted.convert'):
        classes(folder)


@pytest.mark.parametrize('architecture', [ENCODER, SEQ2SEQ])
def test_a_model_of_another_kind_is_refused(tmp_path, architecture):
    _, folder = both(tmp_path, 't5' if architecture == ENCODER else 'bert')
    with pytest.raises(ModelError, match=r'model.bin: .* where an encoder'):
        read_model(folder, architecture)


def test_a_folder_without_a_tokenizer_says_how_to_get_it(tmp_path):
    folder = tmp_path / 'converted'
    TransformersConverter(tiny_t5(tmp_path / 'plain')).convert(str(folder))
    with pytest.raises(ModelError, match=r'--copy_files tokenizer.json'):
        Seq2SeqQuestionGenerator(ModelConfig(str(folder))).generate([('a', 'b')])


def test_int8_folders_are_converted_on_the_way(tmp_path):
    words = mpnet_words()
    model = mpnet(len(words))
    in_int8(model, tmp_path)
    words.save_pretrained(tmp_path)
    _, converted = classes(tmp_path)
    tokens = words(*PAIRS[1], return_tensors='pt')
    with torch.no_grad():
        (original,) = model(**tokens).logits.softmax(-1).tolist()
    assert converted[1][:3] == pytest.approx(original[:3], abs=0.03)
    write_converted(str(tmp_path), tmp_path / 'out')
    assert classes(tmp_path / 'out')[1] == converted


@pytest.mark.parametrize(
    'kind, auto_class',
    [
        ('bert', AutoModelForSequenceClassification),
        ('reader', AutoModelForQuestionAnswering),
        ('mpnet', AutoModelForSequenceClassification),
        ('t5', AutoModelForSeq2SeqLM),
    ],
)
def test_a_converted_model_is_given_back_to_transformers(tmp_path, kind, auto_class):
    plain, folder = both(tmp_path, kind, in_int8=False)
    original, other = (load_model(str(place), auto_class) for place in (plain, folder))
    expected = original.state_dict()
    assert other.state_dict().keys() == expected.keys()
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    tokens = load_tokenizer(str(folder))(*PAIRS[0], return_tensors='pt')
    if kind == 't5':
        tokens['decoder_input_ids'] = tokens['input_ids'][:, :3]
    tokens.pop('token_type_ids', None)
    with torch.no_grad():
        first, two = (model(**tokens) for model in (original, other))
    assert torch.allclose(first[0], two[0], atol=1e-5)
