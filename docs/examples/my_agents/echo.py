"""A ParlAI agent whose model something else runs: ``-m my_agents.echo:EchoAgent``."""

from parlai_q2 import Candidate
from parlai_q2.parlai.generator import CandidateAgent


class EchoAgent(CandidateAgent):
    """Replies with the last turn or the knowledge."""

    def load(self, opt):
        return None  # what all clones share, such as a model

    def read(self, dialogue, knowledge):
        # dialogue: pairs of role and text, oldest first
        return [dialogue[-1][1], knowledge]

    def find(self, contexts, searches):
        # searches: whether to find one reply or all, for each context
        return [
            [Candidate(text, ('echo',), source=(text, 0.0)) for text in context]
            for context in contexts
        ]
