"""Small annotated sets and measures."""

from parlai_q2.claims import Score
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import ScoreTable
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet

GOOD, BAD, GENERIC = 'consistent', 'inconsistent', 'generic'


def annotated(number, label=GOOD, **fields):
    return AnnotatedResponse(
        f'knowledge {number}', f'response {number}', label, **fields
    )


def measure(responses, values, name='mine', threshold=0.5, labels=None):
    labels = labels or ['any'] * len(values)
    scores = {
        getattr(r, 'pair', r): Score(value, label)
        for r, value, label in zip(responses, values, labels, strict=True)
    }
    return ScoreTable(name, f'{name}|made:by hand', threshold, scores)


def evaluation(responses, values, name='small', crossed=(), rounds=50, **fields):
    responses = tuple(responses)
    annotated_set = AnnotatedSet(name, f'a {name} set', responses, crossed)
    scored = dict.fromkeys([*responses_of(crossed), *responses])
    measures = (measure(list(scored), list(values)),)
    return Evaluation(annotated_set, measures, rounds=rounds, **fields)


def responses_of(crossed):
    return [r for context in crossed for r in context]
