"""What is written is what ParlAI reads; a turn that goes stays in the history."""

import pytest
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai.utils.conversations import Conversations

from parlai_q2.claims import Score
from parlai_q2.errors import InputError
from parlai_q2.filtering.conversation import conversations, split_at_gaps
from parlai_q2.filtering.judge import Policy, judge_episodes
from parlai_q2.parlai.filtered_files import conversation_file
from tests.filtering.toys import FIVE, WordScorer, episode


def judged(conversation_turns=FIVE, **choices):
    return next(judge_episodes([conversation_turns], WordScorer(), Policy(**choices)))


def test_the_first_speaker_keeps_all_fields_and_the_second_has_the_score():
    (first, _) = conversations(judged())
    question_act, answered = first['dialog'][0]
    assert question_act['knowledge'] == 'a b c'
    assert question_act['labels'] == ['b b']
    assert answered['q2_score'] == 1.0
    assert answered['q2_kept'] is True
    assert answered['q2_reason'] == 'above the threshold'
    score = Score.from_dict(answered['q2_evidence'])
    assert score == Score(1.0, 'consistent', parts={'words': 1.0})
    assert question_act['episode_done'] is answered['episode_done'] is True


def test_knowledge_that_stood_in_a_text_becomes_a_field():
    # An empty field is none.
    conversation_turns = episode(
        ('__knowledge__ a b __endknowledge__ hi', '', 'x'), ('so', 'c', 'c')
    )
    (conversation,) = conversations(judged(conversation_turns))
    ((question_act, _),) = conversation['dialog']
    # Its text has the knowledge of the turn before; its own is in the field.
    assert 'a b' in question_act['text']
    assert question_act['knowledge'] == 'c'
    (gone,) = conversations(judged(conversation_turns), keep=False)
    assert gone['dialog'][0][0]['knowledge'] == 'a b'


def test_turns_without_a_score_or_without_a_label_are_written_too():
    blank = {'text': 'two', 'knowledge': 'a', 'labels': []}
    conversation_turns = [*episode(('one', None, 'x')), blank]
    ((first,),) = (c['dialog'] for c in conversations(judged(conversation_turns)))
    assert [act['text'] for act in first] == ['one', 'x']
    assert first[0]['id'] == 'task'
    assert 'q2_score' not in first[1]
    ((gone,),) = (
        c['dialog'] for c in conversations(judged(conversation_turns), keep=False)
    )
    assert [act['text'] for act in gone] == ['one\nx\ntwo', '']
    assert gone[0]['id'] == 'teacher'
    assert gone[1]['q2_reason'] == 'no label'


def test_fields_that_cannot_be_written_or_are_not_wanted_are_left_out():
    conversation_turns = [
        {**FIVE[0], 'image': object(), 'label_candidates': ['a'] * 100, 'n': 1}
    ]
    (conversation,) = conversations(judged(conversation_turns))
    question_act = conversation['dialog'][0][0]
    assert 'image' not in question_act
    assert 'label_candidates' not in question_act
    assert question_act['n'] == 1


# Line ends to Python's splitlines, by which ParlAI cuts a file, but not to JSON.
@pytest.mark.parametrize('odd', ['\u2028', '\x85', '\x0c', '\x1e', '\r\n', '\ud800'])
def test_parlai_reads_every_text_back(tmp_path, odd):
    text = f'before{odd}after'
    with conversation_file(tmp_path / 'kept.jsonl', {'task': 'toy'}, 'signed') as write:
        for _ in range(2):
            write(conversations(judged(episode((text, 'a', 'a')))))
    read = list(Conversations(str(tmp_path / 'kept.jsonl')))
    assert [c[0].text for c in read] == [text] * 2
    assert read[0][1].text == 'a'
    assert read[0][0].knowledge == 'a'


def test_another_ending_is_an_error(tmp_path):
    with (
        pytest.raises(InputError, match=r'.jsonl'),
        conversation_file(tmp_path / 'kept.json', {}, ''),
    ):
        pass


@pytest.mark.parametrize(
    'mask, expected',
    [
        ('kkkkk', [['one', 'two', 'three', 'four', 'five']]),
        ('.....', []),
        ('kkkk.', [['one', 'two', 'three', 'four']]),
        ('.kkkk', [['one\nb b\ntwo', 'three', 'four', 'five']]),
        ('k.k..', [['one'], ['one\nb b\ntwo\nx x\nthree']]),
        ('k...k', [['one'], ['one\nb b\ntwo\nx x\nthree\na x\nfour\nhello\nfive']]),
    ],
)
def test_what_follows_a_gap_has_all_before_it_in_its_first_text(mask, expected):
    keep = [letter == 'k' for letter in mask]
    parts = split_at_gaps(FIVE, keep)
    assert [[m['text'] for m in part] for part in parts] == expected


def read_by_a_model(agent, episodes):
    """What a ParlAI model reads, as tokens and as text, by label."""
    histories = {}
    for conversation_turns in episodes:
        agent.reset()
        for n, message in enumerate(conversation_turns):
            is_last = n == len(conversation_turns) - 1
            observed = agent.observe(Message({**message, 'episode_done': is_last}))
            read = observed['text_vec'].tolist(), observed['full_text']
            histories[observed['labels'][0]] = read
            agent.self_observe(Message({'text': 'what the model said instead'}))
    return histories


def test_a_parlai_model_reads_the_same_history():
    opt = ParlaiParser(True, True).parse_kwargs(
        model='transformer/generator',
        dict_tokenizer='re',
        n_layers=1,
        n_heads=1,
        embedding_size=8,
        ffn_size=8,
        no_cuda=True,
        datatype='train',
        lr_scheduler='fixed',
    )
    agent = create_agent(opt)
    for message in FIVE:
        for word in f'{message["text"]} {message["labels"][0]}'.split():
            agent.dict.add_token(word)
    whole = [{k: v for k, v in m.items() if k != 'episode_done'} for m in FIVE]
    expected = read_by_a_model(agent, [whole])
    for mask in ('k.k.k', '.k.kk', '..k..'):
        keep = [letter == 'k' for letter in mask]
        histories = read_by_a_model(agent, split_at_gaps(FIVE, keep))
        assert histories == {
            m['labels'][0]: expected[m['labels'][0]]
            for m, stays in zip(FIVE, keep)
            if stays
        }
