"""What the tests of the mutators share: a task's messages under mutators."""

from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher, create_task_agent_from_taskname

import parlai_q2.parlai  # noqa: F401
from tests.filtering.toys import SCORER, TASK, WordScorer


def make_opt(mutators, task=TASK, datatype='train:evalmode', **options):
    if mutators:
        options = {'choose': SCORER, 'mutators': mutators, **options}
    return ParlaiParser(True, True).parse_kwargs(
        task=task, datatype=datatype, **options
    )


def make_teacher(mutators, **options):
    WordScorer.made.clear()
    return create_task_agent_from_taskname(make_opt(mutators, **options))[0]


def messages(mutators, **options):
    """All that a teacher says in one pass."""
    teacher = make_teacher(mutators, **options)
    return [m for m in teacher if not m.is_padding()]


def texts(mutated):
    return [m['text'] for m in mutated]


def label(message):
    return (message.get('labels') or message['eval_labels'])[0]


def scored():
    """What the scorers that were made since the last teacher have scored."""
    return [response for scorer in WordScorer.made for response in scorer.scored]


class Listed(DialogTeacher):
    """A task of listed turns, each with whether it begins an episode."""

    turns: list = []

    def __init__(self, opt, shared=None):
        opt['datafile'] = f'{opt["datapath"]}/{type(self).__name__}'
        super().__init__(opt, shared)
        self.id = opt['task']

    def setup_data(self, datafile):
        for turn, begins in self.turns:
            yield Message(turn), begins

    # ParlAI counts a stream by writing a file beside the data.
    def num_examples(self):
        return len(self.turns)

    def num_episodes(self):
        return sum(begins for _, begins in self.turns)
