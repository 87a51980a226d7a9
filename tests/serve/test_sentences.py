"""What a chat client gets while the upstream server still writes."""

import pytest

from parlai_q2.claims import Claim, Evidence, Label, Mistake, MistakeKind, Score, Status
from parlai_q2.scorers.overlap import PrecisionScorer
from parlai_q2.serve.sentences import shift_claim
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Span
from tests.serve.running import BEES, RIGHT, WRONG, proxied, said
from tests.serve.test_chat import CALL, THOUGHT, joined_field, read_events, replying


def stream_by_sentences(model, *contents, abstain_below=None, times=1, **fields):
    """What a client gets of the last of some requests, and what was counted."""
    settings = {'stream_sentences': True, 'abstain_text': 'No idea.'}
    with proxied(model, abstain_below=abstain_below, **settings) as (_, client):
        body = said(*contents, stream=True, **fields)
        for _ in range(times):
            answer = client.post('/v1/chat/completions', json=body)
        counted = client.get('/metrics').text
    events = read_events(answer.text)
    [grounding] = [event['grounding'] for event in events if 'grounding' in event]
    deltas = [choice['delta'] for event in events for choice in event['choices']]
    return deltas, grounding, counted


@pytest.mark.parametrize(
    'reply, text, grounding',
    [
        (f'{RIGHT} Bees live in hives.', f'{RIGHT} Bees live in hives.', {'score': 1}),
        (f'{RIGHT} {WRONG} {RIGHT}', RIGHT, {'score': 1, 'label': 'consistent'}),
        (
            f'{WRONG} {RIGHT}',
            'No idea.',
            {'abstained': True, 'score': 0, 'label': 'inconsistent', 'claims': []},
        ),
        (f'<think>{WRONG}</think> {RIGHT}', RIGHT, {'score': 1}),
    ],
)
def test_sentences_are_streamed_up_to_the_first_unsupported_one(reply, text, grounding):
    deltas, completion, _ = stream_by_sentences(replying(reply), BEES)
    assert joined_field(deltas) == text
    assert {name: completion[name] for name in grounding} == grounding
    for sentence in completion['sentences']:
        start, end = sentence['span']
        assert text[start:end] == sentence['text']


@pytest.mark.parametrize(
    'knowledge, reply, text, reason',
    [
        ([], RIGHT, 'No idea.', 'abstained: there is no knowledge'),
        ([], "I don't know.", "I don't know.", 'no knowledge'),
        (
            [BEES],
            'Ça va ? Ça va !',
            'No idea.',
            'abstained: the best reply could not be',
        ),
        ([BEES], f'Ça va ! {RIGHT}', f'Ça va ! {RIGHT}', 'each sentence was scored'),
        ([BEES], 'Bees live in trees.', 'No idea.', 'stopped'),
        # One sentence, which until its last words looks like two.
        (['It opens at 5 p.m. May 3.'], 'It opens at 5 p.m. May 9.', 'No idea.', 'sto'),
    ],
)
def test_streamed_sentences_are_withheld_as_whole_replies_are(
    knowledge, reply, text, reason, monkeypatch
):
    # As a model does whose language is another.
    monkeypatch.setattr(PrecisionScorer, 'can_read', lambda _, text: text.isascii())
    model = replying(reply)
    deltas, grounding, _ = stream_by_sentences(
        model, *knowledge, abstain_below=0.9, times=2
    )
    assert joined_field(deltas) == text
    assert grounding['reason'].startswith(reason)
    assert grounding['abstained'] == (text == 'No idea.')


@pytest.mark.parametrize('text', ['Let me look.', f'{WRONG} {RIGHT} Then', ''])
def test_a_tool_call_in_a_stream_of_sentences_passes_with_its_text(text):
    message = {'role': 'assistant', 'content': text, 'tool_calls': [CALL]}
    deltas, grounding, counted = stream_by_sentences(
        lambda _: [{'message': {**message}}], BEES, tools=[{'type': 'function'}]
    )
    assert joined_field(deltas) == text
    assert [d['tool_calls'] for d in deltas if d.get('tool_calls')] == [[CALL]]
    assert (grounding['scored'], grounding['reason']) == (False, 'tool calls')
    assert 'parlai_q2_labels_total{label="not_scored"} 1.0' in counted


@pytest.mark.parametrize(
    'message, reason',
    [({'refusal': 'I will not.'}, 'refusal'), ({'content': ' '}, 'no text')],
)
def test_a_reply_without_text_in_a_stream_of_sentences_is_not_scored(message, reason):
    deltas, grounding, _ = stream_by_sentences(
        lambda _: [{'message': {'role': 'assistant', **message}}], BEES
    )
    assert joined_field(deltas, 'refusal') == message.get('refusal', '')
    assert joined_field(deltas).strip() == ''
    assert (grounding['scored'], grounding['reason']) == (False, reason)


@pytest.mark.parametrize(
    'message',
    [
        {'content': THOUGHT},
        {'content': THOUGHT.removeprefix('<think>')},
        {'content': RIGHT, 'reasoning_content': WRONG},
    ],
)
@pytest.mark.parametrize('times', [1, 2])
def test_thoughts_in_a_stream_of_sentences_are_neither_scored_nor_said(message, times):
    deltas, grounding, _ = stream_by_sentences(
        lambda _: [{'message': {'role': 'assistant', **message}}], BEES, times=times
    )
    assert joined_field(deltas) == RIGHT
    assert joined_field(deltas, 'reasoning_content') == WRONG
    assert grounding['label'] == 'consistent'


def test_thoughts_of_a_model_that_had_none_are_followed_by_its_reply():
    replies = iter([RIGHT, f'{RIGHT} So six.</think> {RIGHT} Bees live in hives.'])
    deltas, grounding, _ = stream_by_sentences(lambda _: [next(replies)], BEES, times=2)
    text = joined_field(deltas)
    assert text.endswith(f'{RIGHT} Bees live in hives.')
    for sentence in grounding['sentences']:
        start, end = sentence['span']
        assert text[start:end] == sentence['text']


def test_pieces_in_which_no_sentence_ends_are_not_read_each(monkeypatch):
    calls = []

    def split(text):
        calls.append(text)
        return sentences(text)

    monkeypatch.setattr('parlai_q2.serve.sentences.sentences', split)
    model = replying(f'{RIGHT} {"Wasps build nests, " * 100}bees.')
    deltas, _, _ = stream_by_sentences(model, BEES, times=2)
    assert joined_field(deltas) == RIGHT
    assert len(calls) < 20


def test_a_stream_of_sentences_that_claim_nothing_is_generic(monkeypatch):
    def score_texts(self, examples):
        return [Score(0.2, Label.GENERIC) for _ in examples]

    monkeypatch.setattr(PrecisionScorer, 'score_texts', score_texts)
    deltas, grounding, _ = stream_by_sentences(replying('Hello! What is it?'), BEES)
    assert joined_field(deltas) == 'Hello! What is it?'
    assert (grounding['label'], grounding['score']) == ('generic', None)


def test_thoughts_of_a_withheld_reply_are_withheld():
    deltas, _, _ = stream_by_sentences(
        replying(f'<think>It is grey.</think> {WRONG}'), BEES
    )
    assert deltas == [{'role': 'assistant', 'content': ''}, {'content': 'No idea.'}, {}]


@pytest.mark.parametrize('reply', [RIGHT, f'{RIGHT} {WRONG} {RIGHT}'])
@pytest.mark.parametrize('asked', [False, True])
def test_usage_is_sent_to_who_asked_for_it(asked, reply):
    fields = {'stream_options': {'include_usage': True}} if asked else {}
    with proxied(replying(reply), stream_sentences=True) as (_, client):
        body = said(BEES, stream=True, **fields)
        answer = client.post('/v1/chat/completions', json=body)
    assert any('usage' in event for event in read_events(answer.text)) == asked


def test_claims_of_a_later_sentence_keep_their_places_in_the_passage():
    mistake = Mistake(
        MistakeKind.NUMBER, Span('7', 3, 4), Evidence(0, Span('5', 10, 11))
    )
    claim = Claim(Span('A 7.', 1, 5), 0.1, Status.UNSUPPORTED, mistake=mistake)
    shifted = Claim.from_dict(shift_claim(claim.to_dict(), 20))
    assert shifted.span == Span('A 7.', 21, 25)
    assert shifted.mistake.span == Span('7', 23, 24)
    assert shifted.mistake.reference == mistake.reference
