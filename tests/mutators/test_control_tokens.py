"""``q2_control_tokens``: measured in training, the best elsewhere."""

import pytest

from tests.mutators.running import label, make_teacher, messages, scored, texts

BEST = '<no-first-person> <high-prec> <entailed>'
LIE = '<no-first-person> <low-prec> <non-entailed>'
NAME = 'q2_control_tokens'


def training(**options):
    """A pass over the training fold."""
    teacher = make_teacher(NAME, datatype='train:ordered', **options)
    return [teacher.act() for _ in range(36)]


def test_in_training_the_tokens_tell_what_the_label_is_like():
    # Facts are their knowledge's words and entailed; of 'lie n', one word in two is.
    for message in training():
        lie = 'lie' in label(message)
        assert message['text'].startswith((LIE if lie else BEST) + ' train ')


def test_what_is_entailed_is_by_the_threshold_that_was_chosen():
    for message in training(choose_threshold=0.4):
        assert '<entailed>' in message['text']


@pytest.mark.parametrize('datatype', ['valid', 'test', 'train:evalmode'])
def test_elsewhere_they_ask_for_the_best_and_nothing_is_scored(datatype):
    plain = messages(None, datatype=datatype)
    mutated = messages(NAME, datatype=datatype)
    assert scored() == []
    assert mutated == [{**m, 'text': f'{BEST} {m["text"]}'} for m in plain]


def test_after_flatten_the_tokens_stand_before_the_whole_context():
    teacher = make_teacher(f'flatten+{NAME}', datatype='train:ordered')
    mutated = texts([teacher.act() for _ in range(3)])
    assert mutated[2].startswith(f'{BEST} train 0 0\nfact 0 0\ntrain 0 1')
    assert mutated[2].count('<entailed>') == 1
