"""
Every command and all code of docs/filter_and_train.md, in their order.
"""

import re
import shlex
from pathlib import Path

import pytest

from parlai_q2.__main__ import run
from parlai_q2.records import Label, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import register_scorer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'filter_and_train.md').read_text(encoding='utf-8')
README = (ROOT / 'tasks' / 'grounded_file' / 'README.md').read_text(encoding='utf-8')
TINY = '--embedding-size 8 --ffn-size 8 --n-layers 1 --n-heads 1 --no-cuda'.split()
TINY += ['--label-truncate', '8', '--n-positions', '512']


CONTENT = 'content_with_all'


class ContentScorer(Scorer):
    """
    Is content with every reply.
    """

    name, settings = CONTENT, {}

    def score_texts(self, examples):
        signature = str(self.signature)
        return [Score(1.0, Label.CONSISTENT, signature=signature) for _ in examples]


register_scorer(CONTENT, f'{__name__}:ContentScorer')


def blocks(text, language):
    return re.findall(rf'```{language}\n(.*?)```', text, re.DOTALL)


COMMANDS = [line for b in blocks(PAGE, 'bash') for line in b.splitlines() if line]
COMMANDS += [line for b in blocks(README, 'shell') for line in b.splitlines() if line]


def quick(words):
    """
    The same command with a scorer and a generator that take no time.
    """
    words = [{'consistency': 'precision', 'q2': 'overlap'}.get(w, w) for w in words]
    if words[0] == 'train_model':
        words += TINY
    if words[0] == 'distill':
        # What the page has trained so far says nothing that any scorer would keep.
        words = [CONTENT if word == 'precision' else word for word in words]
        words += ['-mf', 'model', '--no-cuda', '--beam-min-length', '3']
    if '--validation-metric' in words:
        words += ['--scorer', 'overlap']
    if '--mutators' in words:
        words += ['--mutator-scorer', 'overlap']
    return words


@pytest.mark.slow
def test_the_commands_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        program, *words = shlex.split(command)
        assert program in ('parlai_q2', 'parlai')
        run(quick(words))
    for name in ('kept', 'strict', 'best'):
        assert (tmp_path / f'{name}.jsonl').is_file()
        assert (tmp_path / f'{name}.summary.txt').is_file()
    for name in ('model', 'filtered', 'best_model'):
        assert (tmp_path / name).is_file()
    shown = capsys.readouterr().out
    assert '<no-first-person> <med-prec>' in shown and '[q2_score]' in shown


def test_the_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(PAGE, 'python')
    exec(code, {'__name__': 'of_the_docs'})
    assert "reason='not above the threshold'" in capsys.readouterr().out


def test_links_lead_somewhere():
    links = re.findall(r'\]\((?!http)([^)#]+)\)', PAGE)
    assert all((ROOT / 'docs' / link).exists() for link in links)
