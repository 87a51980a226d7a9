"""A ParlAI task of JSON lines whose replies Q² scores: ``-t my_tasks.museum``."""

import json

from parlai.core.teachers import DialogTeacher

from parlai_q2.parlai.q2_teacher import Q2TeacherMixin


class DefaultTeacher(Q2TeacherMixin, DialogTeacher):
    """Questions of visitors, each with the sentence that the guide may speak from."""

    def __init__(self, opt, shared=None):
        opt['datafile'] = 'museum.jsonl'
        super().__init__(opt, shared)
        self.id = 'museum'

    def setup_data(self, datafile):
        with open(datafile, encoding='utf-8') as lines:
            for line in lines:
                turn = json.loads(line)
                message = {
                    'text': turn['question'],
                    'labels': [turn['answer']],
                    'checked_sentence': turn['fact'],
                }
                yield message, True  # each question begins a conversation
