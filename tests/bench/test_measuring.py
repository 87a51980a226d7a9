"""What the benchmark counts and times, on toys."""

import pytest

from parlai_q2.bench.measuring import (
    STAGES,
    StageClock,
    as_published,
    describe_metric,
    differences,
    measure_batched,
    measure_loop,
    watch,
)
from parlai_q2.presets import load_preset
from parlai_q2.q2.metric import Q2Models, q2
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.q2 import Q2Scorer
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


def test_the_loop_gives_what_the_batch_gives_and_is_told_of_beside_it():
    scorer = Q2Scorer(models())
    report, batch = measure_batched(scorer, EXAMPLES, rounds=1)
    assert (report['responses'], report['questions']) == (len(batch), 2)
    assert sum(report['stage_share'].values()) == pytest.approx(1, abs=0.01)
    seconds, loop = measure_loop(scorer, EXAMPLES)
    assert seconds > 0
    assert differences(batch, loop) == [0, 0]
    report.update(
        loop=0.5,
        speed_up=12.34,
        largest_difference=max(differences(batch, loop)),
        mean_difference_to_loop=0.0123,
    )
    description = describe_metric(report)
    assert 'in batches' in description
    assert '0.500 s a response, by transformers: 12.3 times as long' in description
    assert 'largest difference      0.0e+00' in description
    assert 'mean difference         0.012' in description
