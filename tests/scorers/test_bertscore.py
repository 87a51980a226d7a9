"""BERTScore on a tiny random BERT: against the package itself and by hand."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
import torch

from parlai_q2 import Example, Label, load_scorer
from parlai_q2.errors import ConfigError, ModelError, ModelNotFoundError
from parlai_q2.presets import ModelConfig, load_preset
from tests.tiny import LAYERS, bert_scorer, tiny_bert

bert_score = pytest.importorskip('bert_score')

KNOWLEDGE = 'bees have five eyes , two large and three small .'
RESPONSES = ['they have six eyes', 'bees have five eyes', 'wow !', 'founded in 1969']


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp('bert'))


@pytest.fixture(scope='module')
def scorer(folder):
    return bert_scorer(folder, LAYERS)


def test_it_is_what_the_package_computes(folder, scorer):
    ours = scorer.score([Example(KNOWLEDGE, r) for r in RESPONSES])
    (copied,) = scorer.score([Example(KNOWLEDGE, KNOWLEDGE)])
    assert (copied.value, copied.label) == (pytest.approx(1), Label.CONSISTENT)
    # Without a limit transformers 5 cannot truncate as the package asks.
    settings = Path(folder) / 'tokenizer_config.json'
    limited = json.loads(settings.read_text()) | {'model_max_length': 512}
    settings.write_text(json.dumps(limited))
    theirs = bert_score.score(
        RESPONSES,
        [KNOWLEDGE] * len(RESPONSES),
        model_type=folder,
        num_layers=LAYERS,
        device='cpu',
    )
    for name, column in zip(('precision', 'recall', 'f1'), theirs):
        values = [s.parts[name] for s in ours]
        assert values == pytest.approx(column.tolist(), abs=1e-6)
    assert len({round(s.value, 4) for s in ours}) == len(RESPONSES)
    assert [s.value for s in ours] == [s.parts['f1'] for s in ours]


def test_the_knowledge_is_read_in_lower_case_as_by_the_papers_code(scorer):
    upper, lower = (Example(k, 'bees') for k in (KNOWLEDGE.upper(), KNOWLEDGE))
    assert scorer.score([upper])[0].parts == scorer.score([lower])[0].parts
    assert '|case:knowledge_lower|' in str(scorer.signature)


def test_a_value_below_0_is_cut_and_stays_in_the_parts(tmp_path):
    folder = tiny_bert(tmp_path / 'embeddings')
    # Three directions with 120 degrees between any two, whose cosine is -1/2.
    y = 3**0.5 / 2
    ends = {'[CLS]': (-0.5, -y), '[SEP]': (-0.5, -y)}
    set_embeddings(folder, {'bees': (1, 0), 'eyes': (-0.5, y), **ends})
    scorer = bert_scorer(folder, 0)
    score = scorer.score([Example('eyes eyes', 'bees bees')])[0]
    assert score.parts['f1'] == pytest.approx(-0.5, abs=1e-5)
    assert (score.value, score.label) == (0, Label.INCONSISTENT)


def test_a_text_longer_than_the_model_is_cut_at_its_end(scorer):
    texts = [' '.join(['bees have eyes'] * count) for count in (20, 9)]
    long, same_start = scorer.score([Example(KNOWLEDGE, text) for text in texts])
    assert long.value == same_start.value
    assert long.parts['unread'] == pytest.approx(1 - 22 / 62)
    assert same_start.parts['unread'] == pytest.approx(1 - 22 / 29)


def test_the_signature_says_what_decides_the_number(folder, scorer):
    signature = str(scorer.signature)
    for part in ('num_layers:3', 'rescaled:no', 'idf:no'):
        assert f'|{part}|' in signature
    assert f'|model:{folder}@' in signature
    assert f'|bert_score:{version("bert-score")}|' in signature
    other = bert_scorer(folder, 2)
    assert str(other.signature) != signature


def test_without_a_model_it_is_the_papers():
    default, paper = load_scorer('bertscore'), load_scorer('bertscore', preset='paper')
    assert str(default.signature) == str(paper.signature)
    assert '|model:roberta-large|' in str(default.signature)
    assert '|num_layers:17|rescaled:yes|' in str(default.signature)


def test_begins_model_is_a_preset_with_the_packages_layer_and_baseline():
    scorer = load_scorer('bertscore', preset='bertscore_deberta')
    assert scorer.model == 'microsoft/deberta-xlarge-mnli'
    assert scorer.num_layers == bert_score.utils.model2layers[scorer.model]
    assert '|rescaled:yes|' in str(scorer.signature)


def test_a_preset_may_name_the_model(folder, tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text(f'bertscore: {{model: {folder}, num_layers: 2, batch_size: 8}}')
    scorer = load_scorer('bertscore', preset=str(path))
    assert (scorer.model, scorer.num_layers, scorer.batch_size) == (folder, 2, 8)
    assert load_scorer('bertscore', preset=str(path), batch_size=3).batch_size == 3
    assert 0 < scorer.score([Example(KNOWLEDGE, 'wow !')])[0].value <= 1


def test_a_wrong_layer_says_what_to_give(folder, tmp_path):
    with pytest.raises(ConfigError, match='num_layers is 4'):
        bert_scorer(folder, 4).score([Example(KNOWLEDGE, 'wow')])
    path = tmp_path / 'mine.yaml'
    path.write_text(f'bertscore: {{model: {folder}}}')
    with pytest.raises(ConfigError, match="'mine' must give num_layers"):
        load_scorer('bertscore', preset=path)


def test_a_model_that_cannot_be_fetched_says_what_to_do():
    with pytest.raises(ModelNotFoundError, match='the hub cannot be reached'):
        load_scorer('bertscore').score([Example(KNOWLEDGE, 'wow')])


def test_a_folder_that_is_not_there_or_holds_no_model_is_named(tmp_path):
    absent = bert_scorer(str(tmp_path / 'no'), 1)
    with pytest.raises(ModelNotFoundError, match='no folder'):
        absent.score([Example(KNOWLEDGE, 'wow')])
    (tmp_path / 'empty').mkdir()
    tiny_bert(tmp_path / 'wordless')
    for path in (tmp_path / 'wordless').glob('*[vt]o[ck]*'):
        path.unlink()
    for name in ('empty', 'wordless'):
        scorer = bert_scorer(str(tmp_path / name), 1)
        with pytest.raises(ModelError, match='Cannot load'):
            scorer.score([Example(KNOWLEDGE, 'wow')])


def test_a_revision_is_refused():
    pinned = ModelConfig('roberta-large', 'abc', {'num_layers': 17})
    preset = load_preset('paper').with_model('bertscore', pinned)
    with pytest.raises(ConfigError, match='cannot fetch a revision'):
        load_scorer('bertscore', preset=preset)


def set_embeddings(folder, vectors):
    """Give words the vectors asked for, in two dimensions, and all else nothing."""
    from safetensors.torch import load_file, save_file

    path = f'{folder}/model.safetensors'
    weights = load_file(path)
    words = weights['embeddings.word_embeddings.weight']
    for name in ('word', 'position', 'token_type'):
        weights[f'embeddings.{name}_embeddings.weight'].zero_()
    vocabulary = Path(folder, 'vocab.txt').read_text().split('\n')
    # BERT normalises what it embeds to mean 0 and variance 1. A vector with its
    # negative beside it has mean 0, and all of one length are scaled alike.
    for word, (x, y) in vectors.items():
        words[vocabulary.index(word), :4] = torch.tensor([x, y, -x, -y]).float()
    save_file(weights, path, {'format': 'pt'})
