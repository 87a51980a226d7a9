"""What the encoder reads: knowledge, dialogue, and what gives way when it is long."""

import shutil

import pytest

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.prompts import Prompt, fit
from tests.agents.hf_models import checkpoint, make_agent, tokenizer


def words(text):
    return len(text.split())


@pytest.fixture
def t5():
    return checkpoint('t5', 0)


@pytest.fixture
def bart():
    return checkpoint('bart', 0)


def read(agent, observation):
    """The text of what the encoder reads, without the end token."""
    return agent.dict.hf_tokenizer.decode(observation['text_vec'].tolist()[:-1])


# -- the template


@pytest.mark.parametrize(
    'template, text',
    [
        ('{text}', 'hi|how are you'),
        ('{knowledge} => {history}', 'K => hi|how are you'),
        ('k: {knowledge} t: {text}', 'k: K t: hi|how are you'),
        ('reply', 'respond: [0] hi [1] how are you knowledge: K'),
    ],
)
def test_a_template_is_filled(template, text):
    prompt = Prompt(template, delimiter='|')
    assert prompt.render(['hi', 'how are you'], 'K') == text


@pytest.mark.parametrize(
    'template',
    [
        '',
        'none',
        '{',
        '{other}',
        '{}',
        '{0}',
        '{text:d}',
        '{text:{knowledge.__class__}}',
        '{knowledge!s} {text}',
    ],
)
def test_a_template_without_known_fields_is_refused(template):
    with pytest.raises(ConfigError, match='--prompt-template'):
        Prompt(template)


# -- what is cut, in words as tokens; "respond: [0] ... knowledge:" are three


@pytest.mark.parametrize(
    'turns, knowledge, limit, text, knowledge_cut',
    [
        (['a b'], 'k l', None, 'respond: [0] a b knowledge: k l', False),
        (['a b'], 'k l', 7, 'respond: [0] a b knowledge: k l', False),
        # History gives way word by word, oldest first ...
        (['a b c d'], 'k l', 7, 'respond: [0] c d knowledge: k l', False),
        (['a b', 'c d'], 'k l', 8, 'respond: [0] c d knowledge: k l', False),
        # ... until it is gone; knowledge that fits alone is whole.
        (['a b c d'], 'k l m n', 6, 'respond:  knowledge: k l m n', False),
        # Knowledge too long for any room keeps its beginning, the newest turn its end.
        (['z', 'a b c'], 'k ' * 40, 9, 'respond: [0] c knowledge: k k k k k', True),
        ([], 'k ' * 40, 6, 'respond:  knowledge: k k k k', True),
        ([], '', 6, 'respond:  knowledge: ', False),
    ],
)
def test_history_is_cut_before_knowledge(turns, knowledge, limit, text, knowledge_cut):
    fitted = fit(Prompt('reply').render, turns, knowledge, words, limit)
    assert fitted.text == text
    assert fitted.knowledge_cut is knowledge_cut


# -- the agent


def test_the_default_prompt_of_other_models_is_parlais_history(t5):
    agent = make_agent(hf_model=t5)
    agent.observe({'text': 'hello', 'knowledge': 'the cat', 'episode_done': False})
    agent.self_observe({'text': 'i am fine'})
    observation = agent.observe({'text': 'what ?', 'episode_done': False})
    assert observation['full_text'] == 'hello\ni am fine\nwhat ?'
    assert read(agent, observation) == 'hello i am fine what ?'


WOW = '__knowledge__ the cat sat __endknowledge__\nhello there'


@pytest.mark.parametrize(
    'message, text',
    [
        # Wizard of Wikipedia with --prepend-gold-knowledge, with and without its field.
        ({'text': WOW, 'checked_sentence': 'the cat sat'}, 'the cat sat : hello there'),
        ({'text': WOW}, 'the cat sat : hello there'),
        # A task that writes the knowledge above the text.
        (
            {'text': 'the cat sat\nhello there', 'knowledge': 'the cat sat'},
            'the cat sat : hello there',
        ),
        # Somebody who says the very sentence said it.
        ({'text': 'the cat', 'knowledge': 'the cat'}, 'the cat : the cat'),
        ({'text': 'hello', 'checked_sentence': 'no_passages_used'}, ': hello'),
        ({'knowledge': 'the cat sat'}, 'the cat sat :'),
        ({'text': ''}, ':'),
    ],
)
def test_knowledge_stands_in_the_prompt_once(t5, message, text):
    agent = make_agent(hf_model=t5, prompt_template='{knowledge} : {history}')
    assert read(agent, agent.observe({**message, 'episode_done': True})) == text


def test_knowledge_in_the_text_of_earlier_turns_is_gone_too(t5):
    agent = make_agent(hf_model=t5, prompt_template='{knowledge} : {history}')
    for text, field in ((WOW, None), ('the mat\nwhat ?', 'the mat')):
        agent.observe({'text': text, 'knowledge': field, 'episode_done': False})
        agent.self_observe({'text': 'i am'})
    observation = agent.observe(
        {'text': 'name', 'knowledge': 'a dog', 'episode_done': False}
    )
    assert read(agent, observation) == 'a dog : hello there i am what ? i am name'


def test_knowledge_of_an_earlier_conversation_is_forgotten(t5):
    agent = make_agent(hf_model=t5, prompt_template='{knowledge} : {history}')
    agent.observe({'text': 'hello', 'knowledge': 'the cat', 'episode_done': True})
    agent.self_observe({'text': 'i am'})
    observation = agent.observe({'text': 'the cat\nwhat ?', 'episode_done': True})
    assert read(agent, observation) == ': the cat what ?'


def test_cut_knowledge_gets_a_warning(t5, monkeypatch):
    warnings = []
    monkeypatch.setattr(
        'parlai_q2.agents.hf_seq2seq.hf_seq2seq.warn_once', warnings.append
    )
    agent = make_agent(
        hf_model=t5, prompt_template='{knowledge} : {history}', text_truncate=10
    )
    message = {'text': 'one two three four five six', 'episode_done': True}
    observation = agent.observe({**message, 'knowledge': 'the cat sat on the mat ' * 9})
    assert read(agent, observation).startswith('the cat sat on the')
    assert read(agent, observation).endswith(': six')
    assert len(observation['text_vec']) == 10
    assert '--text-truncate 10' in warnings[0]


# -- the dictionary


def test_the_end_token_is_added_where_the_tokenizer_adds_none(t5, bart):
    ours = make_agent(hf_model=t5).dict
    assert ours.encode_text('the cat')[-1] == ours['</s>']
    ours = make_agent(hf_model=bart).dict
    names = [ours[i] for i in ours.encode_text('the cat')]
    assert names == ['<s>', 'the', 'cat', '</s>']
    assert ours.frame_label(ours.txt2vec('the cat')) == ours.encode_text('the cat')


def test_person_and_special_tokens_are_one_token_each(bart):
    agent = make_agent(hf_model=bart, person_tokens=True, special_tok_lst='__turn__')
    observation = agent.observe({'text': '__turn__ hello', 'episode_done': True})
    assert read(agent, observation) == '<s> __p1__ __turn__ hello'
    assert len(observation['text_vec']) == 5
    rows = agent.model.hf.get_input_embeddings().num_embeddings
    assert rows == len(agent.dict.hf_tokenizer) > agent.dict['__turn__']
    assert agent.dict.vec2txt(agent.dict.txt2vec('__turn__ cat')) == '__turn__ cat'


def test_a_tokenizer_without_padding_is_refused(t5, tmp_path):
    folder = shutil.copytree(t5, tmp_path / 't5')
    words = tokenizer('t5')
    words.pad_token = None
    words.save_pretrained(folder)
    with pytest.raises(ModelError, match='pad_token'):
        make_agent(hf_model=str(folder))
