"""What Hugging Face's generate() returns is ranked as it is."""

import pytest

from parlai_q2 import Reranker
from parlai_q2.models.loading import load_seq2seq, load_tokenizer
from parlai_q2.models.prompts import reply_prompt

KNOWLEDGE = 'The Eiffel Tower in Paris was opened in 1889.'


@pytest.mark.slow
def test_the_replies_of_the_shipped_model():
    name = 'shipped:q2_mini/reply'
    tokenizer, (model, _) = load_tokenizer(name), load_seq2seq(name)
    text = reply_prompt(['When was the Eiffel Tower opened?'], KNOWLEDGE)
    prompt = tokenizer(text, return_tensors='pt').input_ids
    outputs = model.generate(prompt, num_beams=4, num_return_sequences=4)
    replies = tokenizer.batch_decode(outputs, skip_special_tokens=True)
    ranking = Reranker('consistency').rank(KNOWLEDGE, replies)
    assert sorted(ranking.order) == [0, 1, 2, 3]
    assert '1889' in ranking.chosen.text
    best = max(candidate.guarded_score for candidate in ranking.candidates)
    assert ranking.chosen.guarded_score >= best
