"""Conv-FEVER in ParlAI: building it where it is asked for, and the teachers."""

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import ConfigError, TaskDataError
from parlai_q2.tasks.conv_fever import build as module
from tests.tasks.evaluating import messages
from tests.tasks.wow_files import CONVERSATIONS, write_wow

TASK = 'parlai_q2.tasks.conv_fever.agents'


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A datapath with Wizard of Wikipedia alone."""
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    write_wow(tmp_path)
    return tmp_path


class TestBuilding:
    def test_another_seed_version_or_source_builds_it_anew(self, own, monkeypatch):
        opt, fold = {'datapath': str(own)}, 'valid_random_split'
        source = own / 'wizard_of_wikipedia' / f'{fold}.json'
        path = module.build(opt, fold)
        whole, builds = path.read_bytes(), []
        monkeypatch.setattr(module, 'build_fold', lambda *a: builds.append(a) or {})
        monkeypatch.setattr(module, 'report', lambda record: None)

        def is_built_anew(*seed):
            builds.clear()
            assert module.build(opt, fold, *seed) == path
            return bool(builds)

        assert not is_built_anew()
        assert is_built_anew(1)
        with monkeypatch.context() as patch:
            patch.setattr(module, 'VERSION', '9')
            assert is_built_anew()
        path.write_bytes(whole[:-100])
        assert is_built_anew()
        path.write_bytes(whole)
        source.write_text(source.read_text() + '\n')
        assert is_built_anew()
        source.unlink()
        assert not is_built_anew()
        path.with_name(path.name + '.meta.json').unlink()
        monkeypatch.setattr(module, 'build_wow', lambda *a: source.touch())
        assert is_built_anew()

    def test_a_broken_source_is_named_and_leaves_nothing_built(self, own):
        source = own / 'wizard_of_wikipedia' / 'train.json'
        source.write_text(source.read_text()[:-500])
        with pytest.raises(
            TaskDataError, match=r'train.json, line 1: .*cannot be read'
        ):
            module.build({'datapath': str(own)}, 'train')
        assert not (own / 'conv_fever' / 'train.jsonl').exists()


class TestTheViews:
    def test_a_perturbed_context_is_left_out_since_it_is_not_shown(self, conv_fever):
        task = f'{TASK}:EntitySwapTeacher:topic_split'
        assert {m['perturbed'] for m in messages(task)} == {'knowledge'}
        with pytest.raises(TaskDataError, match='entity_swap response topic_split'):
            messages(f'{TASK}:EntitySwapTeacher:response:topic_split')

    def test_with_its_context_an_example_is_whole(self, conv_fever):
        task = f'{TASK}:EntitySwapTeacher:topic_split'
        turn_messages = messages(task, show_context=True)
        assert {m['perturbed'] for m in turn_messages} == {'context', 'knowledge'}
        for message in turn_messages:
            parts = message['context'], message['checked_sentence'], message['response']
            assert message['text'] == '\n'.join(parts)
        with pytest.raises(ConfigError, match='--show-context true'):
            messages(f'{task}:context')
        changed = messages(f'{task}:context', show_context=True)
        assert changed
        assert {m['perturbed'] for m in changed} == {'context'}
        assert all(m['after'].lower() in m['context'].lower() for m in changed)

    def test_two_splits_are_two_tasks(self, conv_fever):
        with pytest.raises(ConfigError, match='names both splits'):
            messages(f'{TASK}:DefaultTeacher:random_split:topic_split')


class TestTheFolds:
    def test_they_are_wizard_of_wikipedias(self, conv_fever):
        def topics(datatype, task=TASK):
            return {m['chosen_topic'] for m in messages(task, datatype)}

        names = [c[0] for c in CONVERSATIONS]
        assert topics('train:evalmode') == set(names)
        assert topics('valid') == set(names[:4])
        assert topics('valid', f'{TASK}:DefaultTeacher:topic_split') == set(names[4:7])
        assert topics('test') == set(names[2:6])
        assert topics('test', f'{TASK}:DefaultTeacher:topic_split') == set(names[6:9])


def test_accuracy_is_reported_for_each_perturbation(conv_fever):
    report = EvalModel.main(
        task=f'{TASK}:ClassificationTeacher',
        model='fixed_response',
        fixed_response='consistent',
        batchsize=4,
    )
    values = {name: metric.value() for name, metric in report.items()}
    assert values['consistent_accuracy'] == 1
    assert values['negation_accuracy'] == 0
    assert values['random_pairing_accuracy'] == values['entity_swap_accuracy'] == 0
    assert values['exs'] == len(messages(TASK))
    assert values['accuracy'] == pytest.approx(8 / values['exs'])
