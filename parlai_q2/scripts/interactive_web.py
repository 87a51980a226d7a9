"""
``parlai_q2 interactive_web``: chat with a model in the browser, with evidence. It takes
the options of ParlAI's command of the same name, which it replaces in ``parlai_q2``.
"""

import traceback

import parlai.utils.logging as logging
from parlai.core.agents import Agent, create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

# ParlAI's own command is imported first, so that ours replaces it.
from parlai.scripts.interactive_web import SHARED, setup_interweb_args

from parlai_q2.agents.grounded_rerank.knowledge_source import read_typed
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.options import split_names
from parlai_q2.packages import check_package
from parlai_q2.report.entries import read_turn

DEFAULT_HOST = '127.0.0.1'


@register_script('interactive_web', aliases=['iweb'])
class InteractiveWebScript(ParlaiScript):
    """Chat in the browser, with the evidence of the reranking agent's replies."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        parser = setup_interweb_args(SHARED)
        parser.description = 'Interactive chat with a model in a browser, with evidence'
        parser.set_defaults(host=DEFAULT_HOST)
        parser.add_argument(
            '--allow-host',
            default='',
            help='with --host 0.0.0.0: comma-separated names of this machine that '
            'browsers may use; its addresses and its host name always work',
        )
        return parser

    def run(self) -> None:
        for package in ('starlette', 'uvicorn'):
            check_package(package, package, 'web', 'The chat in the browser')
        from parlai_q2.report.chat.server import PageServer

        # Reports a port that is in use before a model is loaded.
        allowed = split_names(self.opt.get('allow_host'))
        with PageServer(self.opt['host'], self.opt['port'], allowed) as server:

            def make_conversation() -> AgentConversation:
                agent = create_agent(self.opt, requireModelExists=True)
                if self.opt.get('verbose'):
                    agent.opt.log()
                if not server.private:
                    logging.warning(
                        'Anyone who has this address can read and write in this chat.'
                    )
                logging.info(f'Chat at {server.url} (Ctrl-C ends it)')
                return AgentConversation(agent)

            try:
                server.serve(make_conversation)
            except KeyboardInterrupt:
                logging.info('The chat has ended.')


class AgentConversation:
    """
    A person's conversation with an agent, as the chat's page shows it. The page's
    knowledge field and the command ``/knowledge`` set the same knowledge.
    """

    def __init__(self, agent: Agent):
        self.agent = agent
        self.turns: list[JsonObject] = []
        # The message and the reply of each turn.
        self._exchanges: list[tuple[str, JsonMapping]] = []

    @property
    def knowledge(self) -> str | None:
        """The knowledge that was typed; None if the agent takes none."""
        if not getattr(self.agent, 'reranks', False):
            return None
        typed_text: str | None = self.agent.knowledge.typed_text
        return typed_text

    def state(self) -> JsonObject:
        """
        The agent's name, the knowledge that was typed, whether turns can get more
        evidence than they come with, and all turns so far.
        """
        reranker = getattr(self.agent, 'reranker', None)
        return {
            'model': self.agent.id,
            'knowledge': self.knowledge,
            'explains': getattr(reranker, 'explainer', None) is not None,
            'turns': self.turns,
        }

    def interact(self, text: str, knowledge: str | None = None) -> JsonObject:
        """
        Send a message, perhaps with new knowledge for all further replies; return the
        new turn, the number of turns, and the typed knowledge. If this fails, the agent
        forgets the message.
        """
        if knowledge is not None and self.knowledge is not None:
            self.agent.knowledge.typed = read_typed(knowledge)
        parts = (getattr(self.agent, name, None) for name in ('history', 'knowledge'))
        memory = [vars(part) for part in parts if hasattr(part, '__dict__')]
        before = list(map(_copy_fields, memory))
        try:
            self.agent.observe(Message({'text': text, 'episode_done': False}))
            reply = self.agent.act()
            turn = read_turn(text, reply)
        except Exception:
            logging.error(traceback.format_exc())
            for fields, values in zip(memory, before, strict=True):
                fields.update(values)
            raise
        self.turns.append(turn)
        self._exchanges.append((text, reply))
        return {'turn': turn, 'number': len(self.turns), 'knowledge': self.knowledge}

    def evidence(self, number: int) -> JsonObject:
        """A turn, counted from 1, with its evidence, if the agent gives any."""
        text, reply = self._exchanges[number - 1]
        if getattr(self.agent, 'reranks', False):
            reply = self.agent.explained(reply)
            self._exchanges[number - 1] = text, reply
            self.turns[number - 1] = read_turn(text, reply)
        return self.turns[number - 1]

    def reset(self) -> None:
        """Start a new conversation without a trace of the last one."""
        self.agent.reset()
        self.turns, self._exchanges = [], []


def _copy_fields(fields: JsonMapping) -> JsonObject:
    # Lists grow in place.
    return {n: [*v] if isinstance(v, list) else v for n, v in fields.items()}
