"""parlai_q2 imports alike from a wheel, an editable install and a checkout."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# Imports what a user does, finds the shipped weights, and says where it all came from.
PROBE = """
import json
from importlib import import_module
import parlai_q2
from parlai_q2.models.model_files import shipped_folder

names = ['parlai_q2', 'parlai_q2.presets', 'parlai_q2.agents', 'parlai_q2.tasks']
names += ['parlai_q2.zoo', 'parlai_q2.scripts']
weights = shipped_folder('q2_mini/consistency') / 'model.bin'
example = parlai_q2.Example(knowledge='In 1969.', response='In 1969.')
print(json.dumps({
    'files': [import_module(name).__file__ for name in names],
    'weights': [str(weights), weights.stat().st_size],
    'label': parlai_q2.load_scorer('overlap').score([example])[0].label,
}))
"""


@pytest.mark.parametrize(
    'environment, stands, comes_from',
    [
        ('with_wheel', 'outside', 'packages'),
        ('with_editable', 'outside', 'checkout'),
        ('with_nothing', 'inside', 'checkout'),
    ],
)
def test_everything_imports_from_one_place(
    request, checkout, tmp_path, environment, stands, comes_from
):
    installed = request.getfixturevalue(environment)
    cwd = checkout if stands == 'inside' else tmp_path
    *_, line = installed.run('python', '-c', PROBE, cwd=cwd).splitlines()
    imported = json.loads(line)
    place = checkout if comes_from == 'checkout' else installed.packages
    for file in [*imported['files'], imported['weights'][0]]:
        assert Path(file).resolve().is_relative_to(place.resolve())
    assert imported['weights'][1] > 1_000_000
    assert imported['label'] == 'consistent'


def test_a_clone_named_parlai_internal_gives_internal_names(
    with_wheel, checkout, tmp_path
):
    (tmp_path / 'parlai_internal').symlink_to(checkout, target_is_directory=True)
    agent = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
    probe = (
        'from parlai.core.loader import load_agent_module, load_teacher_module\n'
        f'print(load_agent_module("{agent}").__module__)\n'
        'print(load_agent_module("internal:grounded_rerank").__module__)\n'
        'print(load_agent_module("internal:hf_seq2seq").__module__)\n'
        'print(load_teacher_module("internal:q2_wow").__module__)\n'
    )
    beside = {'PYTHONPATH': str(tmp_path)}
    output = with_wheel.run('python', '-c', probe, cwd=checkout.parent, **beside)
    assert output.splitlines()[-4:] == [
        agent.partition(':')[0],
        'parlai_internal.agents.grounded_rerank.grounded_rerank',
        'parlai_internal.agents.hf_seq2seq.hf_seq2seq',
        'parlai_internal.tasks.q2_wow.agents',
    ]


def test_the_installed_command_knows_short_names(with_wheel, tmp_path):
    version = with_wheel.run('parlai_q2', '--version', cwd=tmp_path)
    assert version.startswith('parlai_q2 ')
    words = ['display_data', '-t', 'q2:grounded_sample', '--num-examples', '1']
    output = with_wheel.run('parlai_q2', *words, cwd=tmp_path)
    assert 'NEW EPISODE: parlai_q2.tasks.grounded_sample.agents' in output
