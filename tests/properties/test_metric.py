"""Whatever the texts: evidence slices back, and a batch is the published loop."""

from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_q2.claims import Score
from parlai_q2.q2.metric import Q2Models, q2_one_at_a_time
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Example
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

WORDS = st.lists(
    st.sampled_from('bees five eyes Ohio 1969 the it honey , . ? ! 🐝 France'.split()),
    max_size=8,
).map(' '.join)
EXAMPLES = st.lists(st.builds(Example, WORDS, WORDS), max_size=5)


def scorer(**settings_):
    # Each span has a question that the response answers and one that anything may.
    models = Q2Models(
        ToyQuestionGenerator(
            {'bees': ['Who?', 'Which bees?'], '1969': ['Which 1969?']}
        ),
        ToyQuestionAnswerer({'Who?': ['five', 'bees', 'honey']}),
        ToyNliModel({('Who? five.', 'Who? bees.'): 'contradiction'}),
    )
    return Q2Scorer(models, Q2Settings(**settings_), 'toy', 0.5)


@settings(max_examples=40, deadline=None)
@given(EXAMPLES)
def test_a_score_is_in_range_and_its_evidence_slices_back(examples):
    for example, score in zip(examples, scorer().score(examples), strict=True):
        assert 0 <= score.value <= 1
        assert Score.from_dict(score.to_dict()) == score
        for claim in score.claims:
            span = claim.span
            assert example.response[span.start : span.end] == span.text
            for passage, evidence_span, _ in claim.evidence:
                text = example.knowledge[passage].text
                assert (
                    text[evidence_span.start : evidence_span.end] == evidence_span.text
                )
            assert 0 <= claim.support <= 1
            assert 0 <= claim.f1 <= 1


@settings(max_examples=30, deadline=None)
@given(EXAMPLES)
def test_the_batch_equals_the_published_loop(examples):
    full = [e for e in examples if e.knowledge_text.strip() and e.response.strip()]
    q2 = scorer()
    loop = [q2_one_at_a_time(p, q2.models, q2.q2_settings) for p in full]
    batch = q2.score(full)
    assert [s.value for s in batch] == [result.value for result in loop]
