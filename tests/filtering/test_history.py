"""A turn that goes leaves no trace but in the history of those after it."""

import pytest
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser

from parlai_q2.filtering.conversation import split_at_gaps
from tests.filtering.toys import FIVE


def texts(mask, messages=FIVE):
    keep = [letter == 'k' for letter in mask]
    return [[m['text'] for m in part] for part in split_at_gaps(messages, keep)]


@pytest.mark.parametrize(
    'mask, expected',
    [
        ('kkkkk', [['one', 'two', 'three', 'four', 'five']]),
        ('.....', []),
        ('kkkk.', [['one', 'two', 'three', 'four']]),
        ('.kkkk', [['one\nb b\ntwo', 'three', 'four', 'five']]),
        ('k.k..', [['one'], ['one\nb b\ntwo\nx x\nthree']]),
        ('k...k', [['one'], ['one\nb b\ntwo\nx x\nthree\na x\nfour\nhello\nfive']]),
    ],
)
def test_what_follows_a_gap_has_all_before_it_in_its_first_text(mask, expected):
    assert texts(mask) == expected


def read_by_a_model(agent, episodes):
    """What a ParlAI model reads, as tokens and as text, by label."""
    histories = {}
    for conversation_turns in episodes:
        agent.reset()
        for n, message in enumerate(conversation_turns):
            is_last = n == len(conversation_turns) - 1
            observed = agent.observe(Message({**message, 'episode_done': is_last}))
            read = observed['text_vec'].tolist(), observed['full_text']
            histories[observed['labels'][0]] = read
            agent.self_observe(Message({'text': 'what the model said instead'}))
    return histories


def test_a_parlai_model_reads_the_same_history():
    opt = ParlaiParser(True, True).parse_kwargs(
        model='transformer/generator',
        dict_tokenizer='re',
        n_layers=1,
        n_heads=1,
        embedding_size=8,
        ffn_size=8,
        no_cuda=True,
        datatype='train',
        lr_scheduler='fixed',
    )
    agent = create_agent(opt)
    for message in FIVE:
        for word in f'{message["text"]} {message["labels"][0]}'.split():
            agent.dict.add_token(word)
    whole = [{k: v for k, v in m.items() if k != 'episode_done'} for m in FIVE]
    expected = read_by_a_model(agent, [whole])
    for mask in ('k.k.k', '.k.kk', '..k..'):
        keep = [letter == 'k' for letter in mask]
        histories = read_by_a_model(agent, split_at_gaps(FIVE, keep))
        assert histories == {
            m['labels'][0]: expected[m['labels'][0]]
            for m, stays in zip(FIVE, keep)
            if stays
        }
