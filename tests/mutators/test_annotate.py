"""``q2_annotate``: messages with the score of their label."""

import json

from parlai.core.teachers import register_teacher

from parlai_q2.claims import Score
from tests.mutators.running import Listed, label, messages, scored


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
