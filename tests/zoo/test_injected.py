"""
The experiment with injected hallucinations, from the corpus to the tables, with a tiny
generator and scorers without models.
"""

import json

import pytest

from parlai_q2.io.write import write_text
from parlai_q2.zoo.experiments.injected import __main__ as experiment
from parlai_q2.zoo.experiments.injected import runs
from parlai_q2.zoo.experiments.injected.files import read_turns
from parlai_q2.zoo.experiments.injected.settings import CONDITIONS
from tests.agents.hf_models import checkpoint
from tests.docs.scratch import lines
from tests.zoo.injected_toys import rows

SETTINGS = """
turns: 20
held_out: 6
contexts: 5
kinds: [number, sentence]
scorer: precision
compared: [precision, overlap]
judges: [overlap]
conditions: [unfiltered, random, filtered, control, clean]
seeds: [1]
base: {base}
rank: 1
steps: 2
batch_size: 4
reply_tokens: 4
rounds: 20
"""


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """
    A folder with data, settings, and in ``out`` what the experiment wrote.
    """
    folder = tmp_path_factory.mktemp('injected')
    base = checkpoint('t5', folder / 'base', steps=0)
    write_text(folder / 'mine.yaml', SETTINGS.format(base=base))
    lines(folder / 'replies.jsonl', *rows(60))
    run(folder)
    return folder


def run(folder, *more):
    experiment.main(
        [
            *('--data', str(folder / 'replies.jsonl')),
            *('--outdir', str(folder / 'out')),
            *('--settings', str(folder / 'mine.yaml')),
            *more,
        ]
    )


def turns(folder, name):
    return list(read_turns(folder / 'out' / 'sets' / f'{name}.jsonl'))


def test_the_sets_are_what_their_names_say(folder):
    whole = turns(folder, 'unfiltered')
    assert len(whole) == 20 and sum(bool(t['injected']) for t in whole) == 12
    assert turns(folder, 'clean') == [t for t in whole if not t['injected']]
    kept = turns(folder, 'filtered')
    assert 0 < len(kept) < 20 and all(t in whole for t in kept)
    drawn = turns(folder, 'random')
    assert len(drawn) == len(kept) and all(t in whole for t in drawn)
    known = {t['knowledge'] for t in whole}
    assert not any(t['knowledge'] in known for t in turns(folder, 'held_out'))


def test_the_filter_is_the_command_that_a_user_has(folder):
    sets = folder / 'out' / 'sets'
    summary = json.loads((sets / 'filtered.summary.json').read_text())
    assert summary['turns'] == 20 and '|measure:precision|' in summary['signature']
    assert summary['kept'] == len(turns(folder, 'filtered'))


def test_control_tokens_say_what_a_reply_is_like_and_then_ask_for_the_best(folder):
    from parlai_q2.zoo.experiments.injected.sets import read_set
    from parlai_q2.zoo.experiments.injected.settings import read_settings

    settings = read_settings(folder / 'mine.yaml')
    shown = read_set(folder / 'out', 'control', 'train', settings)
    best = '<no-first-person> <high-prec> <entailed>'
    assert {t['text'].startswith(best) for t in shown} == {True, False}
    held_out = read_set(folder / 'out', 'control', 'valid', settings)
    assert len(held_out) == 6
    assert all(t['text'].startswith(best) for t in held_out)
    plain = read_set(folder / 'out', 'unfiltered', 'train', settings)
    assert [t['key'] for t in plain] == [t['key'] for t in shown]
    assert not any('<' in t['text'] for t in plain)


def test_every_condition_replies_to_every_context(folder):
    contexts = [t['key'] for t in turns(folder, 'held_out')][:5]
    for condition in CONDITIONS:
        found = runs.read_run(folder / 'out', condition, 1)
        assert [r['key'] for r in found['replies']] == contexts
        assert found['log'][-1]['step'] == 2
        assert all(isinstance(r[w], str) for r in found['replies'] for w in runs.WAYS)


def test_the_report_has_a_row_a_condition_and_the_figure_is_drawn(folder):
    text = (folder / 'out' / 'results.md').read_text()
    for condition in CONDITIONS:
        assert f'| `{condition}` | ' in text
    assert '| `overlap` | ' in text and 'Against unfiltered, greedy' in text
    found = json.loads((folder / 'out' / 'results.json').read_text())
    assert found['trained_on']['clean'] == 8
    assert {'text', 'knowledge', 'gold', 'clean'} < set(found['examples'][0])
    assert (folder / 'out' / 'figure.png').stat().st_size > 10_000
    svg = (folder / 'out' / 'figure.svg').read_text()
    assert 'filtered by precision' in svg


def test_what_is_done_is_not_done_again(folder, monkeypatch, capsys):
    from parlai_q2.zoo.experiments.injected import training

    monkeypatch.setattr(training, 'train', lambda *_: pytest.fail('trained again'))
    before = (folder / 'out' / 'results.md').read_text()
    run(folder)
    assert capsys.readouterr().out == before


def test_a_run_that_is_missing_is_done_alone_and_gives_the_same(folder):
    path = runs.path_of_run(folder / 'out', 'clean', 1)
    before = json.loads(path.read_text())
    path.unlink()
    run(folder, '--conditions', 'unfiltered')
    assert not path.exists()
    run(folder, '--conditions', 'clean')
    again = json.loads(path.read_text())
    assert again['log'][-1]['train'] == before['log'][-1]['train']
    assert again['replies'] == before['replies']


def test_a_run_that_was_stopped_while_it_replied_trains_no_more(folder, monkeypatch):
    from parlai_q2.zoo.experiments.injected import training
    from parlai_q2.zoo.train import loop

    path = runs.path_of_run(folder / 'out', 'clean', 1)
    before = json.loads(path.read_text())
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(training, 'reply', lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(folder)
    with monkeypatch.context() as patch:
        patch.setattr(loop, 'rate', lambda *_: pytest.fail('trained again'))
        run(folder)
    again = json.loads(path.read_text())
    assert again['replies'] == before['replies']
    assert not list(path.with_suffix('').iterdir())


def test_another_corpus_needs_another_folder(folder, capsys):
    lines(folder / 'others.jsonl', *rows(61))
    with pytest.raises(SystemExit) as end:
        run(folder, '--data', str(folder / 'others.jsonl'))
    assert end.value.code == 2
    assert 'was begun with another data. Choose' in capsys.readouterr().err
    # The same rows at another place are the same.
    (folder / 'moved.jsonl').write_bytes((folder / 'replies.jsonl').read_bytes())
    run(folder, '--data', str(folder / 'moved.jsonl'))


def test_a_corpus_that_is_not_there_is_named(folder, capsys):
    with pytest.raises(SystemExit):
        run(folder, '--data', str(folder / 'nothing.jsonl'))
    assert 'nothing.jsonl: No such file' in capsys.readouterr().err


def test_a_generator_does_not_go_on_from_other_turns(folder, tmp_path):
    from parlai_q2.errors import ConfigError
    from parlai_q2.zoo.experiments.injected.settings import read_settings
    from parlai_q2.zoo.experiments.injected.training import train

    settings = read_settings(folder / 'mine.yaml')
    clean = turns(folder, 'clean')
    train(clean, settings, 1, tmp_path)
    with pytest.raises(ConfigError, match='another turns'):
        train(clean[::-1], settings, 1, tmp_path)


def test_other_settings_need_another_folder(folder, capsys):
    other = folder / 'other.yaml'
    write_text(other, (folder / 'mine.yaml').read_text() + '\nsteps: 3\n')
    with pytest.raises(SystemExit) as end:
        run(folder, '--settings', str(other))
    assert end.value.code == 2
    assert 'was begun with another steps' in capsys.readouterr().err


def test_turns_drawn_at_random_have_their_share_of_injections(folder):
    from parlai_q2.zoo.experiments.injected.sets import make_sets, path_of
    from parlai_q2.zoo.experiments.injected.settings import read_settings

    settings = read_settings(folder / 'mine.yaml')
    path_of(folder / 'out', 'random').unlink()
    make_sets('', folder / 'out', settings, ['random'])
    drawn = turns(folder, 'random')
    # 14 of 20 turns, 12 of which are injected: at least 6 by any draw, and all 8 that
    # were left alone only if the draw is not independent of the injection.
    assert 6 <= sum(bool(t['injected']) for t in drawn)
    assert sum(not t['injected'] for t in drawn) < 8
