"""``q2_annotate`` and ``q2_control_tokens``: what a label is like, with its message."""

import json

import pytest
from parlai.core.teachers import register_teacher

from parlai_q2.claims import Score
from tests.mutators.running import Listed, label, make_teacher, messages, scored, texts


def test_messages_have_score_label_and_evidence():
    for message in messages('q2_annotate'):
        # 'fact n t' stands in its knowledge; of 'lie n', n does.
        lie = 'lie' in label(message)
        assert message['q2_score'] == (0.5 if lie else 1.0)
        expected = 'inconsistent' if lie else 'consistent'
        assert message['q2_score_label'] == expected
        score = Score.from_dict(message['q2_evidence'])
        assert score.value == message['q2_score']
        assert score.signature
        json.dumps(message['q2_evidence'])


def test_labels_are_by_the_threshold_that_was_chosen():
    mutated = messages('q2_annotate', choose_threshold=0.4)
    assert {message['q2_score_label'] for message in mutated} == {'consistent'}


def test_all_folds_are_annotated_and_scored_once():
    assert all('q2_score' in m for m in messages('q2_annotate', datatype='valid'))
    messages('q2_annotate+q2_filter')
    assert len(scored()) == len(set(scored()))


@register_teacher('bare')
class Bare(Listed):
    turns = [
        ({'text': 'no knowledge', 'labels': ['a']}, True),
        ({'text': 'no label', 'knowledge': 'a'}, True),
        ({'text': 'both', 'labels': ['a'], 'knowledge': 'a'}, True),
    ]


def test_what_has_no_knowledge_or_label_has_no_score():
    mutated = messages('q2_annotate', task='bare')
    assert [m['q2_score'] for m in mutated] == [None, None, 1.0]
    labels = ['not_verifiable', None, 'consistent']
    assert [m['q2_score_label'] for m in mutated] == labels


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
