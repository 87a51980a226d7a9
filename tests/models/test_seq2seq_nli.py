"""Judges that answer with one word: probabilities by hand, windows, commands."""

import pytest
import torch
import yaml

from parlai_q2 import Example, load_preset, load_scorer
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, ModelNotFoundError
from parlai_q2.models.seq2seq_nli import Seq2SeqNliModel
from parlai_q2.presets import ModelConfig, with_detector
from tests.agents.hf_models import tokenizer, untrained
from tests.agents.tiny_classifiers import tiny_bert
from tests.files import read_lines, write_lines

PROMPT = 'the {premise} . {hypothesis}'
PAIRS = [('the cat sat', 'i am fine'), ('hello', 'the cat'), ('the cat', 'hello')]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp('seq2seq')
    words = tokenizer('t5')
    words.save_pretrained(place)
    untrained('t5', len(words)).save_pretrained(place)
    return str(place)


def load_model(folder, **options):
    options = {'prompt': PROMPT, 'supported': 'cat', 'unsupported': 'am', **options}
    return Seq2SeqNliModel(ModelConfig(folder), **options)


def logits(model_read, prompt):
    model, tokenizer, _ = model_read._loaded()
    inputs = tokenizer(prompt, return_tensors='pt')
    start = torch.tensor([[model.config.decoder_start_token_id]])
    with torch.no_grad():
        return model(**inputs, decoder_input_ids=start).logits[0, 0]


def test_the_probability_is_that_of_the_word_against_the_other(folder):
    model_read = load_model(folder)
    tokenizer = model_read._loaded()[1]
    yes, no = (tokenizer.convert_tokens_to_ids(word) for word in ('cat', 'am'))
    probabilities = model_read.classify(PAIRS)
    for (premise, hypothesis), probability in zip(PAIRS, probabilities, strict=True):
        word_logits = logits(model_read, f'the {premise} . {hypothesis}')
        expected = word_logits[[no, yes]].softmax(-1)[1].item()
        assert probability.entailment == pytest.approx(expected, abs=1e-6)
        assert sum(probability) == pytest.approx(1)
        assert probability.neutral == 1 - probability.entailment
    assert len({probability.entailment for probability in probabilities}) == 3
    assert model_read.classify([('{hypothesis} {0}', 'the cat')])  # braces are text


def test_a_reply_cannot_insert_its_knowledge(folder):
    read = load_model(folder)._fill_prompt('the cat sat', 'so {premise}')
    assert read == 'the the cat sat . so {premise}'


def test_compares_with_the_whole_vocabulary_without_unsupported(folder):
    model_read = load_model(folder, unsupported=None)
    yes = model_read._loaded()[1].convert_tokens_to_ids('cat')
    (probabilities,) = model_read.classify([('hello', 'the cat')])
    expected = logits(model_read, 'the hello . the cat').softmax(-1)[yes].item()
    assert probabilities.entailment == pytest.approx(expected, abs=1e-6)


def test_the_most_supporting_window_of_a_long_premise_counts(folder):
    parts = ('The cat sat.', 'I am fine.', 'Hello you.')
    (probabilities,) = load_model(folder, window_words=3).classify(
        [(' '.join(parts), 'the cat')]
    )
    single = load_model(folder).classify([(part, 'the cat') for part in parts])
    highest = max(reading.entailment for reading in single)
    assert probabilities.entailment == pytest.approx(highest, abs=1e-6)


def test_prompts_that_do_not_fit_are_read_in_halves(folder, monkeypatch):
    model_read = load_model(folder)
    pairs = [(f'the {word} sat', 'the cat') for word in ('cat', 'fine', 'hello')]
    expected = [p.entailment for p in model_read.classify(pairs)]
    model, calls = model_read._loaded()[0], []
    forward = model.forward

    def read_one(input_ids, **inputs):
        calls.append(len(input_ids))
        if len(input_ids) > 1:
            raise RuntimeError('CUDA failed with error out of memory')
        return forward(input_ids=input_ids, **inputs)

    monkeypatch.setattr(model, 'forward', read_one)
    single = [p.entailment for p in model_read.classify(pairs)]
    assert single == pytest.approx(expected, abs=1e-6)
    assert calls == [3, 2, 1, 1, 1]


@pytest.mark.parametrize(
    'options, named',
    [
        ({'prompt': 'the {premise}'}, 'must have {premise} and {hypothesis}'),
        ({'supported': 'zebra'}, "does not know the word 'zebra'"),
        ({'unsupported': 'cat'}, 'the same token'),
    ],
)
def test_rejects_models_and_prompts_that_cannot_judge(folder, options, named):
    with pytest.raises(ConfigError, match=named):
        load_model(folder, **options).classify(PAIRS)


@pytest.fixture
def preset(folder, tmp_path):
    """A file of a preset whose detector is a judge."""
    section = {'model': folder, 'prompt': PROMPT, 'supported': 'cat'}
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump({'name': 'mine', 'detector': section}))
    return str(path)


def test_knowledge_is_read_whole_and_as_it_is_written(preset):
    scorer = load_scorer('consistency', preset)
    assert scorer.settings['detector_prompt'] == PROMPT
    assert scorer.settings['detector_words'] == 'cat/*'
    texts = []

    def classify(pairs):
        texts.extend(pairs)
        return Seq2SeqNliModel.classify(scorer.model, pairs)

    scorer.model.classify = classify
    long = 'The Cat sat. ' * 30
    scorer.score([Example(long, 'Hello')])
    assert texts == [(long, 'Hello')]


@pytest.mark.parametrize('kind', ['judge', 'classifier'])
def test_a_judge_scores_reranks_and_is_reported(kind, preset, tmp_path):
    model = tiny_bert(tmp_path, ['SUPPORTS', 'REFUTES'])
    detector = ['--detector', preset if kind == 'judge' else model]
    knowledge, texts = 'the moon is old', ['the moon is red', 'it is old']
    lines = [{'knowledge': knowledge, 'response': text} for text in texts]
    pairs = write_lines(tmp_path / 'pairs.jsonl', *lines)
    pool = {'knowledge': knowledge, 'candidates': texts}
    pools = write_lines(tmp_path / 'pools.jsonl', pool)
    scores, ranked = tmp_path / 'scores.jsonl', tmp_path / 'ranked.jsonl'
    for command, infile, outfile, role in (
        ('score', pairs, scores, '--measure'),
        ('rerank', pools, ranked, '--choose'),
    ):
        files = ['--infile', str(infile), '--outfile', str(outfile)]
        run_command(command, *files, role, 'consistency', *detector)
    page = tmp_path / 'page.html'
    run_command('report', str(scores), '--outfile', str(page))
    scored, (line,) = read_lines(scores), read_lines(ranked)
    values = {row['response']: row['score'] for row in scored}
    assert all(0 < value < 1 for value in values.values())
    assert values[texts[0]] != values[texts[1]]
    assert {c['text']: c['score'] for c in line['rerank']} == pytest.approx(values)
    assert ('detector_prompt' in scored[0]['signature']) is (kind == 'judge')
    assert scored[0]['signature'] in page.read_text()


def score(detector):
    preset = with_detector(load_preset('mini'), detector)
    load_scorer('consistency', preset).score([Example('bees have eyes', 'five eyes')])


@pytest.mark.parametrize('detector', ['nobody/no-classifier', 'minicheck'])
def test_a_judge_that_cannot_be_fetched_says_what_to_do(detector, monkeypatch):
    monkeypatch.setenv('HF_HUB_OFFLINE', '1')
    with pytest.raises(
        ModelNotFoundError, match=r'hub cannot be reached.*copy the model to a'
    ):
        score(detector)


def test_a_judge_without_its_prompt_is_told_to_have_one(folder):
    with pytest.raises(ConfigError, match=r'T5ForCond.*preset with its prompt.*minich'):
        score(folder)


@pytest.mark.parametrize('name', ['minicheck', 'trueteacher'])
def test_the_published_judges_are_asked_as_their_authors_do(name):
    section = load_preset(name).model('detector')
    model_read = Seq2SeqNliModel(section, **section.settings)
    assert model_read.words[0] == '1'
    assert model_read.max_tokens == 2048
    assert load_scorer('consistency', name).model.prompt == model_read.prompt
