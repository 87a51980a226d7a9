"""The training that the page of classifiers describes, on a small model and files."""

import shlex

from parlai.core.script import superscript_main

from parlai_q2.__main__ import run
from tests.agents.tiny_classifiers import on_pairs, tiny_bert, write_pairs
from tests.docs.code_in_docs import ROOT, read_code
from tests.docs.scratch import place_data
from tests.files import read_lines, write_lines
from tests.tasks import annotated_sets

PAGE = ROOT / 'docs' / 'agents' / 'classifiers.md'


def test_its_commands_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    place_data(tmp_path)
    annotated_sets.expect(monkeypatch)
    (tmp_path / 'agents').symlink_to(ROOT / 'agents')
    for folder in ('fever', 'bert'):
        (tmp_path / folder).mkdir()
    write_pairs(tmp_path / 'fever')
    bert = tiny_bert(tmp_path / 'bert')
    record = {'knowledge': 'the tea is red .', 'response': 'it is red .'}
    write_lines(tmp_path / 'pairs.jsonl', record)
    commands = [shlex.split(c.text) for c in read_code(PAGE) if c.kind == 'command']
    fever, conv_fever, rome, score = commands[-4:]

    once = ['--num-epochs', '1', '--no-cuda']
    superscript_main([*fever[1:], '--hf-model', bert, *once])
    # Conv-FEVER's own files have tests of their own.
    pairs = on_pairs('fever/{fold}.jsonl')
    other = ['-t', pairs['task'], '--pairs-file', pairs['pairs_file']]
    other += ['--pairs-labels', pairs['pairs_labels']]
    superscript_main([*conv_fever[1:], *other, *once])
    capsys.readouterr()
    superscript_main([*rome[1:], '--no-cuda', '--num-examples', '3'])
    assert 'class_inconsistent_f1' in capsys.readouterr().out
    assert score[0] == 'parlai_q2'
    run(score[1:])
    [scored] = read_lines(tmp_path / 'scores.jsonl')
    assert 0 < scored['score'] < 1
