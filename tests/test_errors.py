"""Errors that cross processes."""

import pickle

import pytest

from parlai_q2.errors import DocumentError, RecordError, UnknownNameError


@pytest.mark.parametrize(
    'error',
    [
        UnknownNameError('scorer', 'precison', ['recall', 'precision']),
        RecordError('pairs.jsonl', 3, 'is not JSON.'),
        DocumentError('faq.pdf', 'is empty'),
    ],
)
def test_errors_keep_their_message_in_another_process(error):
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is type(error)
    assert str(restored) == str(error)
