"""The agent of converted models, alone and reranked, on models made here."""

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.agents.ctranslate2 import ctranslate2
from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.generate.chat import USER
from parlai_q2.generate.generator import Generator
from parlai_q2.parlai.generator import CONTEXT
from tests.agents.hf_models import make_agent
from tests.agents.rerank_toys import AGENT as RERANKED
from tests.agents.rerank_toys import TASK, TOY, reply_to
from tests.generate.models import converted

ALONE = 'parlai_q2.agents.ctranslate2.ctranslate2:Ctranslate2Agent'
FAMILIES = {
    't5': {'prompt_template': '{history}'},
    'bart': {'prompt_template': '{history}'},
    'gpt2': {'prompt_template': '{history} assistant'},
    'llama': {'prompt_template': '{history}'},
}
RERANKING = {'model': RERANKED, 'generator': ALONE, 'choose': TOY, 'explain': 'none'}
STRATEGIES = 'beam:2,nucleus:3,delayedbeam:2/delay=2,topk:2,greedy'
GREETING, ANSWER = 'hello there !', 'hello i am fine .'


def make(family='t5', **extra):
    options = {'model': ALONE, 'model_path': str(converted(family))}
    options |= {'label_truncate': 12, **FAMILIES[family], **extra}
    options = {name: value for name, value in options.items() if value is not None}
    return make_agent(**options)


@pytest.mark.parametrize('family', ['t5', 'bart', 'gpt2'])
def test_alone_it_says_what_the_model_was_taught(family):
    [reply] = reply_to(make(family, inference='beam', beam_size=3), GREETING)
    assert reply['text'] == ANSWER
    [(text, score)] = reply['beam_texts']
    assert text == ANSWER
    assert -1 < score < 0


def test_a_beam_is_as_wide_as_it_is_told_to_be():
    for name in ('beam', 'delayedbeam'):
        assert (
            ctranslate2.strategy_from_opt({'inference': name, 'beam_size': 3}).beam == 3
        )


@pytest.mark.parametrize('family', FAMILIES)
def test_the_most_grounded_of_all_strategies_is_said(family):
    agent = make(family, **RERANKING, candidate_strategies=STRATEGIES)
    [reply] = reply_to(agent, GREETING, knowledge='the park is there .')
    rows = reply['rerank']
    strategies = {s for row in rows for s in row['strategies']}
    assert strategies == {'beam', 'nucleus', 'delayedbeam', 'topk', 'greedy'}
    assert len({' '.join(row['text'].split()) for row in rows}) == len(rows)
    best = max((row['score'] for row in rows if row['score'] is not None), default=0)
    assert reply['text'] == rows[0]['text']
    assert rows[0]['score'] in (best, None)


@pytest.mark.parametrize('family', ['bart', 'llama'])
def test_candidates_are_reproducible(family):
    texts = [GREETING, 'what is your name ?', 'the dog ran in the park', 'one two']

    def pools(texts, strategies, seed=0):
        options = {'candidate_strategies': strategies, 'candidate_seed': seed}
        agent = make(family, **RERANKING, **options, temperature=2.0)
        return [
            [(row['text'], row['generator_score']) for row in reply['rerank']]
            for reply in reply_to(agent, *texts)
        ]

    sampling = 'nucleus:6,topk:4,delayedbeam:4/delay=2'
    assert pools(texts, sampling) == pools(texts, sampling)
    assert pools(texts, sampling) != pools(texts, sampling, seed=7)
    # Beams do not depend on the batch, either.
    beams = pools(texts, 'beam:4,greedy')
    assert beams == pools(texts[::-1], 'beam:4,greedy')[::-1]
    assert beams == [pools([text], 'beam:4,greedy')[0] for text in texts]


@pytest.mark.parametrize('family', FAMILIES)
def test_replies_begin_with_given_words(family):
    generator = make(family).loaded
    contexts = [generator.context([(USER, GREETING)], '')[0]] * 3
    beginnings = ['the dog', 'hello i', 'the ' * 12]
    pools = generator.complete(contexts, beginnings, 2)
    assert [len(pool) for pool in pools] == [2, 2, 0]  # no room after the last
    for beginning, pool, context in zip(beginnings, pools, contexts, strict=True):
        for reply in pool:
            assert generator.text(reply.tokens, context).startswith(beginning)
            assert reply.logprob <= 0
            assert len(reply.tokens) <= 12
    assert generator.complete(contexts[:1], ['hello i'], 2) == pools[1:2]


def test_a_chat_template_gets_the_knowledge_and_who_said_what():
    agent = make('llama', prompt_template='know : {knowledge}')
    for text in (GREETING, 'what is your name ?'):
        observation = agent.observe(
            {'text': text, 'knowledge': 'the cat sat', 'episode_done': False}
        )
        reply_text = agent.act()['text']
    words = ' '.join(observation[CONTEXT])
    assert words.startswith('<|im_start|> system know : the cat sat <|im_end|>')
    assert words.endswith('user what is your name ? <|im_end|> <|im_start|> assistant')
    assert words.count('<|im_start|>') == 5
    assert 'hello there !' in words
    assert '<|im' not in reply_text


def test_the_oldest_turns_give_way_and_never_the_knowledge():
    knowledge = 'the cat sat on the mat .'
    template = '{knowledge} {history} assistant'
    agent = make('gpt2', prompt_template=template, text_truncate=90)
    for n in ('one', 'two', 'three', 'four'):
        text = ' '.join([n] * 25)
        observation = agent.observe(
            {'text': text, 'knowledge': knowledge, 'episode_done': False}
        )
        agent.act()
    context = observation[CONTEXT]
    # 96 positions, of which 12 are for the reply.
    assert len(context) <= 84
    assert ' '.join(context).startswith(knowledge)
    assert context.count('four') == 25
    assert 'one' not in context


def test_a_second_search_follows_if_few_candidates_are_distinct(monkeypatch):
    text_of = Generator.text
    monkeypatch.setattr(
        Generator, 'text', lambda *args: ' '.join(text_of(*args).split()[-2:])
    )
    agent = make(**RERANKING, candidate_strategies='beam:6')

    def candidates(times):
        monkeypatch.setattr(ctranslate2, 'SECOND_SEARCH', times)
        [reply] = reply_to(agent, GREETING, knowledge='the park is there .')
        return {row['text'] for row in reply['rerank']}

    once, twice = candidates(1), candidates(2)
    assert len(once) < 6
    assert len(once) < len(twice) <= 6


def test_replies_stop_where_they_are_told_to():
    [reply] = reply_to(make(stop=['am']), GREETING)
    assert reply['text'] == 'hello i'
    [reply] = reply_to(make(stop=['i am f']), GREETING)
    assert reply['text'] == 'hello'


def test_a_model_that_says_nothing_gets_the_answer_for_it_and_is_counted():
    agent = make(**RERANKING, stop=['hello i'], candidate_strategies='greedy')
    [reply] = reply_to(agent, GREETING)
    assert reply['text'] == "I'm not sure about that."
    assert reply['metrics']['rerank/empty'].value() == 1
    [alone] = reply_to(make(stop=['hello i'], inference='beam'), GREETING)
    assert alone['text'] == ''


@pytest.mark.parametrize('extra', [{}, {'dynamic_batching': 'full', 'truncate': 64}])
def test_batched_evaluation_runs(extra):
    options = {'task': TASK, 'batchsize': 4, 'datatype': 'valid', **extra}
    options |= {'model_path': str(converted('t5')), 'prompt_template': '{history}'}
    report = EvalModel.main(**options, **RERANKING, label_truncate=12)
    assert report['exs'].value() == 10
    assert report['rerank/distinct'].value() > 1


def test_further_searches_run_only_for_turns_in_doubt(monkeypatch):
    options = {'candidate_strategies': 'greedy,beam:5', 'guards': False}
    agent = make(**RERANKING, **options, candidates_until=0.75)
    pool_counts, rank_batch = [], agent.reranker.rank_batch

    def count_pools(pools, *others):
        pool_counts.append(len(pools))
        return rank_batch(pools, *others)

    monkeypatch.setattr(agent.reranker, 'rank_batch', count_pools)
    texts, answer = ('the dog ran in the park', 'one two'), 'the park is there .'
    sure, doubtful = reply_to(agent, *texts, knowledge=answer)
    assert pool_counts == [2, 1]
    assert sure['text'] == answer
    assert [row['strategies'] for row in sure['rerank']] == [['greedy']]
    [complete] = reply_to(make(**RERANKING, **options), texts[1], knowledge=answer)
    assert doubtful['rerank'] == complete['rerank']
    early = [reply['metrics']['rerank/early'].value() for reply in (sure, doubtful)]
    assert early == [1, 0]
    assert 'rerank/early' not in complete['metrics']


@pytest.mark.parametrize(
    'options, error, message',
    [
        ({'model_path': '/nowhere'}, ConfigError, 'ct2-transformers-converter'),
        ({'device': 'tpu'}, ConfigError, '--device'),
        ({'compute_type': 'int3'}, ConfigError, '--compute-type'),
        ({'temperature': 0.0}, ConfigError, '--temperature'),
        ({'topp': 1.5}, ConfigError, '--topp'),
        ({'topk': 0}, ConfigError, '--topk'),
        ({'beam_min_length': 30}, ConfigError, '--beam-min-length'),
        ({'prompt_template': '{nothing}'}, ConfigError, '--prompt-template'),
        ({'chat_template': '/nowhere'}, ConfigError, '--chat-template'),
    ],
)
def test_a_wrong_option_is_named(options, error, message):
    with pytest.raises(error, match=message):
        make(**options)


def test_a_chat_model_without_a_template_needs_one(tmp_path):
    with pytest.raises(ConfigError, match='--chat-template FILE'):
        make('gpt2', prompt_template=None)
    file = tmp_path / 'chat.jinja'
    file.write_text("{% for m in messages %}{{ m['content'] }} {% endfor %}assistant")
    agent = make('gpt2', prompt_template='{history}', chat_template=str(file))
    assert reply_to(agent, GREETING)[0]['text']
    for wrong, message in (
        ('{% for %}', 'TemplateSyntaxError'),
        ('', 'makes an empty text'),
        ('{{ messages[99].content.nothing }}', 'fails on a dialogue'),
        ("{{ ''.__class__.__mro__ }}", 'SecurityError'),
    ):
        file.write_text(wrong)
        with pytest.raises(ConfigError, match=message):
            make('gpt2', prompt_template='{history}', chat_template=str(file))


def test_a_damaged_model_is_refused(tmp_path):
    whole = converted('t5')
    for name in ('config.json', 'shared_vocabulary.json', 'tokenizer.json'):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    data = (whole / 'model.bin').read_bytes()
    for damaged in (b'', data[:100], data[: len(data) // 2], b'\xff' * 500):
        (tmp_path / 'model.bin').write_bytes(damaged)
        with pytest.raises(ModelError, match=r'cannot read .*model.bin'):
            make(model_path=str(tmp_path))
    (tmp_path / 'model.bin').write_bytes(data)
    (tmp_path / 'tokenizer.json').unlink()
    with pytest.raises(ModelError, match=r'has no tokenizer.json'):
        make(model_path=str(tmp_path))


def test_the_shipped_reply_model_is_the_default():
    agent = make_agent(model=ALONE)
    knowledge = 'A honeybee colony has a single queen and up to 60,000 workers.'
    [reply] = reply_to(agent, 'How many queens are there?', knowledge=knowledge)
    assert 'queen' in reply['text']
    assert len(reply['text'].split()) >= 4
