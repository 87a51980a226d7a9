"""From Wizard of Wikipedia's files to a fold of Conv-FEVER."""

import json
import random
from collections import Counter

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.perturb.entity_swap import EntityFinder
from parlai_q2.tasks.conv_fever import build
from parlai_q2.tasks.conv_fever.build import build_fold
from parlai_q2.tasks.conv_fever.corpus import Text, draw_other
from parlai_q2.tasks.conv_fever.reader import ConvFeverExample, ExampleFile
from parlai_q2.tasks.wizard_of_wikipedia.reader import read_conversations
from tests.tasks.wow_files import CONVERSATIONS, write_wow


@pytest.fixture(scope='module')
def source(tmp_path_factory):
    return write_wow(tmp_path_factory.mktemp('data')) / 'train.json'


@pytest.fixture(scope='module')
def built(source):
    outfile = source.parent / 'train.jsonl'
    return outfile, build_fold(source, outfile, 5)


@pytest.fixture(scope='module')
def examples(built):
    lines = built[0].read_text(encoding='utf-8').splitlines()
    return [ConvFeverExample.from_dict(json.loads(line)) for line in lines]


class TestReading:
    def test_a_conversation_is_read_with_what_was_checked(self, source):
        first = read_conversations(source)[0]
        assert (first.episode, first.topic) == (0, 'Marie Curie')
        assert first.passage == tuple(CONVERSATIONS[0][1])
        assert [t.wizard for t in first.turns] == [False, True] * 3
        assert first.turns[1].checked == CONVERSATIONS[0][1][0]
        assert first.turns[1].title == 'Marie Curie'
        assert first.turns[5].checked is None

    def test_they_are_the_turns_that_parlais_own_teacher_shows(
        self, source, monkeypatch
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
            for c in read_conversations(source)
            for i in c.replies
        ]
        assert ours == turn_places
        assert len(ours) > 20

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
    def test_another_file_is_refused_with_the_place(
        self, tmp_path, text, line, problem
    ):
        (tmp_path / 'x.json').write_text(text)
        with pytest.raises(RecordError, match=problem) as caught:
            list(read_conversations(tmp_path / 'x.json'))
        assert caught.value.line == line


class TestTheCorpus:
    def test_the_record_counts_what_is_there(self, built, examples):
        _, record = built
        counts = Counter(e.perturbation for e in examples)
        assert record['counts'] == counts
        assert record['conversations'] == 12
        assert counts['none'] == 24
        assert counts['random_pairing'] == 48
        assert counts['negation'] > 24
        assert counts['entity_swap'] > 8
        assert record['seed'] == 5
        assert record['entities'].startswith('en_core_web_sm')

    def test_consistent_examples_are_as_they_were_said(self, examples):
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

    def test_a_perturbation_changes_one_text_and_no_other(self, examples):
        originals = {(e.episode, e.turn): e for e in examples if not e.perturbed}
        for example in examples:
            original = originals[example.episode, example.turn]
            for name in ('response', 'knowledge', 'context', 'topic'):
                same = getattr(example, name) == getattr(original, name)
                assert same == (name != example.perturbed), example

    def test_replacements_are_of_the_context_or_of_the_knowledge(self, examples):
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


@pytest.mark.parametrize('cut', [1, 5000])
def test_a_build_that_is_stopped_goes_on_and_makes_the_same(
    source, built, tmp_path, monkeypatch, cut
):
    monkeypatch.setattr(build, 'CHUNK', 2)
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


TEXTS = [Text(*text) for text in (('a', 0), ('b', 0), ('c', 1), ('d', 2), ('e', 3))]


@pytest.mark.parametrize(
    'texts, text, episode, expected',
    [
        (TEXTS, 'a', 0, {'c', 'd', 'e'}),
        (TEXTS, 'd', 2, {'a', 'b', 'c', 'e'}),
        ([*TEXTS[:2], Text('a', 1)], 'a', 0, set()),
        ([], 'a', 0, set()),
    ],
)
def test_another_text_comes_from_any_other_conversation(texts, text, episode, expected):
    drawn = (draw_other(texts, text, episode, random.Random(n)) for n in range(60))
    assert {pairing.text for pairing in drawn if pairing} == expected
