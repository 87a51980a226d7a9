"""What a chat client gets for what it sends."""

import json

import pytest

from parlai_q2.generate.chat import KNOWLEDGE
from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.turns import Passage
from tests.agents.protocol_server import choice
from tests.serve.running import BEES, RIGHT, WRONG, chat, proxied, said, text_of

THOUGHT = f'<think>{WRONG}</think>\n{RIGHT}'
CALL = {'id': '1', 'type': 'function', 'function': {'name': 'f', 'arguments': '{}'}}


def replying(*replies):
    """A model that gives these replies."""
    return lambda fields: list(replies)[: fields.get('n', 1)]


def calling(fields):
    """A model that calls a tool."""
    return [{'message': {'role': 'assistant', 'content': None, 'tool_calls': [CALL]}}]


def read_events(text):
    """The values of a stream's events, the last of which ends it."""
    *events, last_event, _ = text.split('\n\n')
    assert last_event == 'data: [DONE]'
    return [json.loads(event.removeprefix('data: ')) for event in events]


def streamed_text(events):
    deltas = [choice['delta'] for event in events for choice in event['choices']]
    return joined_field(deltas)


def joined_field(deltas, name='content'):
    return ''.join(delta.get(name) or '' for delta in deltas)


TREES = 'Bees live in trees.'


def test_the_most_grounded_of_several_replies_is_the_answer():
    model = replying(WRONG, RIGHT, TREES)
    with proxied(model, candidates=3) as (served, client):
        body = said(BEES, user='me', temperature=0.5)
        answer = client.post('/v1/chat/completions', json=body)
    assert answer.headers['X-Grounding-Label'] == 'consistent'
    assert answer.headers['X-Grounding-Score'] == '1.0000'
    assert 'X-Grounding-Abstained' not in answer.headers
    completion = answer.json()
    assert text_of(completion) == RIGHT
    assert len(completion['choices']) == 1
    assert completion['usage']['total_tokens'] == 5
    assert completion['id'] == 'chatcmpl-7'
    grounding = completion['grounding']
    assert grounding['scored']
    assert grounding['knowledge'] == 'system'
    candidates = grounding['candidates']
    assert [c['score'] for c in candidates] == [1.0, 0.6667, 0.0]
    numbers = {'guarded_score', 'relevance', 'right_answer', 'mean_logprob', 'place'}
    assert numbers < candidates[0].keys()
    assert 'claims' not in candidates[0]
    # What the client sent is what the server got.
    assert served.requests == [{**body, 'n': 3}]


def test_a_server_that_gives_one_reply_is_asked_for_several_with_other_seeds():
    replies = iter([WRONG, RIGHT, WRONG])
    with proxied(lambda _: [next(replies)], candidates=3) as (served, client):
        answer = chat(client, BEES, seed=7)
    assert text_of(answer) == RIGHT
    assert answer['usage']['total_tokens'] == 15
    assert sorted(r['seed'] for r in served.requests) == [7, 8, 9]


def test_as_many_replies_as_the_client_asks_for_come_best_first():
    with proxied(replying(WRONG, RIGHT, TREES), candidates=3) as (_, client):
        answer = chat(client, BEES, n=2)
    texts = [c['message']['content'] for c in answer['choices']]
    assert texts == [RIGHT, TREES]
    assert [c['index'] for c in answer['choices']] == [0, 1]


def test_without_sampling_one_reply_is_enough():
    with proxied(replying(WRONG)) as (served, client):
        chat(client, BEES, temperature=0)
    assert [request['n'] for request in served.requests] == [1]


MARKED = {'markers': ('<k>', '</k>')}
TOOL = [
    {'role': 'assistant', 'content': None, 'tool_calls': [CALL]},
    {'role': 'tool', 'tool_call_id': '1', 'content': BEES},
]


def message(role, content):
    return {'role': role, 'content': content}


QUESTION = message('user', 'How many eyes?')


@pytest.mark.parametrize(
    'fields, settings, source',
    [
        ({'knowledge': BEES}, {}, 'field'),
        ({'knowledge': ['Ants.', BEES]}, {}, 'field'),
        ({'documents': [{'title': 'Bee', 'text': BEES}]}, {}, 'field'),
        ({'documents': [{'data': {'snippet': BEES}}]}, {}, 'field'),
        ([QUESTION, *TOOL], {}, 'messages'),
        ([QUESTION, message('function', BEES)], {}, 'messages'),
        ([message('system', BEES), QUESTION], {}, 'system'),
        ([message('developer', BEES), QUESTION], {}, 'system'),
        ([message('system', f'Hi. <k>{BEES}</k>'), QUESTION], MARKED, 'messages'),
        ([message('user', f'<k>{BEES}</k> How many?')], MARKED, 'messages'),
        ([message('system', BEES), QUESTION], MARKED, 'none'),
        ({'knowledge': []}, {}, 'none'),
        # Fields come before messages, and these before system messages.
        ({**said('Ants.'), 'knowledge': BEES}, {}, 'field'),
        ([message('system', 'Ants.'), QUESTION, *TOOL], {}, 'messages'),
    ],
)
def test_where_knowledge_comes_from(fields, settings, source):
    with proxied(replying(WRONG, RIGHT), candidates=2, **settings) as (served, client):
        messages = {'messages': fields} if isinstance(fields, list) else fields
        body = {'messages': [QUESTION], **messages}
        answer = client.post('/v1/chat/completions', json=body).json()
    grounding = answer['grounding']
    if source == 'none':
        reason = {'reason': 'no knowledge'}
        assert grounding == {'scored': False, 'abstained': False, **reason}
        assert text_of(answer) == WRONG
        assert served.requests[0]['n'] == 1
        return
    assert (grounding['knowledge'], text_of(answer)) == (source, RIGHT)
    [sent] = served.requests
    assert 'knowledge' not in sent
    # What the model would not know otherwise is in a system message.
    has_system_message = sent['messages'] != body['messages']
    assert has_system_message == ('knowledge' in body)
    if has_system_message:
        assert sent['messages'][0]['role'] == 'system'
        assert BEES in sent['messages'][0]['content']
    assert sent.get('documents') == body.get('documents')


class Documents:
    """Finds one passage, or nothing that answers."""

    def __init__(self, **completion):
        self.found = TurnKnowledge(searched=True, **completion)

    def ground(self, histories):
        return [self.found for _ in histories]


def test_documents_are_searched_and_the_model_is_told():
    documents = Documents(passages=(Passage(BEES),))
    settings = {'grounder': documents, 'prompt': f'Only: {KNOWLEDGE}'}
    with proxied(replying(WRONG, RIGHT), **settings) as (served, client):
        answer = chat(client, 'Be nice.')
    assert text_of(answer) == RIGHT
    assert answer['grounding']['knowledge'] == 'index'
    system, _ = served.requests[0]['messages']
    assert system['content'] == f'Be nice.\n\nOnly: {BEES}'


@pytest.mark.parametrize(
    'messages, is_asked',
    [([QUESTION, *TOOL], True), (said('Be nice.')['messages'], False)],
)
def test_what_a_tool_found_is_used_where_no_document_answers(messages, is_asked):
    # The nearest passages are found, too, even if they do not answer.
    documents = Documents(passages=(Passage('Wasps sting.'),), declined=True)
    with proxied(replying(WRONG, RIGHT), grounder=documents) as (served, client):
        body = {'messages': messages}
        answer = client.post('/v1/chat/completions', json=body).json()
    assert bool(served.requests) == is_asked
    assert answer['grounding']['knowledge'] == ('messages' if is_asked else 'index')
    assert (text_of(answer) == RIGHT) == is_asked


class Library:
    """Has a courtesy for "hi", and a passage for anything else."""

    def ground(self, histories):
        return [
            TurnKnowledge((), searched=True, courtesy='Good day!')
            if history[-1] == 'hi'
            else TurnKnowledge((Passage(BEES),), searched=True)
            for history in histories
        ]


GREETING, CLAIM = 'Hello! How can I help you?', 'Hello! We are open until 5 am.'
PARTS = {'role': 'assistant', 'content': [{'type': 'text', 'text': GREETING}]}


@pytest.mark.parametrize('stream', [False, True])
@pytest.mark.parametrize(
    'replies, abstain_below, text, reason, label',
    [
        ((CLAIM, GREETING), 0.5, GREETING, 'small talk', None),
        ((f'<think>A greeting.</think> {GREETING}',), 0.5, GREETING, 'small', None),
        (({'message': PARTS},), 0.5, GREETING, 'small talk', None),
        ((CLAIM,), 0.5, 'Good day!', 'abstained: the score', 'inconsistent'),
        ((CLAIM,), None, CLAIM, 'best score', 'inconsistent'),
        ((RIGHT, CLAIM), 0.5, RIGHT, 'best score', 'consistent'),
    ],
)
def test_what_a_reply_to_small_talk_claims_is_scored(
    replies, abstain_below, text, reason, label, stream
):
    settings = {'candidates': len(replies), 'stream_sentences': stream}
    with proxied(
        replying(*replies), abstain_below=abstain_below, grounder=Library(), **settings
    ) as (_, client):
        messages = [{'role': 'user', 'content': 'hi'}]
        body = {'messages': messages, 'stream': stream}
        answer = client.post('/v1/chat/completions', json=body)
    if stream:
        events = read_events(answer.text)
        [grounding] = [e['grounding'] for e in events if 'grounding' in e]
        assert streamed_text(events) == text
    else:
        grounding = answer.json()['grounding']
        assert text_of(answer.json()) == text
        assert [c['index'] for c in answer.json()['choices']] == [0]
    assert grounding['reason'].startswith(reason)
    assert grounding.get('label') == label
    assert grounding['abstained'] == (text == 'Good day!')


@pytest.mark.parametrize('stream', [False, True])
def test_what_no_document_answers_is_declined_without_asking(stream):
    documents = Documents(passages=(), declined=True)
    settings = {'grounder': documents, 'abstain_text': 'No idea.'}
    with proxied(replying(RIGHT), **settings) as (served, client):
        body = said(stream=stream)
        answer = client.post('/v1/chat/completions', json=body)
    assert 'No' in answer.text
    assert 'idea.' in answer.text
    assert served.requests == []
    assert answer.headers['X-Grounding-Abstained'] == 'true'


@pytest.mark.parametrize('stream', [False, True])
def test_a_reply_that_is_not_grounded_is_withheld(stream):
    model = replying(WRONG, 'It is far away, they say.')
    settings = {'abstain_below': 0.5, 'abstain_text': 'No idea.', 'candidates': 2}
    with proxied(model, **settings) as (_, client):
        body = said(BEES, stream=stream)
        answer = client.post('/v1/chat/completions', json=body)
        counted = client.get('/metrics').text
    assert answer.headers['X-Grounding-Label'] == 'inconsistent'
    assert answer.headers['X-Grounding-Abstained'] == 'true'
    if stream:
        assert streamed_text(read_events(answer.text)) == 'No idea.'
    else:
        assert text_of(answer.json()) == 'No idea.'
        assert answer.json()['grounding']['claims'] == []
    assert 'parlai_q2_abstentions_total 1.0' in counted
    assert 'parlai_q2_labels_total{label="inconsistent"} 1.0' in counted


IMAGE = [{'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,AA=='}}]


@pytest.mark.parametrize(
    'model, fields, reason',
    [
        (calling, {'tools': [{'type': 'function'}]}, 'tool calls'),
        (replying(RIGHT), {'response_format': {'type': 'json_object'}}, 'response_f'),
        (replying(RIGHT), {'messages': [message('user', IMAGE)]}, 'content'),
        (
            lambda _: [{'message': {'role': 'assistant', 'refusal': 'No.'}}],
            {},
            'refusal',
        ),
        (replying(''), {}, 'no text'),
    ],
)
@pytest.mark.parametrize('stream', [False, True])
def test_other_replies_pass_through(model, fields, reason, stream):
    with proxied(model) as (served, client):
        body = said(BEES, **fields, stream=stream)
        answer = client.post('/v1/chat/completions', json=body)
    sent, expected = served.requests[0], model({'n': 1})[0]
    if not isinstance(expected, dict):
        expected = choice(expected)
    assert all(sent[name] == body[name] for name in ('messages', *fields))
    if not stream:
        [completion] = answer.json()['choices']
        assert completion['message'] == expected['message']
        assert reason in answer.json()['grounding']['reason']
        return
    events = read_events(answer.text)
    deltas = [c['delta'] for event in events for c in event['choices']]
    calls = [d['tool_calls'][0]['id'] for d in deltas if d.get('tool_calls')]
    assert calls == (['1'] if model is calling else [])
    [grounding] = [e['grounding'] for e in events if 'grounding' in e]
    assert not grounding['scored']
    assert reason in grounding['reason']
    assert answer.headers['X-Grounding-Label'] == 'not_scored'


@pytest.mark.parametrize('fields', [{}, {'reasoning_content': None}])
def test_thoughts_are_neither_scored_nor_said(fields):
    thought = {'message': {'role': 'assistant', 'content': THOUGHT, **fields}}
    with proxied(lambda _: [WRONG, thought], candidates=2) as (_, client):
        answer = chat(client, BEES)
    message = answer['choices'][0]['message']
    assert message['content'] == RIGHT
    assert message['reasoning_content'] == WRONG


def test_a_stream_begins_once_the_reply_is_chosen():
    with proxied(replying(WRONG, RIGHT), candidates=2) as (served, client):
        body = said(BEES, stream=True, stream_options={'include_usage': True})
        answer = client.post('/v1/chat/completions', json=body)
    events = read_events(answer.text)
    assert streamed_text(events) == RIGHT
    assert len(events) == 7
    assert answer.headers['X-Grounding-Score'] == '1.0000'
    assert answer.headers['Content-Type'].startswith('text/event-stream')
    assert events[-2]['choices'][0]['finish_reason'] == 'stop'
    assert events[-2]['grounding']['label'] == 'consistent'
    assert events[-1]['usage']['total_tokens'] == 5
    assert events[-1]['choices'] == []
    assert {event['object'] for event in events} == {'chat.completion.chunk'}
    assert 'stream' not in served.requests[0]


def test_only_the_ranked_choice_of_a_stream_has_its_grounding():
    with proxied(replying(RIGHT, WRONG), candidates=2) as (_, client):
        body = said(BEES, stream=True, n=2)
        events = read_events(client.post('/v1/chat/completions', json=body).text)
    ends = [e for e in events for c in e['choices'] if c['finish_reason']]
    assert ['grounding' in end for end in ends] == [True, False]


def test_log_probabilities_of_the_reply_are_streamed():
    chosen = choice(RIGHT, [-0.5, -1.0])
    with proxied(lambda _: [choice(WRONG, [-3.0]), chosen], candidates=2) as (
        _,
        client,
    ):
        answer = client.post('/v1/chat/completions', json=said(BEES, stream=True))
    choices = [c for event in read_events(answer.text) for c in event['choices']]
    assert [c['logprobs'] for c in choices if 'logprobs' in c] == [chosen['logprobs']]


@pytest.mark.parametrize(
    'first, revision, text, expected',
    [
        (RIGHT, None, RIGHT, None),
        (WRONG, RIGHT, RIGHT, 'revised'),
        (f'{RIGHT} {WRONG} {WRONG}', WRONG, RIGHT, 'shortened'),
        (f'<think>Hm.</think>{RIGHT} {WRONG}', WRONG, RIGHT, 'shortened'),
        # Nothing would be left, and what is left would lean on what is gone.
        (WRONG, WRONG, WRONG, 'kept'),
        (f'{WRONG} It is bees.', WRONG, f'{WRONG} It is bees.', 'kept'),
    ],
)
def test_an_unsupported_reply_is_revised_or_shortened(first, revision, text, expected):
    replies = iter([first, revision])
    settings = {'candidates': 1, 'revise': True}
    with proxied(lambda _: [next(replies)], **settings) as (served, client):
        answer = chat(client, BEES)
    assert text_of(answer) == text
    assert answer['grounding']['revision'] == expected
    assert answer['usage']['total_tokens'] == (10 if expected else 5)
    if expected:
        *_, said_before, revision_request = served.requests[1]['messages']
        said = first.removeprefix('<think>Hm.</think>')
        assert said_before == {'role': 'assistant', 'content': said}
        thoughts = answer['choices'][0]['message'].get('reasoning_content')
        assert thoughts == ('Hm.' if said != first else None)
        assert BEES in revision_request['content']
        assert '- ' in revision_request['content']


class EyesReader:
    """Finds replies relevant that are about eyes."""

    settings = {'relevance': 'eyes'}

    def read_relevance(self, pairs):
        return [float('eyes' in reply) for _, reply in pairs]

    def read_right_answers(self, pairs):
        return [0.1 if 'eyes' in reply else 0.9 for _, reply in pairs]


class Utf8Reader:
    """Reads what UTF-8 can encode, as models do."""

    settings = {'relevance': 'utf8'}

    def read_relevance(self, pairs):
        texts = [''.join((*turn.history, reply)) for turn, reply in pairs]
        return [len(text.encode()) / 999 for text in texts]

    read_right_answers = read_relevance


@pytest.mark.parametrize('stream', [False, True])
def test_half_a_letter_reaches_no_model(stream):
    reply = f'{RIGHT} \ud83d'
    settings = {'relevance': Utf8Reader(), 'stream_sentences': True}
    with proxied(replying(reply), candidates=1, **settings) as (_, client):
        body = said(BEES, stream=stream)
        body['messages'][-1]['content'] += '\ud83d'
        content, kind = json.dumps(body), {'Content-Type': 'application/json'}
        answer = client.post('/v1/chat/completions', content=content, headers=kind)
        body = {'query': BEES, 'documents': [reply], 'history': ['Is it?\ud83d']}
        content = json.dumps(body)
        results = client.post('/v1/rerank', content=content, headers=kind)
    assert (answer.status_code, results.status_code) == (200, 200)
    assert 'Bees have' in answer.text


def test_a_revision_beside_the_point_is_not_kept():
    first, beside = 'Wasps see with seven eyes.', 'Bees live in hives.'
    replies = iter([[first], [beside]])
    settings = {'candidates': 1, 'revise': True, 'relevance': EyesReader()}
    with proxied(lambda _: next(replies), **settings) as (_, client):
        answer = chat(client, BEES)
    assert answer['grounding']['revision'] == 'kept'
    assert text_of(answer) == first


def test_a_reply_that_cannot_be_revised_is_shortened():
    replies = iter([[f'{RIGHT} {WRONG}'], []])
    with proxied(lambda _: next(replies), candidates=1, revise=True) as (_, client):
        answer = chat(client, BEES)
    assert answer['grounding']['revision'] == 'shortened'
    assert text_of(answer) == RIGHT
