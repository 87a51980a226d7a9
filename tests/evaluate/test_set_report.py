"""The report of every annotated set is as recorded in the folder beside this file."""

import pytest

from parlai_q2.claims import Score
from parlai_q2.evaluate.evaluation import evaluate
from parlai_q2.evaluate.set_reader import read_set
from parlai_q2.evaluate.set_report import SetReport, to_text
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.overlap import token_overlap
from parlai_q2.version import __version__
from tests.tasks.recording import RecordingScorer


class OverlapClasses(Scorer):
    """Gives each class a probability by the words that a response shares."""

    name = 'consistency'
    settings = {'fitted_with': 'mini'}

    def score_texts(self, examples):
        scores = []
        for example in examples:
            value = token_overlap(example.knowledge_text, example.response).precision
            rest = 1 - value
            parts = {'entailment': value, 'neutral': 0.7 * rest}
            parts |= {'contradiction': 0.2 * rest, 'generic': 0.1 * rest}
            label = label_of(value, 0.5) if value else 'generic'
            scores.append(Score(value, label, parts=parts))
        return scores


@pytest.mark.parametrize(
    'task',
    [
        *('q2_wow', 'q2_wow:dodeca', 'begin', 'begin:test', 'dialogue_nli:gold'),
        *('rome:expert', 'rome:crowd', 'topical_chat_usr', 'twins:time:units'),
    ],
)
def test_the_report_of_a_set_is_as_recorded(placed, file_regression, task):
    scorers = {'q2': RecordingScorer(), 'consistency': OverlapClasses()}
    variants = {'greedy': RecordingScorer()} if task.startswith('q2_wow') else None
    annotated = read_set(task, str(placed))
    run = evaluate(annotated, scorers, variants=variants, rounds=20)
    _, _, tables = to_text([SetReport(run)]).partition('\n\n')
    tables = tables.replace(f'version:{__version__}', 'version:0.0.0')
    file_regression.check(tables, basename=task.replace(':', '_'))
