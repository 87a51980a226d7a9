"""The classifier agent on random models, and in ParlAI's commands."""

import json
import math
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from parlai.core.opt import Opt
from parlai.core.script import superscript_main
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel

import parlai_q2.agents.hf_classifier.hf_classifier as module
from parlai_q2 import Example, load_scorer
from parlai_q2.__main__ import run
from parlai_q2.agents.hf_classifier.hf_classifier import HfClassifierModel
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.text.class_map import ClassMap
from tests.agents.hf_models import make_agent
from tests.agents.tiny_classifiers import (
    AGENT,
    on_pairs,
    tiny_bert,
    write_pairs,
    write_preset,
)
from tests.docs.code_in_docs import ROOT, read_code
from tests.docs.scratch import place_data
from tests.files import read_lines, write_lines
from tests.tasks import annotated_sets

VITAMINC = ['SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO']
PAIRS = [
    ('the moon is old .', 'it is not old .'),
    ('the bee is not red , it is cold and round .', 'it is red .'),
    ('the lamp is round .', 'it is'),
]


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp('vitaminc'), VITAMINC)


def agent(tmp_path, model, settings=None, **options):
    preset = write_preset(tmp_path, model, **(settings or {}))
    return make_agent(**{'model': AGENT, 'classifier': preset, **options})


def ask(model, pairs=PAIRS, label=None):
    """The answers to a batch, with padding in it."""
    messages = [{'text': '\n'.join(p), 'episode_done': True} for p in pairs]
    for message in messages:
        if label:
            message['eval_labels'] = [label]
    observed = [model.clone().observe(m) for m in messages]
    padding = model.clone().observe({'batch_padding': True, 'episode_done': True})
    *replies, nothing = model.batch_act([*observed, padding])
    assert 'text' not in nothing
    return replies


def outputs(model):
    """The probabilities of a model's outputs, one pair at a time."""
    hf, words = model.hf_model.eval(), model.dict.hf_tokenizer
    with torch.no_grad():
        return [
            hf(**words(*pair, return_tensors='pt')).logits[0].softmax(-1).tolist()
            for pair in PAIRS
        ]


def test_a_class_is_as_probable_as_its_likeliest_output_alone_and_in_a_batch(
    tmp_path, model
):
    classifier = agent(tmp_path, model, print_scores=True)
    assert classifier.class_list == ['consistent', 'inconsistent']
    replies = ask(classifier)
    for reply, (supports, refutes, neither) in zip(replies, outputs(classifier)):
        other = max(refutes, neither)
        expected = [p / (supports + other) for p in (supports, other)]
        assert reply['probs'] == pytest.approx(expected, abs=1e-6)
        assert reply['class_list'] == ['consistent', 'inconsistent']
        json.dumps(reply)
    alone = [ask(classifier, [pair])[0]['probs'] for pair in PAIRS]
    for single_reply, together in zip(alone, replies):
        assert single_reply == pytest.approx(together['probs'], abs=1e-6)


def test_a_preset_says_how_pairs_are_read(tmp_path, model):
    turned = agent(tmp_path, model, {'order': ['hypothesis', 'premise']})
    observation = turned.observe(
        {'text': 'the moon is old\nit is red', 'episode_done': True}
    )
    words = turned.dict.hf_tokenizer
    text = words.decode(observation['text_vec'])
    assert text == '[CLS] it is red [SEP] the moon is old [SEP]'
    assert observation['segment_vec'].tolist() == [0] * 5 + [1] * 5


@pytest.mark.parametrize('limit', [{}, {'text_truncate': 20}])
def test_an_input_is_never_longer_than_the_model_reads(tmp_path, model, limit):
    classifier = agent(tmp_path, model, {'max_tokens': 500}, **limit)
    text = 'the moon is old . ' * 30 + '\nit is old .'
    observation = classifier.observe({'text': text, 'episode_done': True})
    assert len(observation['text_vec']) == limit.get('text_truncate', 64)
    assert classifier.act()['text'] in classifier.class_list


def test_the_likeliest_of_three_outputs_decides_and_all_of_them_learn():
    outputs = torch.tensor([0.45, 0.30, 0.25]).log()

    def network(input_ids, attention_mask):
        return SimpleNamespace(logits=outputs.expand(len(input_ids), 3))

    model = HfClassifierModel(
        network, ClassMap(('consistent', 'inconsistent'), ((0,), (1, 2)))
    )
    tokens = torch.ones(1, 2, dtype=torch.long)
    trained = model(tokens, tokens).softmax(-1)[0].tolist()
    assert trained == pytest.approx([0.45, 0.55])
    asked = model.eval()(tokens, tokens)[0]
    # Merged after the choice, as in the papers; added up, it would be inconsistent.
    assert asked.argmax() == 0
    assert asked.exp().tolist() == pytest.approx([0.45, 0.30])


def test_an_episodes_past_is_not_read(tmp_path, model):
    classifier = agent(tmp_path, model)
    texts = []
    for pair in (PAIRS[0], PAIRS[1], PAIRS[0]):
        message = {'text': '\n'.join(pair), 'episode_done': False}
        texts.append(classifier.observe(message)['text_vec'].tolist())
        classifier.act()
    assert texts[0] == texts[2] != texts[1]


def test_a_message_without_a_response(tmp_path, model):
    with pytest.raises(InputError, match='ClassificationTeacher'):
        agent(tmp_path, model).observe({'text': 'hello', 'episode_done': True})


def test_the_class_of_the_threshold_comes_first(tmp_path, model):
    low, high = (
        agent(tmp_path, model, threshold=t, ref_class='inconsistent')
        for t in (0.0, 1.0)
    )
    assert low.class_list == ['inconsistent', 'consistent']
    assert low.class_dict == {'inconsistent': 0, 'consistent': 1}
    assert {reply['text'] for reply in ask(low)} == {'inconsistent'}
    assert {reply['text'] for reply in ask(high)} == {'consistent'}
    [reply] = ask(low, PAIRS[:1], label='inconsistent')
    [supports, refutes, neither] = outputs(low)[0]
    likeliest = max(refutes, neither)
    loss = -math.log(likeliest / (likeliest + supports))
    assert reply['metrics']['loss'].value() == pytest.approx(loss, abs=1e-5)


@pytest.mark.parametrize(
    'names, options, says',
    [
        (['LABEL_0', 'LABEL_1'], {}, 'does not say what its outputs mean'),
        (VITAMINC, {'classes': ['a', 'b']}, '--class-map'),
        (VITAMINC, {'classes': ['consistent', 'consistent']}, 'different names'),
        (VITAMINC, {'class_map': 'neutral'}, 'output=class'),
        (
            VITAMINC,
            {'classes': ['consistent', 'inconsistent', 'generic'], 'datatype': 'train'},
            'cannot be trained',
        ),
    ],
)
def test_unknown_output_classes_raise_an_error_with_a_remedy(
    tmp_path, names, options, says
):
    with pytest.raises(ConfigError, match=says):
        agent(tmp_path, tiny_bert(tmp_path, names), **options)


def test_a_class_without_an_output_is_never_answered(tmp_path, model):
    classes = ['consistent', 'inconsistent', 'generic']
    classifier = agent(tmp_path, model, classes=classes, print_scores=True)
    for reply in ask(classifier, label='generic'):
        assert reply['text'] != 'generic'
        assert reply['probs'][2] < 1e-5
        assert 10 < reply['metrics']['loss'].value() < 20


def test_a_label_that_is_no_class_is_an_error_that_names_the_option(tmp_path, model):
    says = 'ClassificationTeacher; .*--classes .*"Fully attributable"'
    with pytest.raises(ConfigError, match=says):
        ask(agent(tmp_path, model), label='Fully attributable')


def test_a_new_head_has_the_classes_that_are_asked_for(tmp_path):
    base = tiny_bert(tmp_path)
    options = {'classifier': 'bert_conv_fever', 'hf_model': base, 'datatype': 'train'}
    classifier = agent(tmp_path, base, classes=['a', 'b', 'c'], **options)
    config = classifier.hf_model.config
    assert config.num_labels == 3
    assert config.id2label == {0: 'a', 1: 'b', 2: 'c'}
    assert {r['text'] for r in ask(classifier)} <= {'a', 'b', 'c'}


def test_the_shipped_detector_is_the_default():
    classifier = make_agent(model=AGENT)
    assert classifier.class_list == ['consistent', 'inconsistent', 'generic']
    pairs = [
        ('Sephora was founded in 1969.', 'It was founded in 1969.'),
        ('Sephora was founded in 1969.', 'It was founded in 1854.'),
        ('Sephora was founded in 1969.', "Wow, that's so cool!"),
    ]
    assert [r['text'] for r in ask(classifier, pairs)] == classifier.class_list


PAGE = ROOT / 'docs' / 'agents' / 'classifiers.md'
RECIPES = Path(module.__file__).parent / 'training'


@pytest.fixture(scope='module')
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp('pairs'))


@pytest.fixture(scope='module')
def trained(pairs, tmp_path_factory):
    """A model file that was trained from a folder that is gone."""
    folder = tmp_path_factory.mktemp('trained')
    (folder / 'base').mkdir()
    base = tiny_bert(folder / 'base')
    model_file = str(folder / 'model')
    TrainModel.main(
        model=AGENT,
        model_file=model_file,
        classifier='bert_conv_fever',
        hf_model=base,
        learningrate=2e-3,
        num_epochs=12,
        batchsize=16,
        seed=0,
        **on_pairs(pairs),
    )
    shutil.rmtree(base)
    return model_file


def test_training_learns_what_holds_for_things_it_has_not_seen(
    trained, pairs, tmp_path
):
    # Chance is one half, and so is what either text alone would give.
    moved = tmp_path / 'moved'
    shutil.copytree(Path(trained).parent, moved)
    options = {'datatype': 'test', 'batchsize': 5, **on_pairs(pairs)}
    report = EvalModel.main(model_file=str(moved / 'model'), **options)
    assert float(report['accuracy']) > 0.9


def test_a_trained_model_is_a_scorer(trained, pairs):
    preset = trained + '.hf/classifier.yaml'
    records = read_lines(Path(pairs.format(fold='valid')))
    scorer = load_scorer('consistency', preset)
    scores = scorer.score([Example(r['evidence'], r['claim']) for r in records])
    right = [
        (score.label == 'consistent') == (record['label'] == 'SUPPORTS')
        for score, record in zip(scores, records)
    ]
    assert sum(right) / len(right) > 0.9
    section = yaml.safe_load(Path(preset).read_text())['detector']
    assert section['model'] == str(Path(trained + '.hf').resolve())


@pytest.mark.parametrize('name', ['fever', 'conv_fever'])
def test_a_recipe_holds_options_that_there_are(name):
    recipe = Opt.load(RECIPES / f'{name}.opt')
    options = {**recipe, 'pairs_file': 'x'}
    if name == 'conv_fever':
        options.update(task='parlai_q2.tasks.pairs.agents')
    TrainModel.setup_args().parse_kwargs(**options)


def test_its_page_runs_one_command_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    place_data(tmp_path)
    annotated_sets.expect(monkeypatch)
    (tmp_path / 'agents').symlink_to(ROOT / 'agents')
    for folder in ('fever', 'bert'):
        (tmp_path / folder).mkdir()
    write_pairs(tmp_path / 'fever')
    bert = tiny_bert(tmp_path / 'bert')
    record = {'knowledge': 'the tea is red .', 'response': 'it is red .'}
    write_lines(tmp_path / 'pairs.jsonl', record)
    commands = [shlex.split(c.text) for c in read_code(PAGE) if c.kind == 'command']
    fever, conv_fever, rome, score = commands[-4:]

    once = ['--num-epochs', '1', '--no-cuda']
    superscript_main([*fever[1:], '--hf-model', bert, *once])
    # Conv-FEVER's own files have tests of their own.
    pairs = on_pairs('fever/{fold}.jsonl')
    other = ['-t', pairs['task'], '--pairs-file', pairs['pairs_file']]
    other += ['--pairs-labels', pairs['pairs_labels']]
    superscript_main([*conv_fever[1:], *other, *once])
    capsys.readouterr()
    superscript_main([*rome[1:], '--no-cuda', '--num-examples', '3'])
    assert 'class_inconsistent_f1' in capsys.readouterr().out
    assert score[0] == 'parlai_q2'
    run(score[1:])
    [scored] = read_lines(tmp_path / 'scores.jsonl')
    assert 0 < scored['score'] < 1
