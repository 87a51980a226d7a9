"""Reranking over ParlAI's various generators, with small random weights."""

import json
from itertools import pairwise

import pytest
import torch
from parlai.agents.rag import modules
from parlai.agents.rag.retrievers import Document, RagRetriever
from parlai.agents.transformer.transformer import TransformerGeneratorAgent
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from transformers import GPT2Config, GPT2Model
from transformers.convert_slow_tokenizer import bytes_to_unicode

from parlai_q2.errors import ConfigError
from tests.agents.hf_models import AGENT as HF
from tests.agents.rerank_toys import AGENT, TOY, make_agent, reply_to, trained_generator
from tests.tiny import tiny_t5

SMALL = {
    'n_layers': 1,
    'n_heads': 1,
    'embedding_size': 16,
    'ffn_size': 16,
    'n_positions': 64,
}
# Of a beam, random weights finish few replies.
SEVERAL = 'beam:4,nucleus:3,delayedbeam:3'
NOTHING_SAID = "I'm not sure about that."
RECURRENT = {'hiddensize': 16, 'embeddingsize': 16}


@pytest.fixture(autouse=True)
def the_same_weights():
    """Random weights do not depend on which test ran before."""
    # Its training draws numbers too, the first time.
    trained_generator()
    torch.manual_seed(1)


def strategies(reply):
    """The searches that found each candidate."""
    return {row['text']: row['strategies'] for row in reply['rerank']}


def check(agent):
    """Each reply of an unsorted batch is the best of its own candidates."""
    replies = reply_to(agent, '1 2', '4 3 2 1 0', '6')
    for reply in replies:
        rows = reply['rerank']
        values = [row['guarded_score'] for row in rows]
        assert values == sorted(values, reverse=True)
        assert rows[0]['text'] == reply['beam_texts'][0][0]
        assert reply['text'] == (rows[0]['text'] or NOTHING_SAID)
        assert len({row['text'] for row in rows}) == len(rows)
    assert sum(len(reply['rerank']) for reply in replies) > 3
    # In a chat, a command is answered.
    chat = agent.clone()
    chat.set_interactive_mode(True)
    chat.observe({'text': '/knowledge 4 3 2', 'episode_done': False})
    assert chat.act()['text'].endswith('stick to this: 4 3 2')
    # The end of a person's input gets no reply, though there is knowledge.
    chat.observe({'episode_done': True})
    assert 'text' not in chat.act()
    return replies


def write_gpt2(folder):
    """Write a random GPT-2 of single bytes."""
    symbols = [*bytes_to_unicode().values(), '<|endoftext|>']
    vocabulary = {symbol: n for n, symbol in enumerate(symbols)}
    (folder / 'vocab.json').write_text(json.dumps(vocabulary), encoding='utf-8')
    (folder / 'merges.txt').write_text('#version: 0.2\n', encoding='utf-8')
    (folder / 'tokenizer_config.json').write_text('{"model_max_length": 64}')
    config = GPT2Config(
        vocab_size=len(symbols), n_embd=16, n_layer=1, n_head=1, n_positions=128
    )
    GPT2Model(config).save_pretrained(folder)
    return str(folder)


ONE_LAYER = {**SMALL, 'n_encoder_layers': 1, 'n_decoder_layers': 1, 'fp16': False}
# By their names: the options on the command line, and what is set where there are none:
# to keep ParlAI from downloading weights, or since only hub names are allowed there.
GENERATORS = {
    'seq2seq': lambda folder: (RECURRENT, {}),
    'hred': lambda folder: (RECURRENT, {}),
    'image_seq2seq': lambda folder: (SMALL, {}),
    'transformer/generator': lambda folder: ({**SMALL, 'variant': 'xlm'}, {}),
    'bart': lambda folder: (ONE_LAYER, {'converting': True}),
    'hugging_face/gpt2': lambda folder: (
        {'model_name': write_gpt2(folder), 'text_truncate': 32, 'label_truncate': 12},
        {},
    ),
    # Searched by ParlAI, so that it gives a list.
    'hugging_face/t5': lambda folder: ({}, {'t5_model_arch': tiny_t5(folder)}),
    # Our own.
    HF: lambda folder: (
        {'hf_model': tiny_t5(folder), 'label_truncate': 12, 'beam_min_length': 1},
        {},
    ),
}


@pytest.mark.parametrize('name', GENERATORS)
def test_generators_of_parlai_and_our_own(name, tmp_path):
    options, set_later = GENERATORS[name](tmp_path)
    defaults = {'label_truncate': 8}
    if not name.startswith('hugging_face') and name != HF:
        dictionary = f'{trained_generator()}.dict'
        defaults |= {'dict_tokenizer': 'space', 'dict_file': dictionary}
    opt = ParlaiParser(True, True).parse_kwargs(
        model=AGENT, generator=name, choose=TOY, explain='none', no_cuda=True,
        guards=False, candidate_strategies=SEVERAL, rerank_by='score',
        **{**defaults, **options},
    )  # fmt: skip
    agent = create_agent({**opt, **set_later})
    assert agent.opt['generator'] == name
    check(agent)


RETRIEVING = {
    'generator': 'rag',
    'generation_model': 'transformer/generator',
    'query_model': 'dropout_poly',
    'n_docs': 2,
    'max_doc_token_length': 16,
    'n_encoder_layers': 1,
    'n_decoder_layers': 1,
    'dict_tokenizer': 'space',
    'text_truncate': 32,
    'label_truncate': 8,
    **SMALL,
}


@pytest.fixture
def two_documents(monkeypatch):
    """Generators that retrieve find the same two documents for each message."""

    class TwoDocuments(RagRetriever):
        def retrieve_and_score(self, query):
            documents = [Document('0', '1 2 3', ''), Document('1', '4 5 6', '')]
            scores = torch.tensor([[1.0, 0.5]])
            return [documents] * len(query), scores.repeat(len(query), 1)

    monkeypatch.setattr(
        modules,
        'retriever_factory',
        lambda opt, dictionary, shared=None: TwoDocuments(opt, dictionary, shared),
    )


def make_retrieving(**options):
    dictionary = f'{trained_generator()}.dict'
    return make_agent(**{**RETRIEVING, 'dict_file': dictionary, **options})


@pytest.mark.parametrize(
    'name, kind', [('rag', 'token'), ('rag', 'sequence'), ('fid', 'token')]
)
def test_uses_the_generators_retrieved_knowledge_if_there_is_no_other(
    name, kind, two_documents
):
    agent = make_retrieving(
        generator=name,
        rag_model_type=kind,
        candidate_strategies='beam:3,nucleus:3',
        rerank_by='score',
    )
    for reply in check(agent):
        assert len(reply['rerank']) <= 6
    with_knowledge, without_knowledge = agent.clone(), agent.clone()
    own_reply, retrieved = agent.batch_act(
        [
            with_knowledge.observe(
                Message({'text': '4 3', 'knowledge': '9 9', 'episode_done': True})
            ),
            without_knowledge.observe(Message({'text': '1 2', 'episode_done': True})),
        ]
    )
    assert own_reply['rerank_knowledge'] == '9 9'
    # The retriever's titles and texts, as ParlAI's Document has them.
    assert retrieved['rerank_knowledge'] == [
        {'title': '0', 'text': '1 2 3'},
        {'title': '1', 'text': '4 5 6'},
    ]
    assert all(row['score'] is not None for row in retrieved['rerank'])


@pytest.mark.parametrize(
    'options',
    [{'rag_model_type': 'sequence'}, {'regret': True}],
    ids=['sequence', 'regret'],
)
def test_several_searches_give_the_same_candidates_batched_and_alone(
    options, two_documents
):
    agent = make_retrieving(**options, candidate_strategies='nucleus:3', temperature=3)
    together = reply_to(agent, '4 3 2 1', '1 2')
    for text, reply in zip(('4 3 2 1', '1 2'), together, strict=True):
        (alone,) = reply_to(agent, text)
        texts = [row['text'] for row in alone['rerank']]
        assert [row['text'] for row in reply['rerank']] == texts


class LearnsFromWhatItSays(TransformerGeneratorAgent):
    """Searches for its loss too, as unlikelihood training does."""

    def compute_loss(self, batch, return_output=False):
        self._generate(batch, self.beam_size, self.label_truncate)
        return super().compute_loss(batch, return_output)


def test_searches_for_a_loss_are_not_reranked():
    agent = make_agent(
        generator=f'{__name__}:LearnsFromWhatItSays', model_file=trained_generator()
    )
    (reply,) = reply_to(agent, '1 2', eval_labels=['1 2'])
    assert reply['metrics']['loss'].value() > 0
    assert reply['metrics']['rerank/distinct'].value() == len(reply['rerank'])
    assert len(agent.reranker.chooser.batches) == 1


def test_a_generator_that_gives_no_list_is_refused(monkeypatch):
    agent = make_agent()
    monkeypatch.setattr(
        TransformerGeneratorAgent, '_generate', lambda self, *args, **kwargs: ([], [])
    )
    with pytest.raises(ConfigError, match='cannot be reranked'):
        reply_to(agent, '1 2')


# A high temperature, since the little generator is very sure of itself.
MANY = {'candidate_strategies': 'beam:4,nucleus:8,delayedbeam:2', 'temperature': 3}
TEXTS = ('1 2 3 4', '3 3', '5 1 6 2 4')


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'beam_block_ngram': 1},
        {'beam_min_length': 3},
        {'label_truncate': 2},
        {'candidate_strategies': 'beam:2/6,delayedbeam:1/3'},
    ],
    ids=lambda options: next(iter(options), 'plain'),
)
def test_every_kind_of_search_gives_the_same_batched_and_alone(options):
    agent = make_agent(**{**MANY, **options})
    for reply, text in zip(reply_to(agent, *TEXTS), TEXTS, strict=True):
        (alone,) = reply_to(agent, text)
        assert reply['text'] == alone['text']
        assert list(strategies(reply).items()) == list(strategies(alone).items())


def test_pairs_of_the_context_stay_blocked():
    agent = make_agent(**MANY, beam_context_block_ngram=2)
    for reply, text in zip(reply_to(agent, *TEXTS), TEXTS, strict=True):
        pairs = set(pairwise(text.split()))
        assert all(
            pairs.isdisjoint(pairwise(row['text'].split())) for row in reply['rerank']
        )


def test_mixed_batches_give_the_same_candidates_as_single_examples():
    agent = make_agent(**MANY)
    known = [{'knowledge': '1 2 3'}, {}, {'knowledge': '4 5 6'}]
    batch = [
        agent.clone().observe({'text': text, 'episode_done': True, **fields})
        for text, fields in zip(TEXTS, known, strict=True)
    ]
    _, unknowing, last = map(strategies, agent.batch_act(batch))
    (alone,) = reply_to(agent, TEXTS[2], knowledge='4 5 6')
    assert last == strategies(alone)
    assert all(names == ['beam'] for names in unknowing.values())


def test_outputs_begin_with_the_tokens_that_each_must_begin_with(monkeypatch):
    agent = make_agent(candidate_strategies='beam:2,nucleus:2', temperature=3)
    begins = [agent.dict[digit] for digit in '615']
    monkeypatch.setattr(
        agent, 'get_prefix_tokens', lambda batch: torch.tensor(begins).unsqueeze(1)
    )
    for reply, digit in zip(reply_to(agent, *TEXTS), '615', strict=True):
        assert all(row['text'].startswith(digit) for row in reply['rerank'])
