"""ParlAI agents on a GPU act as they do on the processor."""

import pytest

from tests.agents.rerank_toys import make_agent, reply_to, trained_generator
from tests.devices.pretend_gpu import pretend_gpu

TEXTS = '1 2 3', '4 4 2 1'


@pytest.mark.parametrize(
    'strategies', ['beam:3', 'beam:1,nucleus:2', 'beam:2,delayedbeam:2']
)
def test_candidates_and_choice_are_those_of_the_processor(strategies):
    options = {'candidate_strategies': strategies, 'candidate_seed': 5}
    trained_generator()
    expected = reply_to(make_agent(**options), *TEXTS)
    with pretend_gpu():
        agent = make_agent(**options, no_cuda=False, gpu=0)
        assert next(agent.model.parameters()).is_cuda
        found = reply_to(agent, *TEXTS)
    for gpu, cpu in zip(found, expected, strict=True):
        assert gpu['text'] == cpu['text']
        candidates = [(row['text'], row['strategies']) for row in cpu['rerank']]
        assert [(r['text'], r['strategies']) for r in gpu['rerank']] == candidates
