"""What a turn of the reranking agent costs, on an agent that takes no time."""

from parlai_q2.bench.measuring import describe_reranking, measure_reranking

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
