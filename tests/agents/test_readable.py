"""Halves of surrogate pairs, which terminals and JSON can send, stop at the agents."""

from parlai.core.message import Message

from parlai_q2.parlai.model_files import readable


def test_texts_are_mended_and_nothing_else_is_touched():
    sent = Message({'text': 'bees \ud83d!', 'knowledge': 'k', 'n': 1})
    read = readable(sent)
    assert read == {**sent, 'text': 'bees \ufffd!'}
    assert isinstance(read, Message)
    assert sent['text'] == 'bees \ud83d!'
