"""Whatever the texts: a score of Q2 is in range, and its evidence slices back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from parlai_q2.claims import Score
from parlai_q2.q2.metric import Q2Models
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Example
from tests.scorers.places import check_places
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

WORDS = st.lists(
    st.sampled_from('bees five eyes Ohio 1969 the it honey , . ? ! 🐝 France'.split()),
    max_size=8,
).map(' '.join)
# Each span has a question that the response answers and one that anything may.
MODELS = Q2Models(
    ToyQuestionGenerator({'bees': ['Who?', 'Which bees?'], '1969': ['Which 1969?']}),
    ToyQuestionAnswerer({'Who?': ['five', 'bees', 'honey']}),
    ToyNliModel({('Who? five.', 'Who? bees.'): 'contradiction'}),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.builds(Example, WORDS, WORDS), max_size=5))
def test_a_score_is_in_range_and_its_evidence_slices_back(examples):
    for example, score in zip(examples, Q2Scorer(MODELS).score(examples), strict=True):
        assert 0 <= score.value <= 1
        assert Score.from_dict(score.to_dict()) == score
        check_places(score, example)
        for claim in score.claims:
            assert 0 <= claim.support <= 1
            assert 0 <= claim.f1 <= 1
