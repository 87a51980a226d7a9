"""Conv-FEVER: from Wizard of Wikipedia's files to a fold, and the teachers."""

import json
import random
from collections import Counter

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import ConfigError, RecordError, TaskDataError
from parlai_q2.perturb.entity_swap import EntityFinder
from parlai_q2.tasks.conv_fever import build as module
from parlai_q2.tasks.conv_fever.build import build_fold
from parlai_q2.tasks.conv_fever.corpus import draw_other
from parlai_q2.tasks.conv_fever.reader import ConvFeverExample, ExampleFile
from parlai_q2.tasks.wizard_of_wikipedia.reader import read_wizard_conversations
from tests.tasks.evaluating import messages
from tests.tasks.wow_files import CONVERSATIONS, write_wow

TASK = 'parlai_q2.tasks.conv_fever.agents'


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A datapath with Wizard of Wikipedia alone."""
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    write_wow(tmp_path)
    return tmp_path


def test_another_seed_version_or_source_builds_it_anew(own, monkeypatch):
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


def test_a_broken_source_is_named_and_leaves_nothing_built(own):
    source = own / 'wizard_of_wikipedia' / 'train.json'
    source.write_text(source.read_text()[:-500])
    with pytest.raises(TaskDataError, match=r'train.json, line 1: .*cannot be read'):
        module.build({'datapath': str(own)}, 'train')
    assert not (own / 'conv_fever' / 'train.jsonl').exists()


def test_a_perturbed_context_is_left_out_since_it_is_not_shown(conv_fever):
    task = f'{TASK}:EntitySwapTeacher:topic_split'
    assert {m['perturbed'] for m in messages(task)} == {'knowledge'}
    with pytest.raises(TaskDataError, match='entity_swap response topic_split'):
        messages(f'{TASK}:EntitySwapTeacher:response:topic_split')


def test_show_context_adds_the_conversation(conv_fever):
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


def test_two_splits_are_two_tasks(conv_fever):
    with pytest.raises(ConfigError, match='names both splits'):
        messages(f'{TASK}:DefaultTeacher:random_split:topic_split')


def test_the_folds_are_wizard_of_wikipedias(conv_fever):
    def topics(datatype, task=TASK):
        return {m['chosen_topic'] for m in messages(task, datatype)}

    names = [c[0] for c in CONVERSATIONS]
    assert topics('train:evalmode') == set(names)
    assert topics('valid') == set(names[:3])
    assert topics('valid', f'{TASK}:DefaultTeacher:topic_split') == set(names[3:6])
    assert topics('test') == set(names[1:4])
    assert topics('test', f'{TASK}:DefaultTeacher:topic_split') == set(names[4:])


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
    assert values['accuracy'] == pytest.approx(5 / values['exs'])


@pytest.fixture(scope='module')
def source(wow_folder):
    return wow_folder / 'wizard_of_wikipedia' / 'train.json'


@pytest.fixture(scope='module')
def built(source):
    outfile = source.parent / 'train.jsonl'
    return outfile, build_fold(source, outfile, 5)


@pytest.fixture(scope='module')
def examples(built):
    lines = built[0].read_text(encoding='utf-8').splitlines()
    return [ConvFeverExample.from_dict(json.loads(line)) for line in lines]


def test_conversations_have_the_turns_that_parlais_own_teacher_shows(
    source, monkeypatch
):
    from parlai.core.params import ParlaiParser
    from parlai.tasks.wizard_of_wikipedia.agents import WizardDialogKnowledgeTeacher

    opt = ParlaiParser(True, True).parse_kwargs(
        task='wizard_of_wikipedia',
        datatype='train:evalmode',
        datapath=str(source.parents[1]),
    )
    turn_places = [
        (m['checked_sentence'], m['eval_labels'][0])
        for m in WizardDialogKnowledgeTeacher(opt)
        if m['checked_sentence'] != 'no_passages_used'
    ]
    ours = [
        (str(c.turns[i].checked), c.turns[i].text)
        for c in read_wizard_conversations(source)
        for i in c.replies
    ]
    assert ours == turn_places
    assert len(ours) == 11


@pytest.mark.parametrize(
    'text, line, problem',
    [
        ('{"a": 1}', 1, 'must hold a list of conversations'),
        ('[]', 1, 'no conversation'),
        ('', 1, 'cannot be read as JSON'),
        ('[{"dialog": []}, {"dia', 1, 'cannot be read as JSON'),
        ('[[1]]', 1, 'not a conversation of Wizard of Wikipedia'),
    ],
)
def test_another_file_is_refused_with_the_place(tmp_path, text, line, problem):
    (tmp_path / 'x.json').write_text(text)
    with pytest.raises(RecordError, match=problem) as caught:
        list(read_wizard_conversations(tmp_path / 'x.json'))
    assert caught.value.line == line


def test_the_record_counts_what_is_there(built, examples):
    _, record = built
    counts = Counter(e.perturbation for e in examples)
    assert record['counts'] == counts
    assert record['conversations'] == len(CONVERSATIONS)
    assert counts['none'] == 11
    assert counts['random_pairing'] == 22
    assert counts['negation'] > 11
    assert counts['entity_swap'] > 4
    assert record['seed'] == 5
    assert record['entities'].startswith('en_core_web_sm')


def test_consistent_examples_are_as_they_were_said(examples):
    expected = {
        (topic, passage[checked], text)
        for topic, passage, turns in CONVERSATIONS
        for text, checked in turns
        if isinstance(checked, int)
    }
    consistent = [e for e in examples if e.label == 'consistent']
    assert {(e.topic, e.knowledge, e.response) for e in consistent} <= expected
    assert {(e.perturbed, e.before, e.after) for e in consistent} == {('', '', '')}
    first = consistent[0]
    assert first.context == ('Do you know Marie Curie?',)
    assert first.turn == 1


def test_a_perturbation_changes_one_text_and_no_other(examples):
    originals = {(e.episode, e.turn): e for e in examples if not e.perturbed}
    for example in examples:
        original = originals[example.episode, example.turn]
        for name in ('response', 'knowledge', 'context', 'topic'):
            same = getattr(example, name) == getattr(original, name)
            assert same == (name != example.perturbed), example


def test_replacements_are_of_the_context_or_of_the_knowledge(examples):
    # Two indexes, as in the paper: the context's entities and the knowledge's.
    context = {
        topic: ' '.join(text for text, _ in turns).lower()
        for topic, _, turns in CONVERSATIONS
    }
    knowledge = {
        topic: ' '.join(passage).lower() for topic, passage, _ in CONVERSATIONS
    }
    for example in examples:
        if example.perturbation == 'entity_swap':
            of_text = context if example.perturbed == 'context' else knowledge
            assert example.after.lower() in of_text[example.topic]


@pytest.mark.parametrize('cut', [1, 1500])
def test_a_build_that_is_stopped_goes_on_and_makes_the_same(
    source, built, tmp_path, monkeypatch, cut
):
    monkeypatch.setattr(module, 'CHUNK', 1)
    outfile, find, parsed = tmp_path / 'train.jsonl', EntityFinder.find, []

    def stopping(self, texts):
        parsed.append(1)
        if len(parsed) == 4:
            raise KeyboardInterrupt
        return find(self, texts)

    monkeypatch.setattr(EntityFinder, 'find', stopping)
    with pytest.raises(KeyboardInterrupt):
        build_fold(source, outfile, 5)
    assert not outfile.exists()
    part = tmp_path / 'train.jsonl.part'
    # A kill may leave any part of what was written last.
    part.write_bytes(part.read_bytes()[: part.stat().st_size - cut])
    parsed.extend([1] * 4)
    before = len(parsed)
    record = build_fold(source, outfile, 5)
    assert (outfile.read_bytes(), record) == (built[0].read_bytes(), built[1])
    assert len(parsed) - before < 6, 'what was written is not made again'


@pytest.mark.parametrize(
    'line', ['{"text": "hi"}', '{"perturbation": "none", "perturbed": "", "x": 1}']
)
def test_a_line_that_is_no_example_is_named(built, tmp_path, line):
    path = tmp_path / 'broken.jsonl'
    first = built[0].read_text().split('\n')[0]
    path.write_text(f'{first}\n{line}\n')
    with pytest.raises(RecordError, match='not an example') as caught:
        ExampleFile(path)[1]
    assert caught.value.line == 2


@pytest.mark.parametrize(
    'perturbations, perturbed, expected',
    [
        ([], ['response'], {'response'}),
        # Named beside a changed text, the consistent ones are there too.
        (['none', 'negation'], ['response'], {'', 'response'}),
        # A change of the context cannot be seen.
        (['entity_swap'], [], {'knowledge'}),
    ],
)
def test_examples_are_chosen_by_kind_and_by_changed_text(
    built, examples, perturbations, perturbed, expected
):
    chosen = ExampleFile(built[0], perturbations, perturbed)
    assert {chosen[i].perturbed for i in range(len(chosen))} == expected
    assert 'context' in {e.perturbed for e in examples}


def said(text, episode):
    return ConvFeverExample('none', '', episode, 0, '', '', (), '', text)


TEXTS = [said(*text) for text in (('a', 0), ('b', 0), ('c', 1), ('d', 2), ('e', 3))]


@pytest.mark.parametrize(
    'texts, text, episode, expected',
    [
        (TEXTS, 'a', 0, {'c', 'd', 'e'}),
        (TEXTS, 'd', 2, {'a', 'b', 'c', 'e'}),
        ([*TEXTS[:2], said('a', 1)], 'a', 0, set()),
        ([], 'a', 0, set()),
    ],
)
def test_another_text_comes_from_any_other_conversation(texts, text, episode, expected):
    example = said(text, episode)
    drawn = (
        draw_other(texts, example, 'response', random.Random(n)) for n in range(60)
    )
    assert {other.response for other in drawn if other} == expected
