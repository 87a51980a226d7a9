"""Halves of surrogate pairs, which terminals and JSON can send, stop at the agents."""

from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser

from parlai_q2.parlai.readable import readable

GENERATOR = 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent'


def test_texts_are_mended_and_nothing_else_is_touched():
    sent = Message({'text': 'bees \ud83d!', 'knowledge': 'k', 'n': 1})
    read = readable(sent)
    assert read == {**sent, 'text': 'bees \ufffd!'}
    assert isinstance(read, Message) and sent['text'] == 'bees \ud83d!'


def test_the_generator_that_ships_answers_a_cut_emoji():
    words = ['-m', GENERATOR, '--no-cuda', '--beam-size', '1', '--beam-min-length', '1']
    agent = create_agent(ParlaiParser(True, True).parse_args(words))
    agent.observe({'text': 'How many eyes? \ud83d', 'episode_done': False})
    assert agent.act()['text']
