"""Files from elsewhere are read as data: what is pickled in them runs nothing."""

import os
import pickle
import sys

import pytest
import torch
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils import logging

from parlai_q2.__main__ import execute
from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.parlai.generator import CandidateAgent
from parlai_q2.parlai.model_files import WeightsOnly, read_options, readable


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.fixture
def planted(tmp_path):
    """A model file with a pickled option file, and what its code would make."""
    marker = tmp_path / 'made'
    # The bytes that are not UTF-8 are what makes ParlAI unpickle.
    harm = pickle.dumps({'model': Payload(marker), 'z': b'\xff\xfe'}, 4)
    (tmp_path / 'm').write_bytes(b'')
    (tmp_path / 'm.opt').write_bytes(harm)
    return tmp_path / 'm', marker


@pytest.mark.parametrize(
    'words',
    [
        ['eval_model', '-t', 'integration_tests', '-mf', '{m}'],
        ['filter', '-t', 'integration_tests', '--outfile', 'o', '-o', '{m}.opt'],
    ],
)
def test_a_pickled_option_file_is_one_line_and_runs_nothing(
    planted, monkeypatch, capsys, words
):
    model, marker = planted
    monkeypatch.setattr(sys, 'argv', ['parlai_q2'])
    status = execute([word.format(m=model) for word in words])
    errors = capsys.readouterr().err
    assert not marker.exists()
    assert status == 2, errors
    assert 'Traceback' not in errors
    assert f'{model}.opt is not a JSON option file' in errors.splitlines()[-1]


def test_plain_parlai_reads_it_so_too_once_anything_of_ours_is_imported(planted):
    model, marker = planted
    with pytest.raises(ConfigError, match='can run any code'):
        Opt.load(f'{model}.opt')
    assert not marker.exists()


@pytest.mark.parametrize(
    'text', ['[]', '3', '{"a": ', '{"a": 1', 'null', '[' * 100_000, '']
)
def test_a_malformed_option_file_is_one_line_with_its_name(tmp_path, text):
    path = tmp_path / 'm.opt'
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_options(str(path))
    assert str(path) in str(error.value)
    assert '\n' not in str(error.value)


class Agent(WeightsOnly):
    def load_state_dict(self, state):
        self.state = state


def test_our_agents_load_weights_and_nothing_that_runs(tmp_path):
    marker, path = tmp_path / 'made', str(tmp_path / 'm')
    torch.save({'model': {'w': torch.ones(2)}, 'epochs': 3}, path)
    agent = Agent()
    assert agent.load(path)['epochs'] == 3
    assert agent.state['w'].tolist() == [1, 1]
    torch.save({'model': Payload(marker)}, path)
    with pytest.raises(ModelError, match='not a checkpoint of weights'):
        agent.load(path)
    assert not marker.exists()


class Loads(CandidateAgent):
    """A generator whose model is no model file."""

    def load(self, opt):
        return 'a model'


@pytest.mark.parametrize(
    'model, warns',
    [
        (f'{__name__}:Loads', []),
        (
            'parlai.agents.test_agents.unigram:UnigramAgent',
            ['model_file unset but model has a `load` function.'],
        ),
    ],
)
def test_a_missing_model_file_is_told_only_of_agents_that_need_one(
    model, warns, monkeypatch
):
    warnings = []
    monkeypatch.setattr(logging.logger, 'filters', [])
    # Whatever other tests made the level.
    monkeypatch.setattr(logging.logger, 'isEnabledFor', lambda level: True)
    monkeypatch.setattr(logging.logger, 'handle', lambda r: warnings.append(r))
    opt = ParlaiParser(True, True).parse_args(['-m', model])
    agent = create_agent(opt, requireModelExists=True)
    assert hasattr(agent, 'load')
    heard = [r.msg for r in warnings if logging.logger.filter(r)]
    assert [text for text in heard if 'model_file' in str(text)] == warns


def test_texts_are_mended_and_nothing_else_is_touched():
    sent = Message({'text': 'bees \ud83d!', 'knowledge': 'k', 'n': 1})
    read = readable(sent)
    assert read == {**sent, 'text': 'bees \ufffd!'}
    assert isinstance(read, Message)
    assert sent['text'] == 'bees \ud83d!'
