"""Searches by vectors of a tiny random BERT: a text is nearest to itself."""

import json
from pathlib import Path

import numpy as np
import pytest
import transformers

from parlai_q2.errors import ConfigError, InputError, ModelError
from parlai_q2.models.converted.convert import write_converted
from parlai_q2.retrieve import vectors
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.index import Index, IndexSettings, in_memory
from parlai_q2.retrieve.ranking import Dense, fuse_scores
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.retrieve.search import load_search
from parlai_q2.turns import Passage
from tests.tiny import BEE_WORDS, tiny_bert, word_tokenizer

TEXTS = [
    'The bees have five eyes .',
    'A french chain was founded in 1854 .',
    'It is a large american company .',
    'Two and three have six .',
]


@pytest.fixture(scope='module')
def models(tmp_path_factory):
    """A BERT, the same one converted, and DPR's two encoders."""
    folder = tmp_path_factory.mktemp('models')
    bert = tiny_bert(folder / 'bert', hidden_size=32, num_hidden_layers=2)
    model = transformers.AutoModel.from_pretrained(bert)
    model.config.architectures = ['BertModel']
    model.save_pretrained(folder / 'bare')
    words = word_tokenizer(BEE_WORDS)
    words.save_pretrained(folder / 'bare')
    write_converted(str(folder / 'bare'), folder / 'converted')
    config = transformers.DPRConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    for name in ('DPRContextEncoder', 'DPRQuestionEncoder'):
        getattr(transformers, name)(config).save_pretrained(folder / name)
        words.save_pretrained(folder / name)
    return folder


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('docs').mkdir()
    for n, text in enumerate(TEXTS):
        Path('docs', f'{n}.txt').write_text(text, encoding='utf-8')
    return tmp_path


def made(encoder, name='fused', **changed):
    search, sentences = load_search(name, encoder=str(encoder), **changed)
    return build(
        ['docs'], Path('index'), IndexSettings(sentences=sentences, search=search)
    )[1]


def found(query, k=4, **changed):
    (hits,) = Index('index', **changed).search([query], k)
    return [hit.passage.text for hit in hits]


@pytest.mark.parametrize('kind', ['bare', 'converted'])
def test_a_text_is_nearest_to_itself(models, place, kind):
    made(models / kind)
    for text in TEXTS:
        assert found(text, by='dense')[0] == text
        assert found(text)[0] == text
    assert len(found('bees', by='dense')) == 4  # words alone find one
    assert found('bees', by='words') == [TEXTS[0]]
    assert Index('index').search(['', ' '], 2) == [[], []]


def test_a_converted_encoder_gives_the_same_vectors(models):
    first, other = (
        TextEncoder(str(models / kind)).passages(TEXTS)
        for kind in ('bare', 'converted')
    )
    assert (first * other).sum(1) == pytest.approx(np.ones(4), abs=0.01)  # int8
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_a_batch_is_encoded_as_one_by_one(models):
    encoder = TextEncoder(str(models / 'converted'))
    each = np.concatenate([encoder.queries([text]) for text in TEXTS])
    assert (encoder.queries(TEXTS) == each).all()


def test_queries_lose_their_beginning_and_passages_their_end(models):
    encoder = TextEncoder(str(models / 'bare'))
    long = ' '.join(['bees'] * 300)
    assert (encoder.queries([f'six {long}']) == encoder.queries([long])).all()
    assert (encoder.passages([f'{long} six']) == encoder.passages([long])).all()


def test_reads_pooling_and_normalisation(models, tmp_path):
    folder = tmp_path / 'cls'
    transformers.AutoModel.from_pretrained(models / 'bare').save_pretrained(folder)
    word_tokenizer(BEE_WORDS).save_pretrained(folder)
    kinds = [
        {'type': f'sentence_transformers.models.{n}'}
        for n in ('Transformer', 'Pooling')
    ]
    (folder / 'modules.json').write_text(json.dumps(kinds))
    (folder / '1_Pooling').mkdir()
    pooling = folder / '1_Pooling' / 'config.json'
    pooling.write_text(json.dumps({'pooling_mode_cls_token': True}))
    encoder = TextEncoder(str(folder))
    assert (encoder.pooling, encoder.unit) == ('cls', False)
    pooling.write_text(json.dumps({'pooling_mode_max_tokens': True}))
    with pytest.raises(ModelError, match='max_tokens'):
        TextEncoder(str(folder))
    (folder / 'modules.json').write_text(json.dumps([*kinds, {'type': 'x.Dense'}]))
    with pytest.raises(ModelError, match='Dense'):
        TextEncoder(str(folder))


def test_passages_in_memory_are_found_as_those_of_an_index(models, place):
    encoder = str(models / 'bare')
    made(encoder)
    words, fused = in_memory([Passage(text) for text in TEXTS], encoder)
    for query in (TEXTS[1], 'bees hum', ''):
        for retriever, by in ((words, 'words'), (fused, 'fused')):
            texts = [hit.passage.text for hit in retriever.search([query], 3)[0]]
            assert texts == found(query, 3, by=by)


def test_encodes_only_new_passages(models, place, monkeypatch):
    def read_vectors():
        index = Index('index')
        vectors = index._retriever.dense.vectors
        passages = index.store.passages([int(key) for key in vectors.keys])
        return {p.text: row.tolist() for p, row in zip(passages, vectors.stored)}

    made(models / 'bare')
    before, encoded, encode = read_vectors(), [], TextEncoder.passages

    def spy(self, texts):
        encoded.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(TextEncoder, 'passages', spy)
    Path('docs/1.txt').unlink()
    Path('docs/9.txt').write_text('They have one .', encoding='utf-8')
    made(models / 'bare')
    assert [text for text in encoded if text != '-'] == ['They have one .']
    del before[TEXTS[1]]
    assert before.items() <= read_vectors().items()
    assert found('They have one .', by='dense')[0] == 'They have one .'


def test_a_stopped_run_goes_on(models, place, monkeypatch):
    monkeypatch.setattr(vectors, 'CHUNK', 1)
    batches = []

    def stop(finished, of):
        batches.append(finished)
        if finished == 2:
            raise KeyboardInterrupt

    search, _ = load_search('fused', encoder=str(models / 'bare'))
    for encoded in (stop, lambda finished, of: batches.append(finished)):
        try:
            build(
                ['docs'],
                Path('index'),
                IndexSettings(search=search),
                report_vectors=encoded,
            )
        except KeyboardInterrupt:
            assert not Path('index/index.json').exists()
    assert batches == [1, 2, 3, 4]
    assert all(found(text, by='dense')[0] == text for text in TEXTS)


@pytest.fixture
def stop_at(models, place, monkeypatch):
    """Begins a run that is stopped where a function is called."""

    def run(name):
        def stop(*arguments):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(f'parlai_q2.retrieve.build.{name}', stop)
            with pytest.raises(KeyboardInterrupt):
                made(models / 'bare')

    return run


@pytest.mark.parametrize('is_update', [False, True])
def test_a_new_passage_gets_no_vector_of_one_that_is_gone(models, stop_at, is_update):
    """A run that was stopped had dropped the last document, and kept its vector."""
    if is_update:
        made(models / 'bare')
    else:
        stop_at('checksums')
    Path('docs/3.txt').unlink()
    stop_at('content_digest')
    Path('docs/4.txt').write_text('They have one .')
    made(models / 'bare')
    assert found('They have one .', by='dense')[0] == 'They have one .'


def test_another_encoder_makes_new_vectors(models, place):
    made(models / 'bare')
    old = Index('index').manifest
    made(models / 'converted')
    new = Index('index').manifest
    assert old.encoder != new.encoder
    assert old.vectors != new.vectors
    assert not Path('index', old.vectors).exists()


def test_vectors_of_a_changed_encoder_are_not_searched(models, place, tmp_path):
    folder = tmp_path / 'own'
    tiny_bert(folder)
    made(folder)
    tiny_bert(folder, hidden_size=32)
    load_encoder.cache_clear()
    with pytest.raises(InputError, match='up to date'):
        Index('index')
    assert found('bees', by='words') == [TEXTS[0]]


def test_an_index_of_words_has_no_vectors_to_search(place):
    build(['docs'], Path('index'))
    with pytest.raises(ValueError, match='--encoder'):
        Index('index', by='dense')
    with pytest.raises(InputError, match='no vectors of shipped:q2_mini/retrieval'):
        Index('index', by='dense', encoder='mini')
    with pytest.raises(ConfigError, match='needs an encoder of passages'):
        Index('index', query_encoder='mini')


def test_knn_finds_one_sentence_near_the_mean_of_the_turns(models, place):
    Path('docs/two.txt').write_text(f'{TEXTS[0]} {TEXTS[1]}', encoding='utf-8')
    made(models / 'bare', 'knn')
    index = Index('index')
    assert (index.how.passages, index.how.query) == (1, 'turns')
    assert index.signature.endswith(',query:turns')
    assert {p.text for p in index.store.passages(index.store.keys())} == set(TEXTS)
    turns = [TEXTS[0], 'Wow !', TEXTS[2]]
    query = index.query(turns)
    assert isinstance(index._retriever, Dense)
    encoder = index._retriever.encoder
    (query_vector,) = index._retriever.encode([query])
    assert query_vector == pytest.approx(encoder.queries(turns).mean(0), abs=1e-6)
    near = encoder.passages(TEXTS) @ query_vector
    assert index.search([query], 1)[0][0].passage.text == TEXTS[near.argmax()]


def test_dpr_reads_questions_by_another_encoder(models, place):
    search, _ = load_search('dpr')
    assert (search.encoder, search.query_encoder) == (
        'facebook/dpr-ctx_encoder-single-nq-base',
        'facebook/dpr-question_encoder-single-nq-base',
    )
    passages, questions = (
        str(models / name) for name in ('DPRContextEncoder', 'DPRQuestionEncoder')
    )
    made(passages, 'dpr', query_encoder=questions)
    index = Index('index')
    assert index.signature.endswith(f',query_encoder:{questions}')
    assert index.query(['Hello', 'bees ?']) == 'bees ?'
    (hit,) = index.search(['bees ?'], 1)[0]
    model = transformers.DPRContextEncoder.from_pretrained(passages)
    asker = transformers.DPRQuestionEncoder.from_pretrained(questions)
    words = word_tokenizer(BEE_WORDS)
    expected = asker(**words(['bees ?'], return_tensors='pt')).pooler_output
    products = [
        (model(**words([t], return_tensors='pt')).pooler_output @ expected.T).item()
        for t in TEXTS
    ]
    assert hit.passage.text == TEXTS[int(np.argmax(products))]
    assert hit.score == pytest.approx(max(products), rel=2e-3)  # stored in fp16


def test_scores_by_words_and_by_vectors_are_summed():
    words = [Hit(Passage('a'), 8.0, 1), Hit(Passage('b'), 4.0, 2)]
    found = fuse_scores(words, {1: 0.1, 2: 0.5, 3: 0.6})
    assert [key for key, _ in found] == [2, 3, 1]
    assert found[0][1] == pytest.approx(0.7 * 0.5 + 0.3 * 0.5)
    assert fuse_scores([], {3: 0.6}) == [(3, pytest.approx(0.42))]


def test_the_graph_finds_nearly_all_that_are_nearest(tmp_path, monkeypatch):
    pytest.importorskip('usearch', reason='needs the package usearch, Python 3.11')
    drawn = np.random.default_rng(0).standard_normal((600, 16)).astype(np.float32)
    rows = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    opened = {}
    for kind, most in (('graph', 100), ('exact', 1000)):
        monkeypatch.setattr(vectors, 'EXACT', most)
        vectors.make_vectors(tmp_path / kind, Numbered(len(rows)), Rows(rows))
        opened[kind] = vectors.Vectors.open(tmp_path / kind)
        assert (tmp_path / kind / vectors.GRAPH).exists() == (kind == 'graph')
    hits = []
    for row in rows[:50]:
        near, all_ = opened['graph'].nearest(row, 5), opened['exact'].nearest(row, 5)
        # The scores are inner products in both.
        assert near[0] == pytest.approx(all_[0], abs=0.01)
        hits.append(len({key for key, _ in near} & {key for key, _ in all_}) / 5)
    assert np.mean(hits) > 0.95


class Numbered:
    """A store whose passages are numbers."""

    def __init__(self, size):
        self.size = size

    def documents(self):
        return {}

    def keys(self):
        return list(range(0, 2 * self.size, 2))

    def passages(self, keys):
        return [Passage(str(key // 2)) for key in keys]


class Rows:
    """An encoder of numbers."""

    signature = 'rows'

    def __init__(self, rows):
        self.rows = rows

    def passages(self, texts):
        return self.rows[[int(text) if text != '-' else 0 for text in texts]]
