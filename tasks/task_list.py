"""
The tasks, in the form of ParlAI's own list (``parlai/tasks/task_list.py``).

``task`` is what follows ``-t``; it works wherever parlai_q2 is installed.
"""

from typing import Any

task_list: list[dict[str, Any]] = [
    {
        'id': 'Grounded-Sample',
        'display_name': 'Grounded Sample',
        'task': 'parlai_q2.tasks.grounded_sample.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            '32 short conversations about honeybees, the Moon, chess and more, each '
            'turn with its knowledge, a faithful reply, and an annotated response that '
            'is consistent with the knowledge, inconsistent with it, or generic. It '
            'ships with parlai_q2: no download.'
        ),
        'notes': (
            'AnnotatedTeacher has the annotated responses as labels, so that '
            "'-m repeat_label' replays them. ConsistentTeacher, InconsistentTeacher "
            'and GenericTeacher have one class each; ClassificationTeacher asks for '
            'the class.'
        ),
    },
    {
        'id': 'Q2-WoW',
        'display_name': 'Annotated Wizard of Wikipedia responses of the Q2 paper',
        'task': 'parlai_q2.tasks.q2_wow.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            'Responses of two systems, Dodeca and MemNet, to Wizard of Wikipedia '
            'contexts, annotated for factual consistency with their knowledge: 150 of '
            'each system and class, and 544 contexts annotated for both.'
        ),
        'links': {
            'arXiv': 'https://arxiv.org/abs/2104.08202',
            'github': 'https://github.com/orhonovich/q-squared',
        },
        'notes': (
            'The last part of the task name chooses, e.g. '
            "'parlai_q2.tasks.q2_wow.agents:AnnotatedTeacher:dodeca_inconsistent'."
        ),
    },
    {
        'id': 'Q2-Wizard-of-Wikipedia',
        'display_name': 'Wizard of Wikipedia with Q2',
        'task': 'parlai_q2.tasks.wizard_of_wikipedia.agents',
        'tags': ['ChitChat', 'Knowledge', 'Groundedness'],
        'description': (
            "ParlAI's own knowledge teachers of Wizard of Wikipedia, with each "
            'response scored against the knowledge of its turn.'
        ),
        'links': {'arXiv': 'https://arxiv.org/abs/1811.01241'},
    },
]
