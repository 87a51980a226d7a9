"""
From Wizard of Wikipedia's files to a fold of Conv-FEVER: reading, making, stopping and
going on.
"""

import random
from collections import Counter

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.perturb.entity_swap import EntityFinder
from parlai_q2.tasks.conv_fever import fold as fold_module
from parlai_q2.tasks.conv_fever.corpus import Texts
from parlai_q2.tasks.conv_fever.fold import build_fold
from parlai_q2.tasks.conv_fever.reader import ExampleFile
from parlai_q2.tasks.conv_fever.wow import read_conversations
from tests.tasks.conv_fever_wow import CONVERSATIONS, write_wow

RECIPE = {'seed': 5, 'fold': 'train'}


@pytest.fixture(scope='module')
def source(tmp_path_factory):
    return write_wow(tmp_path_factory.mktemp('data')) / 'train.json'


@pytest.fixture(scope='module')
def built(source):
    outfile = source.parent / 'train.jsonl'
    record = build_fold(source, outfile, RECIPE)
    return outfile, record


@pytest.fixture(scope='module')
def examples(built):
    return list(ExampleFile(built[0]))


class TestReading:
    def test_a_conversation_is_read_with_what_was_checked(self, source):
        first = read_conversations(source)[0]
        assert (first.episode, first.topic) == (0, 'Marie Curie')
        assert first.passage == tuple(CONVERSATIONS[0][1])
        assert [t.wizard for t in first.turns] == [False, True] * 3
        assert first.turns[1].checked == CONVERSATIONS[0][1][0]
        assert first.turns[1].title == 'Marie Curie'
        assert first.turns[5].checked is None

    def test_replies_without_a_sentence_are_left_out(self, source):
        found = {c.topic: c.replies for c in read_conversations(source)}
        # {} in the one, no_passages_used in the other and as the value of a key.
        assert found['Marie Curie'] == [1, 3]
        assert found['Sleep'] == [3]
        # The wizard opened: as in ParlAI's teacher, his last turn is not shown.
        assert found['Iceland'] == [2] and found['Chess'] == [2]
        assert found['Moon'] == [0, 2]

    def test_they_are_the_turns_that_parlais_own_teacher_shows(
        self, source, monkeypatch
    ):
        from parlai.core.params import ParlaiParser
        from parlai.tasks.wizard_of_wikipedia.agents import WizardDialogKnowledgeTeacher

        (source.parent / 'data.json').write_text(source.read_text())
        opt = ParlaiParser(True, True).parse_kwargs(
            task='wizard_of_wikipedia',
            datatype='train:evalmode',
            datapath=str(source.parents[1]),
        )
        shown = [
            (m['checked_sentence'], m['eval_labels'][0])
            for m in WizardDialogKnowledgeTeacher(opt)
            if m['checked_sentence'] != 'no_passages_used'
        ]
        ours = [
            (str(c.turns[i].checked), c.turns[i].text)
            for c in read_conversations(source)
            for i in c.replies
        ]
        assert ours == shown and len(ours) > 20

    @pytest.mark.parametrize(
        'text, line, problem',
        [
            ('{"a": 1}', 1, 'a list is expected'),
            ('[]', 1, 'no conversation'),
            ('', 1, 'cut short'),
            ('[{"dialog": []}, {"dia', 1, 'cut short'),
            ('[[1]]', 1, 'not have the format of Wizard of Wikipedia'),
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
        assert record['counts'] == counts and record['conversations'] == 12
        assert counts['none'] == 24 and counts['random_pairing'] == 48
        assert counts['negation'] > 24 and counts['entity_swap'] > 8
        by_text = Counter(f'{e.perturbation} of {e.perturbed}' for e in examples)
        del by_text['none of ']
        assert record['counts_by_text'] == by_text
        assert record['seed'] == 5 and record['entities'].startswith('en_core_web_sm')

    def test_consistent_examples_are_as_they_were_said(self, examples):
        said = {
            (topic, passage[checked], text)
            for topic, passage, turns in CONVERSATIONS
            for text, checked in turns
            if isinstance(checked, int)
        }
        found = [e for e in examples if e.label == 'consistent']
        assert {(e.topic, e.knowledge, e.response) for e in found} <= said
        assert {(e.perturbed, e.before, e.after) for e in found} == {('', '', '')}
        first = found[0]
        assert first.context == ('Do you know Marie Curie?',) and first.turn == 1

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


class TestABuildThatIsStopped:
    @pytest.fixture(autouse=True)
    def small_chunks(self, monkeypatch):
        monkeypatch.setattr(fold_module, 'CHUNK', 2)

    def stop_after(self, monkeypatch, chunks):
        real, calls = fold_module._examples, []

        def examples(*args):
            calls.append(1)
            if len(calls) > chunks:
                raise KeyboardInterrupt
            return real(*args)

        monkeypatch.setattr(fold_module, '_examples', examples)

    @pytest.mark.parametrize('cut', [0, 1, 100, 5000])
    def test_it_goes_on_and_makes_the_same(
        self, source, built, tmp_path, monkeypatch, cut
    ):
        outfile = tmp_path / 'train.jsonl'
        with monkeypatch.context() as patch:
            self.stop_after(patch, 3)
            with pytest.raises(KeyboardInterrupt):
                build_fold(source, outfile, RECIPE)
        assert not outfile.exists()
        part = tmp_path / 'train.jsonl.part'
        written = part.read_bytes()
        # A kill may leave any part of what was written last.
        part.write_bytes(written[: len(written) - cut])
        parsed = []
        real = EntityFinder.find
        monkeypatch.setattr(
            EntityFinder, 'find', lambda self, t: parsed.append(1) or real(self, t)
        )
        record = build_fold(source, outfile, RECIPE)
        assert outfile.read_bytes() == built[0].read_bytes()
        assert record == built[1]
        assert len(parsed) < 6, 'what was written is not made again'


@pytest.mark.parametrize(
    'line', ['{"text": "hi"}', '{"perturbation": "none", "perturbed": "", "x": 1}']
)
def test_a_line_that_is_no_example_is_named(built, tmp_path, line):
    path = tmp_path / 'broken.jsonl'
    first = built[0].read_text().split('\n')[0]
    path.write_text(f'{first}\n{line}\n')
    with pytest.raises(RecordError, match='not an example') as caught:
        list(ExampleFile(path))
    assert caught.value.line == 2


@pytest.mark.parametrize(
    'perturbations, perturbed, context, expected',
    [
        ([], ['response'], True, {'response'}),
        # Named beside a changed text, the consistent ones are there too.
        (['none', 'negation'], ['response'], True, {'', 'response'}),
        # What cannot be seen is left out.
        (['entity_swap'], [], False, {'knowledge'}),
    ],
)
def test_examples_are_chosen_by_kind_and_by_changed_text(
    built, examples, perturbations, perturbed, context, expected
):
    chosen = ExampleFile(built[0], perturbations, perturbed, context)
    assert {e.perturbed for e in chosen} == expected
    unseen = [e for e in examples if e.perturbed == 'context']
    assert chosen.left_out == (0 if context else len(unseen)) and unseen


def test_balancing_repeats_the_smaller_class(built):
    examples = ExampleFile(built[0])
    order = examples.balanced()
    assert set(order) == set(range(len(examples)))
    times = Counter(i for i in order if examples[i].label == 'consistent')
    assert sum(times.values()) == len(examples) - 24 == len(order) / 2
    assert max(times.values()) - min(times.values()) <= 1
    assert ExampleFile(built[0], ['none']).balanced() == list(range(24))


def test_entities_are_remembered_as_they_were_found():
    finder, texts = EntityFinder(), ['Marie Curie', 'in Paris', 'in Rome']
    fresh = {t: EntityFinder().find([t])[t] for t in texts}
    assert [e.type for e in fresh['Marie Curie']] == ['PERSON']
    for draw in range(4):
        random.Random(draw).shuffle(texts)
        assert finder.find([*texts, texts[0]]) == fresh


def made_of(*entries):
    made = Texts()
    for text, episode in entries:
        made.add(text, episode)
    return made


def drawn(made, *known):
    found = [made.draw(*known, random.Random(seed)) for seed in range(60)]
    return {f.text if f else None for f in found}


def test_another_text_comes_from_any_other_conversation():
    made = made_of(('a', 0), ('b', 0), ('c', 1), ('d', 2), ('e', 3))
    assert drawn(made, 'a', 0) == {'c', 'd', 'e'}
    assert drawn(made, 'd', 2) == {'a', 'b', 'c', 'e'}


@pytest.mark.parametrize('entries', [[], [('a', 0), ('b', 0), ('a', 1)]])
def test_where_there_is_no_other_text_there_is_no_pair(entries):
    assert drawn(made_of(*entries), 'a', 0) == {None}
