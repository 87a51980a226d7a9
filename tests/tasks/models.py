"""Small ParlAI agents, each with one habit that a teacher must cope with."""

from parlai.core.agents import Agent
from parlai.core.message import Message


class EchoAgent(Agent):
    """Says the label, in batches; has what dynamic batching sorts by."""

    @classmethod
    def add_cmdline_args(cls, parser, partial_opt=None):
        parser.add_argument('--truncate', type=int, default=64)
        return parser

    def __init__(self, opt, shared=None):
        super().__init__(opt, shared)
        self.id = 'Echo'

    def observe(self, observation):
        observation = Message(observation)
        if observation.get('text'):
            observation.force_set('text_vec', observation['text'].split())
        self.observation = observation
        return observation

    def act(self):
        return self.batch_act([self.observation])[0]

    def batch_act(self, observations):
        return [self.reply(o) for o in observations]

    def reply(self, observation):
        reply = Message({'id': self.id, 'episode_done': False})
        if observation.get('eval_labels'):
            reply['text'] = observation['eval_labels'][0]
        return reply

    def self_observe(self, observation):
        pass


class PlainDictAgent(EchoAgent):
    """Sends a plain dict where ParlAI has its Message."""

    def reply(self, observation):
        return dict(super().reply(observation))


class SilentAgent(EchoAgent):
    """Gives no text, as a generator does with ``--skip-generation true``."""

    def reply(self, observation):
        return Message({'id': self.id, 'episode_done': False})


class OftenSilentAgent(EchoAgent):
    """Gives no text to short messages, and empty text to those with "?"."""

    def reply(self, observation):
        reply = super().reply(observation)
        if 'text' in reply and '?' in observation['text']:
            reply.force_set('text', '')
        elif len(observation.get('text', '')) < 30:
            reply.pop('text', None)
        return reply


class KnowledgeAgent(EchoAgent):
    """Says its knowledge; without any, that it does not know."""

    def reply(self, observation):
        reply_text = observation.get('checked_sentence') or 'hm .'
        return Message({'id': self.id, 'text': reply_text, 'episode_done': False})
