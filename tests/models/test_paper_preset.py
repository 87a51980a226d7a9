"""The loading code of the paper preset on tiny models of its three architectures."""

import pytest
import yaml

from parlai_q2 import Example, load_preset, load_scorer
from parlai_q2.errors import ConfigError, ModelNotFoundError
from parlai_q2.models.question_generation import question_prompt
from parlai_q2.scorers.q2 import Q2Scorer
from tests.tiny import tiny_albert, tiny_roberta, tiny_t5

KNOWLEDGE = 'Red Hot Chili Peppers are a funk rock band formed in Los Angeles in 1983.'
RESPONSE = 'they are a punk band formed in la in 1990.'


@pytest.fixture(scope='module')
def preset(tmp_path_factory):
    folder = tmp_path_factory.mktemp('paper')
    for name in ('t5', 'albert', 'roberta'):
        (folder / name).mkdir()
    nli = {'model': tiny_roberta(folder / 'roberta'), 'max_tokens': 64}
    sections = {
        'question_generation': {'model': tiny_t5(folder / 't5'), 'max_new_tokens': 8},
        'question_answering': {**nli, 'model': tiny_albert(folder / 'albert')},
        'nli': nli,
        'detector': nli,
    }
    as_in_paper = {name: {**s, 'settings': 'base'} for name, s in sections.items()}
    path = folder / 'tiny.yaml'
    path.write_text(yaml.safe_dump({'base': 'paper', **as_in_paper}))
    return str(path)


def test_the_papers_prompt_ends_with_one_end_token(preset):
    generator = load_scorer('q2', preset).models.generator
    writer = generator._loaded()
    (ids,) = writer.inputs([question_prompt('la', 'in la .')], 30)
    assert writer.tokenizer.convert_ids_to_tokens(ids) == (
        'answer : la context : in la . </s>'.split()
    )


def test_q2_runs_end_to_end_and_a_batch_equals_each_alone(preset):
    scorer = load_scorer('q2', preset, variant='multi', personal_filter=False)
    examples = [Example(KNOWLEDGE, r) for r in (RESPONSE, 'wow', 'the band in la')]
    batch = scorer.score(examples)
    for example, score in zip(examples, batch, strict=True):
        alone = scorer.score([example])[0]
        assert alone.value == pytest.approx(score.value, abs=1e-5)
        assert [v.question for v in alone.claims] == [v.question for v in score.claims]


def test_a_text_longer_than_the_model_is_read_whole(preset):
    answerer = load_scorer('q2', preset).models.answerer
    text = 'wow . ' * 200 + 'it was formed in 1983 .'
    answerer.answer([('when was it formed ?', text)])  # windows, not a crash
    nli = load_scorer('nli', preset).model
    assert sum(nli.classify([(text, RESPONSE)])[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    'model, message',
    [
        ('/nowhere/t5', '/nowhere'),
        ('no-such-owner/no-such-model', 'the hub cannot be reached.*mini'),
        ('shipped:q2_mini/none', 'none'),
    ],
)
def test_a_model_that_is_not_there_says_what_to_do(
    preset, tmp_path, monkeypatch, model, message
):
    monkeypatch.setenv('HF_HUB_OFFLINE', '1')
    path = tmp_path / 'broken.yaml'
    path.write_text(f'base: {preset}\nquestion_generation: {{model: {model}}}')
    scorer = load_scorer('q2', str(path))  # nothing is loaded yet
    with pytest.raises(ModelNotFoundError, match=message):
        scorer.score([Example(KNOWLEDGE, RESPONSE)])


def test_a_missing_section_is_named(tmp_path):
    path = tmp_path / 'p.yaml'
    path.write_text('name: x\nnli: {model: y}')
    with pytest.raises(ConfigError, match='question_generation'):
        Q2Scorer.from_preset(load_preset(str(path)))
