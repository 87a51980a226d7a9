"""A scorer that counts what it scores, and a task with knowledge."""

import tempfile

from parlai.core.loader import register_teacher
from parlai.core.teachers import DialogTeacher

from parlai_q2.claims import Label, Score, not_verifiable
from parlai_q2.scorers.base import Scorer

SCORER = f'{__name__}:WordScorer'
TASK = 'filter_toy'


class WordScorer(Scorer):
    """
    The share of a response's words that its knowledge has.

    ``hello`` is generic, and nothing can be verified in a question.
    """

    name = 'filter_toy'
    has_models = True
    made: list['WordScorer'] = []

    def __init__(
        self, threshold: float = 0.5, device: str = 'cpu', batch_size: int = 0
    ):
        self.threshold, self.device = threshold, device
        self.calls: list[list[str]] = []
        self.made.append(self)

    @property
    def settings(self):
        return {}

    def score_texts(self, examples):
        self.calls.append([e.response for e in examples])
        return [self._score(e) for e in examples]

    def _score(self, example):
        signature = str(self.signature)
        if example.response == 'hello':
            return Score(0.5, Label.GENERIC, signature=signature)
        if example.response.endswith('?'):
            return not_verifiable(signature)
        words = example.response.split()
        value = sum(w in example.knowledge_text.split() for w in words) / len(words)
        label = Label.CONSISTENT if value > self.threshold else Label.INCONSISTENT
        return Score(value, label, parts={'words': value}, signature=signature)

    @property
    def scored(self):
        return [response for call in self.calls for response in call]


def episode(*turns):
    """An episode of (text, knowledge, label, ...) turns."""
    return [
        {
            'id': 'task',
            'text': text,
            'labels': list(labels),
            'episode_done': n == len(turns) - 1,
            **({} if knowledge is None else {'knowledge': knowledge}),
        }
        for n, (text, knowledge, *labels) in enumerate(turns)
    ]


# By the word scorer: b b is grounded, x x is not, a x is at the threshold.
FIVE = episode(
    ('one', 'a b c', 'b b'),
    ('two', 'a b c', 'x x'),
    ('three', 'a b c', 'a x'),
    ('four', 'a b c', 'hello'),
    ('five', 'a b c', 'c c c'),
)


@register_teacher(TASK)
class ToyTeacher(DialogTeacher):
    """
    Twelve conversations of three turns; the middle reply of every second one says what
    its knowledge does not. Other folds have three conversations.
    """

    conversations = 12

    def __init__(self, opt, shared=None):
        self.fold = opt['datatype'].split(':')[0]
        # ParlAI writes the number of examples beside the file.
        opt['datafile'] = f'{tempfile.mkdtemp()}/toy'
        super().__init__(opt, shared)
        self.id = TASK

    def setup_data(self, datafile):
        for n in range(self.conversations if self.fold == 'train' else 3):
            for turn in range(3):
                wrong = turn == 1 and n % 2
                yield (
                    {
                        'text': f'{self.fold} {n} {turn}',
                        'labels': [f'lie {n}' if wrong else f'fact {n} {turn}'],
                        'knowledge': f'fact {n} 0 1 2',
                        'title': f'topic {n}',
                    },
                    turn == 0,
                )


def said(conversations):
    """The (first, second) texts of conversations."""
    return [
        [
            (asked['text'], answered['text'])
            for asked, answered in conversation['dialog']
        ]
        for conversation in conversations
    ]
