"""Signatures name whatever decides a number, so that no score passes for another."""

import os
from dataclasses import replace

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.presets import load_preset
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.signature import Signature

MINI = load_preset('mini')


def signature(scorer, preset=MINI, **options):
    return str(load_scorer(scorer, preset=preset, **options).signature)


@pytest.mark.parametrize(
    'section, name, value',
    [
        ('question_generation', 'num_beams', 6),
        ('question_generation', 'no_repeat_ngram_size', 0),
        ('question_generation', 'max_new_tokens', 8),
        ('question_generation', 'max_prompt_tokens', 32),
        ('question_generation', 'compute_type', 'float32'),
        ('question_answering', 'reading', 'argmax'),
        ('question_answering', 'no_answer_threshold', 1.0),
        ('question_answering', 'max_tokens', 64),
        ('question_answering', 'compute_type', 'float32'),
        ('nli', 'max_tokens', 512),
        ('nli', 'order', ['hypothesis', 'premise']),
        ('nli', 'labels', {'entailment': 1, 'neutral': 0, 'contradiction': 2}),
        ('nli', 'compute_type', 'float32'),
        ('detector', 'max_tokens', 64),
        ('detector', 'compute_type', 'float32'),
    ],
)
def test_every_setting_of_a_model_is_in_the_signature(section, name, value):
    config = MINI.model(section)
    changed = replace(config, settings={**config.settings, name: value})
    other = MINI.with_model(section, changed)
    reads = ['consistency', 'grounded_fast'] if section == 'detector' else ['q2']
    for scorer in (*reads, 'grounded'):
        assert signature(scorer, other) != signature(scorer)


def test_q2s_options_are_in_the_signature():
    options = [{}, {'variant': 'multi'}, {'decoding': 'greedy'}, {'threshold': 0.1}]
    assert len({signature('q2', **changes) for changes in options}) == len(options)


@pytest.mark.parametrize('scorer', ['q2', 'consistency', 'grounded', 'grounded_fast'])
def test_where_a_scorer_runs_and_how_much_at_a_time_is_not(scorer):
    assert signature(scorer, batch_size=7) == signature(scorer)
    gpu = {signature(scorer, device='cuda:0', batch_size=n) for n in (None, 7)}
    assert len(gpu) == 1
    assert all('-cuda|' in signature_text for signature_text in gpu)
    assert '-cuda' not in signature(scorer)


def test_the_name_of_a_file_that_is_no_utf8_can_be_written_down(tmp_path):
    preset = tmp_path / os.fsdecode(b'm\xe9.yaml')
    preset.write_text('base: mini\n')
    scorer = load_scorer('consistency', preset)
    assert r'|preset:m\udce9|' in str(scorer.signature)
    assert len(scorer.signature.short.split('|')[-1]) == 8
    store = ScoreCache(tmp_path / 'scores.sqlite')
    pairs = [(('knowledge',), 'response')]
    assert store.get(str(scorer.signature), pairs) == {}


def test_a_signature_comes_back_from_its_text():
    original = Signature('q2', {'b': 'x:y|z', 'a': 1, 'preset': 'mini'}, '1.0')
    text = str(original)
    assert text == r'q2|a:1|b:x:y\x7cz|preset:mini|version:1.0'
    again = Signature.from_text(text)
    assert (again.scorer, again.version) == ('q2', '1.0')
    assert again.texts() == original.texts()
    assert str(again) == text
    assert again.short == original.short
    assert Signature.from_text('').settings == {}
