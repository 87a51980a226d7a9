"""The consistency agent's logic, on scorers that give what a test tells them."""

import pytest
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Score
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.scorers.base import Scorer
from tests.files import read_lines

AGENT = 'parlai_q2.agents.consistency.consistency:ConsistencyAgent'
SAMPLE = 'parlai_q2.tasks.grounded_sample.agents:ClassificationTeacher'
BEGIN = ['Fully attributable', 'Not fully attributable', 'Generic']
FINDINGS = ('entailment', 'neutral', 'contradiction', 'generic')
# A response is the probabilities that it is given.
ENTAILED, UNSUPPORTED, DENIED, CHAT = '7 1 1 1', '2 4 2 2', '1 2 5 2', '2 1 1 6'


class Told(Scorer):
    """Reads a score out of the response."""

    name = 'told'
    parts = True
    made: list['Told'] = []

    def __init__(self, threshold: float = 0.5):
        self.threshold = threshold
        self.calls: list[int] = []
        self.made.append(self)

    @property
    def settings(self):
        return {}

    def score_texts(self, examples):
        if examples:
            self.calls.append(len(examples))
        return [self._score(e.response) for e in examples]

    def _score(self, response):
        if self.parts:
            values = [int(n) / 10 for n in response.split()]
            value = (1 + values[0] - values[2]) / 2
            return Score(value, Label.CONSISTENT, parts=dict(zip(FINDINGS, values)))
        if response == 'nothing':
            return Score(NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE)
        value = float(response)
        label = Label.CONSISTENT if value > self.threshold else Label.INCONSISTENT
        return Score(value, label)


class ToldANumber(Told):
    parts = False


TOLD, TOLD_A_NUMBER = f'{__name__}:Told', f'{__name__}:ToldANumber'


def agent(**options):
    chat = options.pop('interactive_mode', False)
    options = {'model': AGENT, 'measure': TOLD, 'datatype': 'valid', **options}
    opt = ParlaiParser(True, True).parse_kwargs(**options)
    return create_agent({**opt, 'interactive_mode': chat})


def ask(responses, candidates=BEGIN, **options):
    """The answers of an agent to a batch."""
    model = agent(**options)
    fields = {'label_candidates': candidates} if candidates else {}
    messages = [{'text': f'k\n{r}', 'episode_done': True, **fields} for r in responses]
    return model.batch_act([model.clone().observe(m) for m in messages])


def answers(responses, *args, **options):
    return [reply['text'] for reply in ask(responses, *args, **options)]


def test_a_message_without_a_true_label_has_no_metrics():
    message = {'text': f'k\n{ENTAILED}', 'label_candidates': BEGIN, 'labels': [None]}
    model = agent()
    (reply,) = model.batch_act([model.observe({**message, 'episode_done': True})])
    assert reply['text'] == BEGIN[0]
    assert 'metrics' not in reply


@pytest.mark.parametrize(
    'candidates, expected, why',
    [
        (BEGIN, [BEGIN[0], BEGIN[1], BEGIN[1], BEGIN[2]], 'unsupported is not either'),
        (
            ['inconsistent', 'consistent'],
            ['consistent', 'inconsistent', 'inconsistent', 'consistent'],
            'without generic, entailment is the likeliest output of the last',
        ),
        (
            ['positive', 'neutral', 'negative'],
            ['positive', 'neutral', 'negative', 'positive'],
            'a class for each',
        ),
        (
            None,
            ['consistent', 'inconsistent', 'inconsistent', 'generic'],
            'words of our own where the task has none',
        ),
    ],
)
def test_the_answer_is_one_of_the_tasks_own_classes(candidates, expected, why):
    assert answers([ENTAILED, UNSUPPORTED, DENIED, CHAT], candidates) == expected, why


def test_a_class_map_and_class_names_may_be_given():
    options = {'class_map': 'generic=yes,entailment=yes,neutral=no,contradiction=no'}
    labels = answers([ENTAILED, DENIED, CHAT], ['no', 'yes'], **options)
    assert labels == ['yes', 'no', 'yes']
    labels = answers([CHAT], None, classes=['entailment', 'contradiction'])
    assert labels == ['entailment']
    with pytest.raises(UnknownNameError, match="'yes'"):
        answers([ENTAILED], BEGIN, **options)


def test_a_scorer_of_one_number_has_its_own_threshold():
    def said(text, **options):
        return answers([text], measure=TOLD_A_NUMBER, **options)[0]

    assert said('0.51') == BEGIN[0]
    assert said('0.5') == BEGIN[1]
    assert said('0.4', measure_threshold=0.3) == BEGIN[0]
    assert said('nothing') == BEGIN[2], 'nothing to verify is generic'
    two = answers(['nothing'], BEGIN[:2], measure=TOLD_A_NUMBER)
    assert two == [BEGIN[1]], 'where there is no such class, 0.5 is not above 0.5'
    with pytest.raises(ConfigError, match='Leave out --measure-threshold'):
        answers([ENTAILED], measure_threshold=0.5)


def test_a_batch_is_scored_in_one_call_and_copies_share_the_scorer():
    Told.made.clear()
    assert len(ask([ENTAILED, DENIED, CHAT])) == 3
    [scorer] = Told.made
    assert scorer.calls == [3]


def test_padding_and_nothing_get_an_empty_answer():
    model = agent()
    observed = model.observe({'text': f'k\n{ENTAILED}', 'episode_done': True})
    replies = model.batch_act([None, {'batch_padding': True}, observed])
    assert ['text' in reply for reply in replies] == [False, False, True]
    assert model.batch_act([]) == []


def test_chat_explains_how_to_ask():
    model = agent(interactive_mode=True)
    model.observe({'text': 'hello'})
    assert 'line break' in model.act()['text']
    model.observe({'text': f'k\n{ENTAILED}'})
    reply = model.act()
    assert reply['text'] == 'Predicted class: consistent\nwith probability: 0.7'
    assert 'metrics' not in reply


def test_the_shipped_detector_classifies_the_sample(tmp_path):
    log = tmp_path / 'log.jsonl'
    report = EvalModel.main(
        model=AGENT,
        task=SAMPLE,
        datatype='valid',
        batchsize=16,
        num_examples=32,
        world_logs=str(log),
        save_format='conversations',
    )
    assert report['exs'].value() == 32
    assert report['accuracy'].value() > 0.75
    assert report['macro_f1'].value() > 0.8
    assert report['class_generic_recall'].value() > 0.8
    turn = read_lines(log)[0]['dialog'][0]
    assert turn[1]['consistency']['probabilities'].keys() == {
        'consistent',
        'inconsistent',
        'generic',
    }
