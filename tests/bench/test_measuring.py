"""What the benchmark counts and times, on toys."""

from parlai_q2.bench.measuring import (
    STAGES,
    StageClock,
    as_published,
    describe_reranking,
    measure_reranking,
    watch,
)
from parlai_q2.presets import load_preset
from parlai_q2.q2.metric import Q2Models, q2
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers import load_scorer
from parlai_q2.turns import Example, Span
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

PAIRS = [('it was formed in 1983', 'formed in 1983'), ('in la', 'it was in la')]
EXAMPLES = [Example(*pair) for pair in PAIRS]


def years(responses):
    """The last word of each response."""
    numbers = []
    for response in responses:
        start = response.rindex(' ') + 1
        numbers.append([Span(response[start:], start, len(response))])
    return numbers


def models():
    return Q2Models(ToyQuestionGenerator(), ToyQuestionAnswerer(), ToyNliModel(), years)


def test_watched_models_give_the_same_and_each_stage_has_its_time():
    clock = StageClock()
    watched = watch(models(), clock, EXAMPLES)
    assert q2(EXAMPLES, watched, Q2Settings()) == q2(EXAMPLES, models(), Q2Settings())
    assert set(clock.seconds) == set(STAGES)


def test_the_loop_of_the_published_code_is_run_by_transformers():
    published = as_published(load_preset('mini'))
    generator = load_scorer('q2', published).models.generator
    assert generator.engine == 'transformers-float32'
    assert published.model('detector') == load_preset('mini').model('detector')


TURNS = [('knowledge one', 'hello'), ('knowledge two', 'and then?')]


class Reranker:
    def rank_batch(self, *observations):
        return [len(observations)]


class Agent:
    """Notes what it is told, and replies from ever more candidates."""

    def __init__(self):
        self.reranker, self.seen = Reranker(), []

    def reset(self):
        self.seen.append('reset')

    def observe(self, message):
        self.seen.append((message['knowledge'], message['text']))

    def explained(self, reply):
        assert reply['rerank']

    def act(self):
        assert self.reranker.rank_batch('an observation') == [1]
        return {'rerank': [{}] * len(self.seen)}


def test_every_turn_is_a_conversation_of_its_own_and_the_first_warms_up():
    agent = Agent()
    timings = measure_reranking(agent, TURNS)
    assert agent.seen == ['reset', TURNS[0], 'reset', TURNS[0], 'reset', TURNS[1]]
    # Four and six candidates; the two of the turn that warmed up do not count.
    assert (timings['turns'], timings['distinct_candidates']) == (2, 5)
    assert timings['explain']['max'] >= timings['explain']['min'] >= 0
    for part in (timings['generate'], timings['score']):
        assert 0 < part['min'] <= part['median'] <= part['max']
    assert timings['score_over_generate'] > 0
    description = describe_reranking('q2', timings)
    assert 'rank_batch' not in vars(agent.reranker), 'it is as it was'
    assert 'Reranking 2 turns by q2, 5.0 distinct candidates a turn' in description
