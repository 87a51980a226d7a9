"""
Our beam search against Hugging Face's, token for token, on small random models; and
that a span's outcome does not depend on what else is searched for.
"""

import copy

import pytest
import torch
from transformers import MT5ForConditionalGeneration, T5ForConditionalGeneration

from parlai_q2.models.engine.int8_weights import quantise_rows
from parlai_q2.models.engine.t5.beams import BeamSettings
from parlai_q2.models.engine.t5.search import T5Search, searchable, top
from tests.tiny import int8_layers, t5

WORDS, END = 211, 1


def random_t5(
    seed=0, act='gated-gelu', tied=False, sharpness=0.6, kind=T5ForConditionalGeneration
):
    """A random T5 whose next words are not all equally likely."""
    model = t5(
        WORDS,
        seed,
        kind,
        d_model=48,
        d_ff=64,
        num_heads=4,
        feed_forward_proj=act,
        tie_word_embeddings=tied,
    )
    model.eval().requires_grad_(False)
    for weight in model.lm_head.parameters():
        weight *= sharpness
    # Ends come neither at once nor never.
    if not tied:
        model.lm_head.weight[END] *= 3
    return model


def inputs(count, seed=0, longest=21):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest, (count,), generator=generator).tolist()
    return [
        [*torch.randint(2, WORDS, (n,), generator=generator).tolist(), END]
        for n in lengths
    ]


def generated(model, prompts, returned=None, **settings):
    """What ``generate`` gives for each input alone: tokens to the end, and scores."""
    found = []
    for prompt in prompts:
        out = model.generate(
            input_ids=torch.tensor([prompt]),
            do_sample=False,
            num_return_sequences=returned or settings['num_beams'],
            return_dict_in_generate=True,
            output_scores=True,
            early_stopping=settings['num_beams'] > 1,
            **settings,
        )
        rows = [cut(row) for row in out.sequences[:, 1:].tolist()]
        scores = out.get('sequences_scores')
        found.append((rows, None if scores is None else scores.tolist()))
    return found


def cut(row):
    return row[: row.index(END) + 1] if END in row else row


def searched(model, prompts, spans_at_once=32, **settings):
    search = T5Search(copy.deepcopy(model))
    found = search.search(
        prompts, BeamSettings(start=0, end=END, **settings), spans_at_once
    )
    return [([f.tokens for f in row], [f.score for f in row]) for row in found]


def assert_same(ours, theirs):
    for (rows, scores), (expected, expected_scores) in zip(ours, theirs, strict=True):
        assert rows == expected
        assert scores == pytest.approx(expected_scores, abs=1e-5)


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('act', ['gated-gelu', 'relu'])
@pytest.mark.parametrize('made', ['plain', 'tied', 'int8'])
def test_the_sequences_and_scores_of_generate(seed, act, made):
    tied = made == 'tied'
    model = random_t5(seed, act, tied, sharpness=1.0 if tied else 0.6)
    # Every last digit counts: one that differs can round an activation to another step.
    model = int8(model) if made == 'int8' else model
    settings = {'num_beams': 5, 'max_new_tokens': 14, 'no_repeat_ngram_size': 3}
    prompts = inputs(6, seed)
    theirs = generated(model, prompts, **settings)
    assert_same(searched(model, prompts, **settings), theirs)


@pytest.mark.parametrize(
    'settings',
    [
        {'num_beams': 4, 'length_penalty': 0.3},
        {'num_beams': 4, 'length_penalty': 2.0},
        {'num_beams': 3, 'no_repeat_ngram_size': 1},
        {'num_beams': 5, 'max_new_tokens': 1},
    ],
    ids=str,
)
def test_each_setting_does_what_it_does_in_generate(settings):
    settings = {'max_new_tokens': 12, **settings}
    model, prompts = random_t5(7), inputs(6, 7)
    assert_same(
        searched(model, prompts, **settings), generated(model, prompts, **settings)
    )


@pytest.mark.parametrize(
    'kind', [T5ForConditionalGeneration, MT5ForConditionalGeneration]
)
def test_one_beam_is_greedy_search(kind):
    model, prompts = random_t5(3, kind=kind), inputs(8, 3)
    assert searchable(model)
    assert searched(model, [], num_beams=1) == []
    ours = searched(model, prompts, num_beams=1, max_new_tokens=12)
    theirs = generated(model, prompts, num_beams=1, max_new_tokens=12)
    assert [rows for rows, _ in ours] == [rows for rows, _ in theirs]


def int8(model):
    """The model with its linear layers in int8."""
    stored = {}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            for part, tensor in quantise_rows(module.weight).items():
                stored[f'{name}.weight.{part}'] = tensor
    return int8_layers(model, stored)


@pytest.mark.parametrize('spans_at_once', [1, 3, 10, 64])
def test_a_span_comes_out_the_same_in_any_company(spans_at_once):
    model, prompts = int8(random_t5(2)), inputs(24, 2)
    settings = {'num_beams': 5, 'max_new_tokens': 12, 'no_repeat_ngram_size': 3}
    together = searched(model, prompts, spans_at_once, **settings)
    for n in (0, 5, 11, 23):
        # Equal to the last bit.
        assert searched(model, [prompts[n]], **settings) == [together[n]]


def test_what_is_searched_and_what_is_left_to_generate():
    model = random_t5()
    assert searchable(model)
    model.generation_config.repetition_penalty = 1.2
    assert not searchable(model)
    assert not searchable(torch.nn.Linear(2, 2))


@pytest.mark.parametrize('size', [40, 640, 700])
def test_the_best_of_long_rows(size):
    scores = torch.randn(7, size, generator=torch.Generator().manual_seed(0))
    values, indices = top(scores, 10)
    assert torch.equal(values, scores.topk(10).values)
    assert torch.equal(indices, scores.topk(10).indices)
