"""The agent whose model runs behind a server, alone, reranked, and in commands."""

import json

import pytest
from parlai.core.message import Message
from parlai.core.metrics import dict_report
from parlai.scripts.eval_model import EvalModel

from parlai_q2.agents.chat_server.chat_server import KEY_VARIABLE
from parlai_q2.errors import ConfigError, ServerError
from tests.agents.hf_models import make_agent
from tests.agents.protocol_server import choice, serving
from tests.agents.rerank_toys import AGENT as RERANKED
from tests.agents.rerank_toys import TASK, TOY, reply_to

ALONE = 'parlai_q2.agents.chat_server.chat_server:ChatServerAgent'
KEY = 'sk-Secret-7'
RERANKING = {'model': RERANKED, 'generator': ALONE, 'choose': TOY}


def digits(fields):
    """Two replies by digits, of which the second agrees with the knowledge."""
    return ['5 6', '1 2', '1 6', *['hello'] * 7][: fields['n']]


def options(served, **extra_options):
    return {'server_url': served.url, 'server_model': 'm', **extra_options}


def make(served, **extra_options):
    return make_agent(**options(served, **{'model': ALONE, **extra_options}))


@pytest.fixture
def served():
    """A server whose model replies by digits."""
    with serving(digits) as served:
        yield served


def sent(served, n=-1):
    return [(m['role'], m['content']) for m in served.requests[n]['messages']]


def test_alone_it_says_the_first_reply_and_asks_for_one(served):
    [reply] = reply_to(make(served), 'Hello?')
    assert reply['text'] == '5 6'
    assert reply['beam_texts'] == [('5 6', 0.0)]
    [request] = served.requests
    assert (request['model'], request['n']) == ('m', 1)
    assert (request['temperature'], request['top_p']) == (0.9, 0.95)
    assert request['max_tokens'] == 128
    assert 'logprobs' not in request


def test_the_best_of_all_is_said_when_they_are_reranked(served):
    agent = make(served, **RERANKING, rerank_by='score')
    [reply] = reply_to(agent, 'I like digits.')
    assert [r['n'] for r in served.requests] == [10]
    assert reply['text'] == '1 2'
    assert [text for text, _ in reply['beam_texts']] == ['1 2', '1 6', 'hello', '5 6']
    rows = reply['rerank']
    assert [row['score'] for row in rows[:2]] == [1.0, 0.5]
    assert rows[3]['first']
    assert rows[0]['strategies'] == ['server']
    json.dumps(reply['rerank'], allow_nan=False)


def test_requests_one_reply_without_knowledge(served):
    [reply] = reply_to(make(served, **RERANKING), 'Hello?', knowledge=None)
    assert reply['text'] == '5 6'
    assert served.requests[0]['n'] == 1
    assert 'knowledge' not in sent(served)[0][1]


def test_the_turns_are_messages_and_the_knowledge_is_the_systems(served):
    agent = make(served)
    for knowledge in ('1 2', '3 4'):
        text = f'__knowledge__ {knowledge} __endknowledge__\nWhich digits?'
        agent.observe({'text': text, 'episode_done': False})
        agent.act()
    system, *turns = sent(served)
    assert system[0] == 'system'
    assert system[1].endswith('this knowledge: 3 4')
    question = ('user', 'Which digits?')
    assert turns == [question, ('assistant', '5 6'), question]


def test_a_template_with_history_makes_one_message(served):
    template = r'Known: {knowledge}\nSaid: {history}\nReply:'
    agent = make(served, prompt_template=template)
    for fields in ({'text': 'a', 'knowledge': 'k'}, {'text': 'b'}):
        agent.observe({**fields, 'episode_done': False})
        agent.act()
    assert sent(served, 0) == [('user', 'Known: k\nSaid: a\nReply:')]
    assert sent(served, 1) == [('user', 'Said: a\n5 6\nb\nReply:')]
    agent = make(served, prompt_template='{history} knowledge: {knowledge}')
    agent.observe({'text': 'a', 'episode_done': False})
    agent.act()
    assert sent(served) == [('user', 'a knowledge:')]


def test_likelier_replies_win_where_the_generator_counts():
    logprobs = [[-9.0, -9.0], [-5.0], [-0.1, -0.1, -0.1]]

    def likely(fields):
        texts = ['1 2', '2 1', '1 2 3']
        return [
            choice(t, p if fields.get('logprobs') else None)
            for t, p in zip(texts, logprobs)
        ]

    by = {'server_logprobs': True, 'server_samples': 3}
    with serving(likely) as served:
        [reply] = reply_to(make(served, **RERANKING, **by), 'Hello?')
    assert reply['text'] == '1 2 3'
    assert dict(reply['beam_texts'])['1 2'] == -18.0
    logprobs = [row['mean_logprob'] for row in reply['rerank']]
    assert logprobs == pytest.approx([-0.1, -5.0, -9.0])


@pytest.mark.parametrize(
    'knowledge, requests',
    # Of the last, half is known: consistent, and not surely so.
    [('5 6', [1]), ('7', [1, 3]), ('5', [1, 3])],
)
def test_a_server_is_asked_once_where_its_first_reply_is_sure(
    served, knowledge, requests
):
    few = {'server_samples': 4, 'candidates_until': 0.9, 'guards': False}
    few['choose_threshold'] = 0.4
    [reply] = reply_to(make(served, **RERANKING, **few), 'Hi?', knowledge=knowledge)
    assert [fields['n'] for fields in served.requests] == requests
    assert reply['metrics']['rerank/early'].value() == (requests == [1])


def test_a_single_reply_cannot_be_the_first_of_more(served):
    options = {'server_samples': 1, 'candidates_until': 0.9}
    with pytest.raises(ConfigError, match='there is only one'):
        make(served, **RERANKING, **options)


def test_a_server_without_log_probabilities_is_no_such_generator(served):
    by = {'server_logprobs': True}
    with pytest.raises(ServerError, match='gives no log probabilities'):
        reply_to(make(served, **RERANKING, **by), 'Hello?')


@pytest.mark.parametrize('text, unknown', [('', {}), ('2 2', {'2 2': None})])
def test_a_single_reply_may_lack_log_probabilities(text, unknown):
    def leaves_one_out(fields):
        return [choice('1 2', [-9.0, -9.0]), choice(text, []), choice('2 1', [-5.0])]

    by = {'server_logprobs': True, 'server_samples': 3}
    with serving(leaves_one_out) as served:
        [reply] = reply_to(make(served, **RERANKING, **by), 'Hello?')
    means = {row['text']: row['mean_logprob'] for row in reply['rerank']}
    assert means == {'1 2': -9.0, '2 1': -5.0, **unknown}


def test_evaluation_files_and_logs_never_contain_the_key(
    served, tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    report = EvalModel.main(
        **options(served, **RERANKING, no_cuda=True),
        task=TASK,
        datatype='valid',
        batchsize=4,
        world_logs=str(tmp_path / 'log'),
        report_filename=str(tmp_path / 'report'),
    )
    assert dict_report(report)['rerank/chosen'] > 0
    assert {h['Authorization'] for h in served.headers} == {f'Bearer {KEY}'}
    # Three of ten turns have no knowledge.
    assert sorted(r['n'] for r in served.requests) == [1] * 3 + [10] * 7
    files = [path for path in tmp_path.rglob('*') if path.is_file()]
    assert len(files) >= 2
    written = ''.join(path.read_text('utf-8') for path in files)
    assert served.url in written
    assert KEY not in written
    assert KEY not in ''.join(capfd.readouterr())


def test_options_never_contain_the_key(served, monkeypatch):
    monkeypatch.setenv('MY_KEY', KEY)
    agent = make(served, **RERANKING, server_key_variable='MY_KEY')
    reply_to(agent, 'Hello?')
    assert served.headers[0]['Authorization'] == f'Bearer {KEY}'
    for opt in (agent.opt, agent.clone().opt):
        assert opt['server_key_variable'] == 'MY_KEY'
        assert KEY not in json.dumps(opt, default=str)


def test_training_a_server_agent_is_refused(served):
    agent = make(served)
    agent.observe(Message({'text': 'a', 'labels': ['b'], 'episode_done': True}))
    with pytest.raises(ConfigError, match='cannot be trained'):
        agent.act()


@pytest.mark.parametrize(
    'wrong, message',
    [
        ({'server_url': ''}, '--server-url http'),
        ({'server_model': ''}, '--server-model NAME'),
        ({'server_samples': 0}, '--server-samples is 0'),
        ({'server_samples': 10_000}, '--server-samples is 10000; it must be at'),
        ({'server_temperature': -1.0}, '--server-temperature'),
        ({'server_topp': 0.0}, '--server-topp'),
        ({'server_max_tokens': 0}, '--server-max-tokens'),
        ({'server_timeout': 0.0}, '--server-timeout'),
        ({'server_retries': -1}, '--server-retries'),
        ({'server_concurrency': 0}, '--server-concurrency'),
        ({'server_key_variable': 'UNSET_KEY'}, 'UNSET_KEY is not set'),
        ({'prompt_template': 'Be nice.'}, '{knowledge}'),
    ],
)
def test_a_wrong_option_says_what_is_right(served, wrong, message):
    with pytest.raises(ConfigError, match=message.replace('{', r'\{')):
        make(served, **wrong)


def test_a_key_in_place_of_its_variable_is_not_repeated(served):
    with pytest.raises(ConfigError, match='environment variable') as e:
        make(served, server_key_variable=KEY)
    assert KEY not in str(e.value)
