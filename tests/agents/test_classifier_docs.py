"""
Every command of the classifiers' pages runs, on small models and files where it needs
them, and the pages name every option.
"""

import builtins
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from parlai.core.params import ParlaiParser
from parlai.core.script import superscript_main

from parlai_q2.__main__ import run
from parlai_q2.agents.consistency.consistency import add_options as consistency_options
from parlai_q2.agents.hf_classifier.options import add_options as classifier_options
from parlai_q2.presets import load_preset
from tests.agents.tiny_classifiers import on_pairs, tiny_bert, write_pairs
from tests.tasks import annotated_sets
from tests.tasks.wow_files import write_q2_wow

ROOT = Path(__file__).parents[2]
PAGES = ROOT / 'docs' / 'agents'
CONSISTENCY = (PAGES / 'consistency.md').read_text(encoding='utf-8')
CLASSIFIER = (PAGES / 'hf_classifier.md').read_text(encoding='utf-8')
PAIRS = (ROOT / 'tasks' / 'pairs' / 'README.md').read_text(encoding='utf-8')


def commands(text):
    """
    The commands of a page's bash blocks, in order.
    """
    blocks = re.findall(r'```bash\n(.*?)```', text, re.DOTALL)
    joined = ''.join(blocks).replace('\\\n', ' ')
    return [shlex.split(line) for line in joined.splitlines() if line.strip()]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """
    A folder with the annotated sets as ParlAI's data, and the option files.
    """
    from parlai.core.build_data import DownloadableFile

    from parlai_q2.tasks.q2_wow import build

    sums = write_q2_wow(tmp_path / 'q2_wow')
    resources = [
        DownloadableFile(f'https://example.invalid/{name}', name, sha, zipped=False)
        for name, sha in sums.items()
    ]
    monkeypatch.setattr(build, 'RESOURCES', resources)
    annotated_sets.place(tmp_path, monkeypatch)
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    (tmp_path / 'agents').symlink_to(ROOT / 'agents')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    'command', commands(CONSISTENCY), ids=lambda c: ' '.join(c[4:6])
)
def test_a_command_of_the_consistency_agent_runs(command, data, monkeypatch, capsys):
    lines = iter([r'Sephora was founded in 1969.\nIt opened in 1854.'])
    monkeypatch.setattr(builtins, 'input', lambda *_: next(lines, '[EXIT]'))
    program, name, *arguments = command
    assert program == 'parlai'
    if name == 'eval_model':
        arguments += ['--num-examples', '3']
    superscript_main([name, *arguments])
    shown = capsys.readouterr().out
    assert ('macro_f1' if name == 'eval_model' else 'Predicted class: ') in shown


def test_the_commands_of_the_classifier_run_one_after_the_other(data, capsys):
    """
    Evaluation, both stages of training, evaluation of what was trained, scoring.
    """
    (data / 'fever').mkdir()
    write_pairs(data / 'fever')
    (data / 'bert').mkdir()
    bert = tiny_bert(data / 'bert')
    record = {'knowledge': 'the tea is red .', 'response': 'it is red .'}
    (data / 'pairs.jsonl').write_text(json.dumps(record) + '\n')
    sample, fever, conv_fever, rome, score = commands(CLASSIFIER)
    few = ['--no-cuda', '--num-examples', '3']
    superscript_main([*sample[1:], *few])
    once = ['--num-epochs', '1', '--no-cuda']
    superscript_main([*fever[1:], '--hf-model', bert, *once])
    # Conv-FEVER's own files have tests of their own.
    pairs = on_pairs('fever/{fold}.jsonl')
    other = ['-t', pairs['task'], '--pairs-file', pairs['pairs_file']]
    other += ['--pairs-labels', pairs['pairs_labels']]
    superscript_main([*conv_fever[1:], *other, *once])
    capsys.readouterr()
    superscript_main([*rome[1:], *few])
    assert 'class_inconsistent_f1' in capsys.readouterr().out
    assert score[0] == 'parlai_q2'
    run(score[1:])
    [scored] = (data / 'scores.jsonl').read_text().splitlines()
    assert 0 < json.loads(scored)['score'] < 1


def test_the_command_of_the_pairs_runs(data, capsys):
    (data / 'fever').mkdir()
    write_pairs(data / 'fever')
    [block] = re.findall(r'^    (parlai .*(?:\n    .*)*)', PAIRS, re.MULTILINE)
    command = shlex.split(block.replace('\\\n', ' '))
    superscript_main([*command[1:], '--scorer', 'overlap', '--num-examples', '4'])
    assert 'class_inconsistent_f1' in capsys.readouterr().out


def test_the_yaml_of_the_page_is_a_preset(tmp_path):
    [block] = re.findall(r'```yaml\n(.*?)```', CLASSIFIER, re.DOTALL)
    path = tmp_path / 'mine.yaml'
    path.write_text(block)
    config = load_preset(str(path)).model('consistency')
    assert config.settings == {
        k: v for k, v in yaml.safe_load(block)['consistency'].items() if k != 'model'
    }


@pytest.mark.parametrize(
    'add, page', [(consistency_options, CONSISTENCY), (classifier_options, CLASSIFIER)]
)
def test_a_page_names_every_option(add, page):
    parser = ParlaiParser(False, False)
    before = set(parser._option_string_actions)
    add(parser)
    added = set(parser._option_string_actions) - before
    own = {
        o
        for o in added
        if o.startswith('--') and not o.startswith(('--scorer-', '--cache'))
    }
    assert {option for option in own if f'{option}`' not in page} <= {
        option for option in own if f'`{option}' in page
    }


@pytest.mark.parametrize(
    'page, link',
    [
        (PAGES / name, link)
        for name in ('consistency.md', 'hf_classifier.md')
        for link in re.findall(r'\]\((?!http)([^)#]+)\)', (PAGES / name).read_text())
    ],
    ids=lambda x: str(x)[-30:],
)
def test_a_link_leads_somewhere(page, link):
    assert (page.parent / link).exists()
